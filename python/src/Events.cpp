//===- Events.cpp - Python listeners of sessions --------------------------===//
#include "Events.h"

#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

/// Converts the fields that are defined for an event's kind to a dict.
class Fields {
public:
  explicit Fields(const brew_event &event) : event(event) {}

  nb::dict convert() {
    switch (event.kind) {
    case BREW_EVENT_LOG:
      result["severity"] = event.severity == BREW_LOG_INFO      ? "info"
                           : event.severity == BREW_LOG_WARNING ? "warning"
                                                                : "error";
      addText("file", event.site_file);
      result["line"] = event.site_line;
      addText("text", event.text);
      break;
    case BREW_EVENT_SOLVER_SET_UP:
      addText("text", event.text);
      break;
    case BREW_EVENT_NET_SET_UP:
      addText("name", event.name);
      result["net"] = event.net;
      break;
    case BREW_EVENT_SEED:
      result["seed"] = static_cast<std::uint64_t>(event.number);
      break;
    case BREW_EVENT_SOLVER_READY:
      break;
    case BREW_EVENT_WEIGHTS_LOADING:
      addText("file", event.file);
      result["train"] = bool(event.flag);
      break;
    case BREW_EVENT_SNAPSHOT_LOADING:
      addText("file", event.file);
      result["history"] = bool(event.flag);
      break;
    case BREW_EVENT_SOLVING_BEGIN:
      addText("name", event.name);
      addText("policy", event.text);
      addIteration();
      result["max_iteration"] = event.max_iteration;
      break;
    case BREW_EVENT_ITERATION:
      addIteration();
      result["loss"] = event.loss;
      result["smoothed_loss"] = event.smoothed_loss;
      result["learning_rate"] = event.learning_rate;
      result["seconds"] = event.seconds;
      break;
    case BREW_EVENT_DISPLAY:
      addIteration();
      result["smoothed_loss"] = event.smoothed_loss;
      result["seconds"] = event.seconds;
      result["rate"] = event.rate;
      result["display"] = event.number;
      addOutputs();
      break;
    case BREW_EVENT_LEARNING_RATE:
      addIteration();
      result["learning_rate"] = event.learning_rate;
      result["displayed"] = bool(event.flag);
      result["steps"] = event.number;
      break;
    case BREW_EVENT_GRADIENTS_CLIPPED:
      addIteration();
      result["norm"] = event.norm;
      result["limit"] = event.limit;
      result["factor"] = event.factor;
      break;
    case BREW_EVENT_PROGRESS:
      addIteration();
      result["max_iteration"] = event.max_iteration;
      result["smoothed_loss"] = event.smoothed_loss;
      result["seconds"] = event.seconds;
      result["done"] = event.number;
      result["last"] = bool(event.flag);
      break;
    case BREW_EVENT_TEST_DONE:
      addOutputs();
      result["loss"] = event.loss;
      [[fallthrough]];
    case BREW_EVENT_TEST_BEGIN:
    case BREW_EVENT_TEST_INTERRUPTED:
      addIteration();
      result["net"] = event.net;
      break;
    case BREW_EVENT_SNAPSHOT_WRITING:
      addText("file", event.file);
      result["state"] = bool(event.flag);
      break;
    case BREW_EVENT_SNAPSHOT:
      addIteration();
      addText("file", event.file);
      addText("state_file", event.state_file);
      break;
    case BREW_EVENT_DATA_STALL:
      addText("name", event.name);
      result["times"] = event.number;
      result["seconds"] = event.seconds;
      break;
    case BREW_EVENT_FIELD_SET:
      addText("name", event.name);
      addText("value", event.text);
      [[fallthrough]];
    case BREW_EVENT_PAUSED:
    case BREW_EVENT_RESUMED:
    case BREW_EVENT_RESET:
      addIteration();
      break;
    case BREW_EVENT_THROUGHPUT:
      addIteration();
      result["rate"] = event.rate;
      result["seconds"] = event.seconds;
      result["waits"] = event.number;
      break;
    case BREW_EVENT_STOPPED_BY_RULE:
      addIteration();
      addText("text", event.text);
      break;
    case BREW_EVENT_PARAMETERS_CHANGED:
      addIteration();
      addText("text", event.text);
      result["routine"] = bool(event.flag);
      break;
    case BREW_EVENT_STEP_TIMES:
      addIteration();
      result["step_seconds"] = std::vector<double>(
          event.step_seconds, event.step_seconds + event.step_count);
      break;
    case BREW_EVENT_EPISODE:
      addIteration();
      result["episodes"] = event.number;
      result["displayed"] = bool(event.flag);
      addOutputs();
      break;
    case BREW_EVENT_FINAL_LOSS:
      addIteration();
      result["smoothed_loss"] = event.smoothed_loss;
      break;
    case BREW_EVENT_SOLVING_DONE:
      addIteration();
      result["stopped"] = bool(event.flag);
      break;
    }
    return result;
  }

private:
  void addIteration() { result["iteration"] = event.iteration; }
  /// Decodes text like os.fsdecode(): invalid UTF-8, as in file names, becomes
  /// surrogates.
  void addText(const char *name, const char *value) {
    result[name] = nb::steal(PyUnicode_DecodeFSDefault(value ? value : ""));
  }
  /// Adds a list of (blob, value, loss weight) for each element.
  void addOutputs() {
    nb::list values;
    for (std::size_t i = 0; i < event.output_count; ++i)
      values.append(nb::make_tuple(event.outputs[i].blob,
                                   event.outputs[i].value,
                                   event.outputs[i].loss_weight));
    result["outputs"] = values;
  }

  const brew_event &event;
  nb::dict result;
};

} // namespace

brew::api::Listener brew::python::listenerOf(nb::object function,
                                             const std::vector<int> &kinds) {
  std::uint64_t kindMask =
      kinds.empty() ? std::numeric_limits<std::uint64_t>::max() : 0;
  for (int kind : kinds)
    kindMask |= std::uint64_t(1) << kind;
  // Any thread may close the session and release the function.
  std::shared_ptr<PyObject> owner(function.release().ptr(),
                                  [](PyObject *object) {
                                    const nb::gil_scoped_acquire acquired;
                                    Py_DECREF(object);
                                  });
  return [kindMask, owner](const brew_event &event) {
    if (event.kind > BREW_EVENT_PARAMETERS_CHANGED ||
        !(kindMask >> event.kind & 1))
      return;
    const nb::gil_scoped_acquire acquired;
    nb::handle(owner.get())(static_cast<int>(event.kind),
                            Fields(event).convert());
  };
}
