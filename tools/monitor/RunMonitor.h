//===- RunMonitor.h - A training run's page ---------------------*- C++ -*-===//
//
// Listens to a session, and acts for the page between two iterations. What it
// keeps is bounded, and the run waits for nobody.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/monitor/DrawingClassifier.h"
#include "tools/monitor/Curves.h"
#include "tools/monitor/TrainingThreadQueue.h"
#include "tools/monitor/ReinforcementView.h"
#include "tools/monitor/Server.h"
#include "tools/monitor/StepTimes.h"
#include "tools/monitor/UpdateRatios.h"

#include <brew/brew.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace brew::monitor {

struct MonitorOptions {
  Endpoint endpoint;
  std::string net;          ///< plan of a DrawingClassifier; "": none
  double scale = 1.0 / 256; ///< of its pixels
};

class RunMonitor : public RequestHandler {
public:
  /// Begins to listen to the session, before its trainer is opened. `ranks`:
  /// how many train together; of several, pages can only stop and ask for
  /// snapshots. Throws as DrawingClassifier does.
  RunMonitor(const api::Plan &plan, api::Session &session,
             MonitorOptions options, int ranks);
  ~RunMonitor() override;

  /// Begins to serve the page; returns its address. The trainer outlives the
  /// monitor. Throws Error (3) if the endpoint cannot be listened on.
  std::string start(api::Trainer &trainer);
  /// On the training thread, from the trainer's action source.
  void poll();

  /// Before start(): a learner will train in the environment of that name, for
  /// so many episodes (0: no limit).
  void expectReinforcement(const std::string &environment, std::int64_t episodes);
  /// After each episode, on the thread that learns.
  void onEpisode(double reward, const brew_learning_progress &progress);
  /// Each step of the environment that is to be seen, on whichever thread plays
  /// there; after expectReinforcement().
  void onStep(const brew_scene &scene) { learning->onStep(scene); }
  /// The learner has trained.
  void onReinforcementDone();

  nlohmann::json get(const std::string &name, const Query &query) override;
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;
  Broadcast *events() override { return &broadcast; }

private:
  void onEvent(const brew_event &event);
  void onIteration(const brew_event &event);
  void addOutputs(const brew_event &event, const std::string &prefix,
                   bool losses, nlohmann::json *sentValues);
  void onReset(int iteration);
  void measureSpeed(int iteration);
  double itemsPerSecond() const;
  std::string itemsName() const;
  void sendIteration(bool always);
  void send(const nlohmann::json &message);
  void addPoint(const std::string &curve, double iteration, double value);
  void addLogLine(const std::string &line);
  nlohmann::json state();
  nlohmann::json progress() const;
  nlohmann::json fields() const;
  nlohmann::json tensor(brew_tensor_kind kind, const Query &query);
  nlohmann::json classify(const nlohmann::json &body);
  void listTensors();

  const api::Plan &plan;
  api::Session &session;
  api::Trainer *trainer = nullptr;
  const MonitorOptions options;
  const bool alone;
  int listener = -1;
  int program;
  double itemsPerIteration = 0;
  nlohmann::json graph;
  std::vector<api::TensorName> parameters, blobs; ///< that can be read

  Broadcast broadcast{1024};
  TrainingThreadQueue queue;
  UpdateRatios updates;
  std::unique_ptr<StepTimes> times;
  std::unique_ptr<DrawingClassifier> classifier;
  std::atomic<bool> stepping{false}; ///< a single step was asked for
  int stepEnd = -1; ///< of the training thread: pause when it is reached

  mutable std::mutex mutex;               ///< of what follows
  std::unique_ptr<ReinforcementView> learning; ///< null: training on data
  std::int64_t speedBeginSteps = 0;       ///< then, of environments
  nlohmann::json unsentPoints = nlohmann::json::object(); ///< of its curves
  Curves curves;
  std::deque<std::string> lines;
  int iteration = 0, maxIteration = 0;
  double loss = 0, smoothedLoss = 0, learningRate = 0;
  double iterationsPerSecond = 0, stepsPerSecond = 0;
  long long waits = 0;
  double secondsWaiting = 0;
  bool paused = false, finished = false;
  TrainingThreadQueue::Clock::time_point lastSent, speedBegin;
  int speedBeginIteration = -1;
  bool unsent = false; ///< an iteration that was not sent

  std::unique_ptr<Server> server; ///< the last: its threads end first
};

} // namespace brew::monitor
