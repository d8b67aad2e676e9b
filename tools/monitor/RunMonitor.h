//===- RunMonitor.h - Page of a training run --------------------*- C++ -*-===//
//
// Listens to a session and executes the page's requests between two iterations.
// Its memory is bounded, and the run never waits for a page.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/monitor/Curves.h"
#include "tools/monitor/DrawingClassifier.h"
#include "tools/monitor/ReinforcementView.h"
#include "tools/monitor/Server.h"
#include "tools/monitor/StepTimes.h"
#include "tools/monitor/TrainingThreadQueue.h"
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
  std::string net; ///< plan of the DrawingClassifier; "": no classifier
  double scale = 1.0 / 256; ///< factor of the net's pixels (0 to 255)
};

/// The page of a training run.
class RunMonitor : public RequestHandler {
public:
  /// Starts to listen to the session; construct it before the trainer. `ranks`:
  /// the number of ranks; with several, pages can only stop the run and request
  /// snapshots. Throws the errors of DrawingClassifier's constructor.
  RunMonitor(const api::Plan &plan, api::Session &session,
             MonitorOptions options, int ranks);
  ~RunMonitor() override;

  /// Starts to serve the page. The trainer must outlive the monitor. Throws the
  /// errors of Server's constructor.
  const Server &start(api::Trainer &trainer);
  /// Processes requests. Call it on the training thread, from the trainer's
  /// action function.
  void poll();

  /// Announces reinforcement learning in the environment of that name for
  /// `episodes` (0: no limit). Call it before start().
  void expectReinforcement(const std::string &environment,
                           std::int64_t episodes);
  /// Handles the end of an episode. Training thread only.
  void onEpisode(double reward, const brew_learning_progress &progress);
  /// Handles a step of the displayed environment, on the thread that plays
  /// there. Call it only after expectReinforcement().
  void onStep(const brew_scene &scene) { learning->onStep(scene); }

  nlohmann::json get(const std::string &name, const Query &query) override;
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;
  Broadcast *events() override { return &broadcast; }

private:
  void onEvent(const brew_event &event);
  void onIteration(const brew_event &event);
  void addOutputs(const brew_event &event, const std::string &prefix,
                  bool withLosses, nlohmann::json *sentValues);
  void onReset(int iteration);
  void measureSpeed(int iteration);
  double itemsPerSecond() const;
  std::string itemsName() const;
  void sendIteration(bool always);
  void send(const nlohmann::json &message);
  void addPoint(const std::string &curve, double x, double value);
  void addLogLine(const std::string &line);
  nlohmann::json state();
  nlohmann::json progress() const;
  nlohmann::json fields() const;
  nlohmann::json tensor(brew_tensor_kind kind, const Query &query);
  nlohmann::json classify(const nlohmann::json &body);
  nlohmann::json changeParameter(const nlohmann::json &body);
  void listTensors();

  const api::Plan &plan;
  api::Session &session;
  api::Trainer *trainer = nullptr;
  const MonitorOptions options;
  const bool isSingleRank;
  int listener = -1;
  int program;
  double itemsPerIteration = 0;
  nlohmann::json graph;
  std::vector<api::TensorName> parameters, blobs; ///< readable tensors

  Broadcast broadcast{1024};
  TrainingThreadQueue queue;
  UpdateRatios updates;
  std::unique_ptr<StepTimes> times;
  std::unique_ptr<DrawingClassifier> classifier;
  std::atomic<bool> stepRequested{false}; ///< by the page
  int stepEnd = -1; ///< iteration to pause at; training thread only

  mutable std::mutex mutex;                    ///< guards the members below
  std::unique_ptr<ReinforcementView> learning; ///< null: training on data
  std::int64_t speedBeginSteps = 0; ///< environment steps at speedBegin
  nlohmann::json unsentPoints = nlohmann::json::object(); ///< of `learning`
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

  std::unique_ptr<Server> server; ///< last member: its threads end first
};

} // namespace brew::monitor
