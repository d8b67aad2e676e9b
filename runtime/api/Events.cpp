//===- Events.cpp - C API: events -----------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/train/metrics/EpisodeMetrics.h"

#include <limits>

using namespace brew;
using namespace brew::api;
using namespace brew::runtime;

namespace {

/// Converts events to the API's structure, and owns the memory that its
/// pointers refer to.
struct EventConverter {
  brew_event out{};
  std::vector<brew_output_value> views;
  std::string textStorage;
  std::vector<OutputValue> outputStorage;

  void setKind(brew_event_kind kind, int iteration = 0) {
    out.kind = kind;
    out.iteration = iteration;
  }
  void setOutputs(const std::vector<OutputValue> &values) {
    views = viewsOf(values);
    out.output_count = views.size();
    out.outputs = views.data();
  }

  void operator()(const event::LogLine &event) {
    setKind(BREW_EVENT_LOG);
    out.severity = static_cast<brew_log_severity>(event.severity);
    out.site_file = event.site.file;
    out.site_line = event.site.line;
    out.text = event.text.c_str();
  }
  void operator()(const event::SolverSetUp &event) {
    setKind(BREW_EVENT_SOLVER_SET_UP);
    textStorage = event.solver->DebugString();
    out.text = textStorage.c_str();
  }
  void operator()(const event::NetSetUp &event) {
    setKind(BREW_EVENT_NET_SET_UP);
    out.name = event.program->name().c_str();
    out.net = event.testNet;
  }
  void operator()(const event::SeedChosen &event) {
    setKind(BREW_EVENT_SEED);
    out.number = static_cast<std::int64_t>(event.seed);
  }
  void operator()(const event::SolverReady &) {
    setKind(BREW_EVENT_SOLVER_READY);
  }
  void operator()(const event::WeightsLoading &event) {
    setKind(BREW_EVENT_WEIGHTS_LOADING);
    out.file = event.file.c_str();
    out.flag = event.training;
  }
  void operator()(const event::SnapshotLoading &event) {
    setKind(BREW_EVENT_SNAPSHOT_LOADING);
    out.file = event.file.c_str();
    out.flag = event.history;
  }
  void operator()(const event::SolvingBegin &event) {
    setKind(BREW_EVENT_SOLVING_BEGIN, event.iteration);
    out.name = event.net.c_str();
    out.text = event.learningRatePolicy.c_str();
    out.max_iteration = event.maxIteration;
  }
  void operator()(const event::IterationDone &event) {
    setKind(BREW_EVENT_ITERATION, event.iteration);
    out.loss = event.loss;
    out.smoothed_loss = event.smoothedLoss;
    out.learning_rate = event.learningRate;
    out.seconds = event.seconds;
  }
  void operator()(const event::Display &event) {
    setKind(BREW_EVENT_DISPLAY, event.iteration);
    out.smoothed_loss = event.smoothedLoss;
    out.seconds = event.seconds;
    out.rate = event.iterationsPerSecond;
    out.number = event.interval;
    setOutputs(event.outputs);
  }
  void operator()(const event::LearningRateSet &event) {
    setKind(BREW_EVENT_LEARNING_RATE, event.iteration);
    out.learning_rate = event.learningRate;
    out.flag = event.displayed;
    out.number = event.newStep ? *event.newStep : -1;
  }
  void operator()(const event::GradientsClipped &event) {
    setKind(BREW_EVENT_GRADIENTS_CLIPPED, event.iteration);
    out.norm = event.norm;
    out.limit = event.limit;
    out.factor = event.factor;
  }
  void operator()(const event::Progress &event) {
    setKind(BREW_EVENT_PROGRESS, event.iteration);
    out.max_iteration = event.maxIteration;
    out.smoothed_loss = event.smoothedLoss;
    out.seconds = event.seconds;
    out.number = event.iterations;
    out.flag = event.last;
  }
  void operator()(const event::TestBegin &event) {
    setKind(BREW_EVENT_TEST_BEGIN, event.iteration);
    out.net = event.net;
  }
  void operator()(const event::TestDone &event) {
    setKind(BREW_EVENT_TEST_DONE, event.iteration);
    out.net = event.net;
    out.loss =
        event.loss ? *event.loss : std::numeric_limits<double>::quiet_NaN();
    setOutputs(event.outputs);
  }
  void operator()(const event::TestInterrupted &event) {
    setKind(BREW_EVENT_TEST_INTERRUPTED, event.iteration);
    out.net = event.net;
  }
  void operator()(const event::SnapshotWriting &event) {
    setKind(BREW_EVENT_SNAPSHOT_WRITING);
    out.file = event.file.c_str();
    out.flag = event.content == event::SnapshotWriting::State;
  }
  void operator()(const event::SnapshotDone &event) {
    setKind(BREW_EVENT_SNAPSHOT, event.iteration);
    out.file = event.weights.c_str();
    out.state_file = event.state.c_str();
  }
  void operator()(const event::DataStall &event) {
    setKind(BREW_EVENT_DATA_STALL);
    out.name = event.layer.c_str();
    out.number = static_cast<std::int64_t>(event.times);
    out.seconds = event.seconds;
  }
  void operator()(const event::Paused &event) {
    setKind(BREW_EVENT_PAUSED, event.iteration);
  }
  void operator()(const event::Resumed &event) {
    setKind(BREW_EVENT_RESUMED, event.iteration);
  }
  void operator()(const event::SolverFieldSet &event) {
    setKind(BREW_EVENT_FIELD_SET, event.iteration);
    out.name = event.field.c_str();
    out.text = event.value.c_str();
  }
  void operator()(const event::ParametersChanged &event) {
    setKind(BREW_EVENT_PARAMETERS_CHANGED, event.iteration);
    out.text = event.action.c_str();
    out.flag = event.routine;
  }
  void operator()(const event::Throughput &event) {
    setKind(BREW_EVENT_THROUGHPUT, event.iteration);
    out.rate = event.itemsPerSecond;
    out.seconds = event.secondsLeft;
    out.number = static_cast<std::int64_t>(event.waits);
  }
  void operator()(const event::StoppedByRule &event) {
    setKind(BREW_EVENT_STOPPED_BY_RULE, event.iteration);
    out.text = event.reason.c_str();
  }
  void operator()(const event::Reset &event) {
    setKind(BREW_EVENT_RESET, event.iteration);
  }
  void operator()(const event::StepTimes &event) {
    setKind(BREW_EVENT_STEP_TIMES, event.iteration);
    out.step_count = event.seconds.size();
    out.step_seconds = event.seconds.data();
  }
  void operator()(const event::EpisodeDone &event) {
    setKind(BREW_EVENT_EPISODE, event.iteration);
    out.number = event.episodes;
    out.flag = event.displayed;
    outputStorage = episodeMetrics(event);
    setOutputs(outputStorage);
  }
  void operator()(const event::FinalLoss &event) {
    setKind(BREW_EVENT_FINAL_LOSS, event.iteration);
    out.smoothed_loss = event.smoothedLoss;
  }
  void operator()(const event::SolvingDone &event) {
    setKind(BREW_EVENT_SOLVING_DONE, event.iteration);
    out.flag = event.stopped;
  }
};

} // namespace

Events::Listener brew::api::listenerOf(brew_event_function function,
                                       void *user) {
  return [function, user](const runtime::Event &event) {
    EventConverter converter;
    converter.out.struct_size = sizeof converter.out;
    std::visit(converter, event);
    function(&converter.out, user);
  };
}

// These functions write log lines of the caller in the format of the sessions.

void brew_log(brew_log_severity severity, const char *file, int line,
              const char *text) {
  guard(
      [&] {
        log::write(static_cast<log::Severity>(severity),
                   {file ? file : log::site::brew.file, line},
                   text ? text : "");
      },
      [](const char *) {});
}

void brew_log_set_minimum(int severity) {
  guard([&] { log::setMinimumSeverity(severity); }, [](const char *) {});
}

void brew_log_clear_status_line(void) {
  guard([] { log::showStatusLine(""); }, [](const char *) {});
}
