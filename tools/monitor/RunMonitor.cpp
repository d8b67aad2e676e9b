//===- RunMonitor.cpp - Page of a training run ----------------------------===//

#include "tools/monitor/RunMonitor.h"

#include "tools/monitor/NetGraph.h"
#include "tools/monitor/TensorViews.h"

#include <cstdio>
#include <map>
#include <utility>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

/// Minimum time between two progress messages: fast nets have thousands of
/// iterations per second.
constexpr std::chrono::milliseconds kSendInterval(50);
/// Minimum time over which the speed is averaged.
constexpr std::chrono::milliseconds kSpeedInterval(500);
constexpr std::size_t kMaxLines = 300, kMaxLineLength = 2000;
/// Maximum number of values that are copied for display.
constexpr std::int64_t kMaxValues = 32 << 20;

std::string formatNumber(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string dumped(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char *kindName(brew_option_kind kind) {
  switch (kind) {
  case BREW_OPTION_REAL:
    return "real";
  case BREW_OPTION_INTEGER:
    return "integer";
  case BREW_OPTION_FLAG:
    return "boolean";
  case BREW_OPTION_INTEGERS:
    return "integers";
  default:
    return "text";
  }
}

} // namespace

RunMonitor::RunMonitor(const api::Plan &plan, api::Session &session,
                       MonitorOptions monitorOptions, int ranks)
    : plan(plan), session(session), options(std::move(monitorOptions)),
      isSingleRank(ranks == 1), program(plan.program("forward_backward")) {
  graph = netGraphOf(Json::parse(plan.describe()), "forward_backward");
  times = std::make_unique<StepTimes>(graph);
  if (session.inputs(program))
    if (const brew_input input = session.input(program, 0); input.ndim)
      itemsPerIteration = static_cast<double>(input.dims[0]) * ranks;
  if (!options.net.empty())
    classifier = std::make_unique<DrawingClassifier>(options.net, options.scale,
                                                     session);
  listener =
      session.addListener([this](const brew_event &event) { onEvent(event); });
}

RunMonitor::~RunMonitor() {
  queue.close();
  server.reset();
  session.removeListener(listener);
}

const Server &RunMonitor::start(api::Trainer &newTrainer) {
  trainer = &newTrainer;
  {
    std::lock_guard<std::mutex> lock(mutex);
    iteration = newTrainer.iteration();
    learningRate = newTrainer.learningRate();
    maxIteration = std::atoi(newTrainer.field("max_iter").c_str());
  }
  listTensors();
  server = std::make_unique<Server>(options.endpoint, *this);
  return *server;
}

void RunMonitor::listTensors() {
  parameters = session.names(BREW_PARAMETER);
  for (const api::TensorName &name : session.names(BREW_BLOB, program)) {
    try {
      if (session.find(name).count > 1)
        blobs.push_back(name);
    } catch (const api::Error &) {
      // The blob is not pinned.
    }
  }
}

void RunMonitor::poll() {
  const int now = trainer->iteration();
  bool isPaused;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isPaused = paused;
  }
  if (stepRequested.exchange(false)) {
    stepEnd = now + 1;
    trainer->resume();
  }
  if (stepEnd >= 0 && now >= stepEnd) {
    stepEnd = -1;
    trainer->pause();
  }
  if (!isPaused && times->isDue())
    trainer->requestStepTimes();
  const TrainingThreadQueue::Clock::time_point begin =
      TrainingThreadQueue::Clock::now();
  if (updates.poll(session, now, queue.mayRead(isPaused)))
    queue.addReadCost(TrainingThreadQueue::Clock::now() - begin);
  queue.work(isPaused);
}

//===----------------------------------------------------------------------===//
// Reinforcement learning
//===----------------------------------------------------------------------===//

void RunMonitor::expectReinforcement(const std::string &environment,
                                     std::int64_t episodes) {
  std::lock_guard<std::mutex> lock(mutex);
  learning =
      std::make_unique<ReinforcementView>(broadcast, environment, episodes);
}

void RunMonitor::onEpisode(double reward,
                           const brew_learning_progress &progress) {
  std::lock_guard<std::mutex> lock(mutex);
  learning->add(reward, progress);
}

//===----------------------------------------------------------------------===//
// Events of the session
//===----------------------------------------------------------------------===//

void RunMonitor::send(const Json &message) { broadcast.send(dumped(message)); }

void RunMonitor::addPoint(const std::string &curve, double x, double value) {
  curves.add(curve, x, value);
}

void RunMonitor::addLogLine(const std::string &text) {
  const std::string line = text.substr(0, kMaxLineLength);
  lines.push_back(line);
  if (lines.size() > kMaxLines)
    lines.pop_front();
  send({{"type", "log"}, {"text", line}});
}

Json RunMonitor::progress() const {
  return {{"iteration", iteration},
          {"max_iteration", maxIteration},
          {"loss", loss},
          {"smoothed_loss", smoothedLoss},
          {"lr", learningRate},
          {"items_per_second", itemsPerSecond()},
          {"iterations_per_second", iterationsPerSecond},
          {"waits", waits},
          {"seconds_waiting", secondsWaiting},
          {"paused", paused},
          {"finished", finished},
          {"learning", learning ? learning->progress() : Json()}};
}

/// Reinforcement learning counts steps: their number per iteration varies.
std::string RunMonitor::itemsName() const {
  return learning ? "steps/s" : itemsPerIteration ? "images/s" : "iterations/s";
}

double RunMonitor::itemsPerSecond() const {
  if (learning)
    return stepsPerSecond;
  return iterationsPerSecond * (itemsPerIteration ? itemsPerIteration : 1);
}

void RunMonitor::sendIteration(bool always) {
  const TrainingThreadQueue::Clock::time_point now =
      TrainingThreadQueue::Clock::now();
  if (!always && now - lastSent < kSendInterval)
    return;
  lastSent = now;
  Json message = progress();
  message["type"] = "progress";
  message["points"] = std::exchange(unsentPoints, Json::object());
  send(message);
}

void RunMonitor::measureSpeed(int now) {
  const TrainingThreadQueue::Clock::time_point time =
      TrainingThreadQueue::Clock::now();
  const double seconds =
      std::chrono::duration<double>(time - speedBegin).count();
  if (speedBeginIteration >= 0 && time - speedBegin < kSpeedInterval)
    return;
  if (speedBeginIteration >= 0) {
    iterationsPerSecond = (now - speedBeginIteration) / seconds;
    if (learning)
      stepsPerSecond =
          static_cast<double>(learning->steps() - speedBeginSteps) / seconds;
    addPoint(itemsName(), now, itemsPerSecond());
  }
  speedBegin = time;
  speedBeginSteps = learning ? learning->steps() : 0;
  speedBeginIteration = now;
}

void RunMonitor::onIteration(const brew_event &event) {
  iteration = event.iteration + 1;
  loss = event.loss;
  smoothedLoss = event.smoothed_loss;
  learningRate = event.learning_rate;
  addPoint("train.loss", event.iteration, event.loss);
  addPoint("learning rate", event.iteration, event.learning_rate);
  if (learning)
    for (const auto &[curve, value] : learning->takePoints()) {
      addPoint(curve, event.iteration, value);
      unsentPoints[curve] = value;
    }
  measureSpeed(iteration);
  sendIteration(/*always=*/false);
}

/// Discards all measurements: they belong to the run before the reset.
void RunMonitor::onReset(int startIteration) {
  curves = Curves();
  unsentPoints = Json::object();
  if (learning)
    learning->reset();
  iteration = startIteration;
  loss = smoothedLoss = 0;
  speedBeginIteration = -1;
  stepEnd = -1;
  send({{"type", "reset"}});
  sendIteration(/*always=*/true);
  addLogLine("Restarted at iteration " + std::to_string(startIteration));
}

/// Adds the outputs of one element to their curves; larger outputs have no
/// curve.
void RunMonitor::addOutputs(const brew_event &event, const std::string &prefix,
                            bool withLosses, Json *sentValues) {
  std::map<std::string, int> elementCounts;
  for (std::size_t i = 0; i < event.output_count; ++i)
    ++elementCounts[event.outputs[i].blob];
  for (std::size_t i = 0; i < event.output_count; ++i) {
    const brew_output_value &output = event.outputs[i];
    if (elementCounts[output.blob] > 1 ||
        (output.loss_weight != 0 && !withLosses))
      continue;
    addPoint(prefix + output.blob, event.iteration, output.value);
    if (sentValues)
      (*sentValues)[prefix + output.blob] = output.value;
  }
}

void RunMonitor::onEvent(const brew_event &event) {
  std::lock_guard<std::mutex> lock(mutex);
  const std::string iterationText = std::to_string(event.iteration);
  switch (event.kind) {
  case BREW_EVENT_ITERATION:
    return onIteration(event);
  case BREW_EVENT_LOG:
    return addLogLine(event.text);
  case BREW_EVENT_DISPLAY:
    return addOutputs(event, "train.", /*withLosses=*/false, nullptr);
  case BREW_EVENT_THROUGHPUT:
    waits = event.number;
    return;
  case BREW_EVENT_DATA_STALL:
    secondsWaiting = event.seconds;
    return addLogLine("Layer '" + std::string(event.name) +
                      "' kept training waiting " +
                      std::to_string(event.number) + " times, " +
                      formatNumber(event.seconds) + " s");
  case BREW_EVENT_TEST_BEGIN:
    speedBeginIteration = -1; // exclude the time of the test
    return;
  case BREW_EVENT_TEST_DONE: {
    const std::string prefix =
        event.net ? "test" + std::to_string(event.net) + "." : "test.";
    Json values = Json::object();
    addOutputs(event, prefix, /*withLosses=*/true, &values);
    std::string text;
    for (const auto &[name, value] : values.items())
      text += (text.empty() ? "" : ", ") + name + " = " +
              formatNumber(value.get<double>());
    send(
        {{"type", "test"}, {"iteration", event.iteration}, {"values", values}});
    speedBeginIteration = -1;
    return addLogLine("Test after " + iterationText + " iterations: " + text);
  }
  case BREW_EVENT_SNAPSHOT:
    return addLogLine("Snapshot of iteration " + iterationText + ": " +
                      event.file);
  case BREW_EVENT_PAUSED:
    paused = true;
    sendIteration(/*always=*/true);
    return addLogLine("Paused after iteration " + iterationText);
  case BREW_EVENT_RESUMED:
    paused = false;
    speedBeginIteration = -1;
    sendIteration(/*always=*/true);
    return addLogLine("Resumed after iteration " + iterationText);
  case BREW_EVENT_FIELD_SET:
    if (std::string(event.name) == "max_iter")
      maxIteration = std::atoi(event.text);
    send({{"type", "field"}, {"name", event.name}, {"value", event.text}});
    return addLogLine("From iteration " + iterationText + " on, " + event.name +
                      ": " + event.text);
  case BREW_EVENT_PARAMETERS_CHANGED:
    return event.flag ? void()
                      : addLogLine("After iteration " + iterationText + ": " +
                                   event.text);
  case BREW_EVENT_RESET:
    return onReset(event.iteration);
  case BREW_EVENT_STEP_TIMES:
    return times->store(event.iteration, event.step_seconds, event.step_count);
  case BREW_EVENT_STOPPED_BY_RULE:
    return addLogLine("Stopped after iteration " + iterationText + ": " +
                      event.text);
  case BREW_EVENT_SOLVING_DONE:
    finished = true;
    sendIteration(/*always=*/true);
    return addLogLine(event.flag ? "Stopped by request after iteration " +
                                       iterationText
                                 : "Done after iteration " + iterationText);
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Requests of the page
//===----------------------------------------------------------------------===//

Json RunMonitor::fields() const {
  Json result = Json::array();
  for (const api::Option &option : api::options())
    if (option.whileTraining)
      result.push_back({{"name", *option.field},
                        {"value", trainer->field(*option.field)},
                        {"kind", kindName(option.kind)},
                        {"help", option.help}});
  return result;
}

Json RunMonitor::state() {
  auto namesToJson = [](const std::vector<api::TensorName> &names) {
    Json result = Json::array();
    for (const api::TensorName &name : names)
      result.push_back({{"name", name.name}, {"index", name.index}});
    return result;
  };
  const brew_plan_info info = plan.info();
  Json result;
  Curves copy;
  {
    std::lock_guard<std::mutex> lock(mutex);
    result = progress();
    result["log"] = lines;
    copy = curves; // convert it outside the lock, so that the run does not wait
  }
  result["kind"] = "run";
  result["net"] = info.net;
  result["device"] = session.device();
  result["curves"] = copy.json();
  result["fields"] = fields();
  result["graph"] = graph;
  result["controls"] = isSingleRank;
  result["items"] = itemsName();
  result["parameters"] = namesToJson(parameters);
  result["blobs"] = namesToJson(blobs);
  result["draw"] = classifier ? classifier->inputShape() : Json();
  result["played"] = learning ? learning->lastEpisode() : Json();
  return result;
}

/// Returns the tensor that the query names. Only the copy of its values
/// runs on the training thread.
Json RunMonitor::tensor(brew_tensor_kind kind, const Query &query) {
  const auto name = query.find("name"), index = query.find("index");
  for (const api::TensorName &tensorName :
       kind == BREW_PARAMETER ? parameters : blobs) {
    if (name == query.end() || tensorName.name != name->second ||
        (index != query.end() &&
         std::to_string(tensorName.index) != index->second))
      continue;
    struct Copy {
      brew_tensor tensor;
      std::vector<float> values;
    };
    auto copy = std::make_shared<Copy>();
    queue.run(TrainingThreadQueue::Kind::Read, [this, tensorName, copy] {
      copy->tensor = session.find(tensorName);
      if (copy->tensor.count > kMaxValues)
        throw HttpError(413, "the tensor is too large to display");
      copy->values = session.read(tensorName);
      return Json();
    });
    const brew_tensor &tensor = copy->tensor;
    std::vector<std::int64_t> shape(tensor.shape,
                                    tensor.shape + tensor.shape_ndim);
    const Json histogram = histogramOf(copy->values);
    if (kind == BREW_BLOB && shape.size() == 4 && shape[0]) {
      // Show the maps of the first item of the batch.
      copy->values.resize(copy->values.size() /
                          static_cast<std::size_t>(shape[0]));
      shape = {shape[1], 1, shape[2], shape[3]};
    }
    return {{"shape", std::vector<std::int64_t>(
                          tensor.shape, tensor.shape + tensor.shape_ndim)},
            {"histogram", histogram},
            {"images", imagesOf(copy->values, shape)}};
  }
  throw HttpError(404, "there is no such tensor");
}

Json RunMonitor::get(const std::string &name, const Query &query) {
  if (name == "state")
    return state();
  if (name == "parameter")
    return tensor(BREW_PARAMETER, query);
  if (name == "blob")
    return tensor(BREW_BLOB, query);
  if (name == "updates") {
    updates.request();
    return updates.last();
  }
  if (name == "times") {
    times->request();
    return times->last();
  }
  throw HttpError(404, "there is no '" + name + "'");
}

Json RunMonitor::classify(const Json &body) {
  if (!classifier)
    throw HttpError(404, "the run has no net to classify with (--monitor-net)");
  const auto pixels = body.at("pixels").get<std::vector<float>>();
  auto netParameters =
      std::make_shared<std::vector<DrawingClassifier::Parameter>>();
  queue.run(TrainingThreadQueue::Kind::Control, [this, netParameters] {
    *netParameters = classifier->parametersOf(session);
    return Json();
  });
  return classifier->classify(pixels, *netParameters);
}

/// Adds a hook that changes a parameter once, after the next iteration.
Json RunMonitor::changeParameter(const Json &body) {
  const auto action = body.at("action").get<std::string>();
  const bool scales = action == "scale";
  if (!scales && action != "freeze" && action != "unfreeze" &&
      action != "reinitialise")
    throw HttpError(400, "there is no change '" + action + "'");
  // Only parameters that the page shows: the text becomes a hook's line.
  const api::TensorName *parameter = nullptr;
  for (const api::TensorName &candidate : parameters)
    if (candidate.name == body.at("name").get<std::string>() &&
        candidate.index == body.at("index").get<int>())
      parameter = &candidate;
  if (!parameter)
    throw HttpError(404, "there is no such parameter");
  std::string text = action + " \"" + parameter->name + "." +
                     std::to_string(parameter->index) + "\"";
  if (scales)
    text += " by " + Json(body.at("factor").get<double>()).dump();
  return queue.run(TrainingThreadQueue::Kind::Control, [this, text] {
    trainer->addHook("after " + std::to_string(trainer->iteration() + 1) +
                     " iterations do " + text);
    return Json::object();
  });
}

Json RunMonitor::post(const std::string &name, const Json &body) {
  if (name == "classify")
    return classify(body);
  if (name == "snapshot") {
    trainer->requestSnapshot();
  } else if (name == "stop") {
    // The solver may write a snapshot at its end anyway.
    if (trainer->field("snapshot_after_train") != "true")
      trainer->requestSnapshot();
    trainer->stop();
  } else if (name != "pause" && name != "resume" && name != "step" &&
             name != "set" && name != "change" && name != "reset") {
    throw HttpError(404, "there is no '" + name + "'");
  } else if (!isSingleRank) {
    throw HttpError(409,
                    "with several ranks, the page can only stop the run and "
                    "request snapshots");
  } else if (name == "change") {
    return changeParameter(body);
  } else if (name == "pause") {
    trainer->pause();
  } else if (name == "resume") {
    trainer->resume();
  } else if (name == "step") {
    stepRequested = true;
  } else if (name == "reset") {
    trainer->reset();
  } else {
    trainer->setField(body.at("name").get<std::string>(),
                      body.at("value").get<std::string>());
  }
  return Json::object();
}

} // namespace brew::monitor
