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

/// Converts the fields of brew_event that the kind defines to a dict.
class Fields {
public:
  explicit Fields(const brew_event &event) : event(event) {}

  nb::dict get() {
    switch (event.kind) {
    case BREW_EVENT_LOG:
      words["severity"] = event.severity == BREW_LOG_INFO      ? "info"
                          : event.severity == BREW_LOG_WARNING ? "warning"
                                                               : "error";
      text("file", event.site_file);
      words["line"] = event.site_line;
      text("text", event.text);
      break;
    case BREW_EVENT_SOLVER_SET_UP:
      text("text", event.text);
      break;
    case BREW_EVENT_NET_SET_UP:
      text("name", event.name);
      words["net"] = event.net;
      break;
    case BREW_EVENT_SEED:
      words["seed"] = static_cast<std::uint64_t>(event.number);
      break;
    case BREW_EVENT_SOLVER_READY:
      break;
    case BREW_EVENT_WEIGHTS_LOADING:
      text("file", event.file);
      words["train"] = bool(event.flag);
      break;
    case BREW_EVENT_SNAPSHOT_LOADING:
      text("file", event.file);
      words["history"] = bool(event.flag);
      break;
    case BREW_EVENT_SOLVING_BEGIN:
      text("name", event.name);
      text("policy", event.text);
      iteration();
      words["max_iteration"] = event.max_iteration;
      break;
    case BREW_EVENT_ITERATION:
      iteration();
      words["loss"] = event.loss;
      words["smoothed_loss"] = event.smoothed_loss;
      words["learning_rate"] = event.learning_rate;
      words["seconds"] = event.seconds;
      break;
    case BREW_EVENT_DISPLAY:
      iteration();
      words["smoothed_loss"] = event.smoothed_loss;
      words["seconds"] = event.seconds;
      words["rate"] = event.rate;
      words["display"] = event.number;
      outputs();
      break;
    case BREW_EVENT_LEARNING_RATE:
      iteration();
      words["learning_rate"] = event.learning_rate;
      words["displayed"] = bool(event.flag);
      words["steps"] = event.number;
      break;
    case BREW_EVENT_GRADIENTS_CLIPPED:
      iteration();
      words["norm"] = event.norm;
      words["limit"] = event.limit;
      words["factor"] = event.factor;
      break;
    case BREW_EVENT_PROGRESS:
      iteration();
      words["max_iteration"] = event.max_iteration;
      words["smoothed_loss"] = event.smoothed_loss;
      words["seconds"] = event.seconds;
      words["done"] = event.number;
      words["last"] = bool(event.flag);
      break;
    case BREW_EVENT_TEST_DONE:
      outputs();
      words["loss"] = event.loss;
      [[fallthrough]];
    case BREW_EVENT_TEST_BEGIN:
    case BREW_EVENT_TEST_INTERRUPTED:
      iteration();
      words["net"] = event.net;
      break;
    case BREW_EVENT_SNAPSHOT_WRITING:
      text("file", event.file);
      words["state"] = bool(event.flag);
      break;
    case BREW_EVENT_SNAPSHOT:
      iteration();
      text("file", event.file);
      text("state_file", event.state_file);
      break;
    case BREW_EVENT_DATA_STALL:
      text("name", event.name);
      words["times"] = event.number;
      words["seconds"] = event.seconds;
      break;
    case BREW_EVENT_FIELD_SET:
      text("name", event.name);
      text("value", event.text);
      [[fallthrough]];
    case BREW_EVENT_PAUSED:
    case BREW_EVENT_RESUMED:
    case BREW_EVENT_RESET:
      iteration();
      break;
    case BREW_EVENT_THROUGHPUT:
      iteration();
      words["rate"] = event.rate;
      words["seconds"] = event.seconds;
      words["waits"] = event.number;
      break;
    case BREW_EVENT_STOPPED_BY_RULE:
      iteration();
      text("text", event.text);
      break;
    case BREW_EVENT_STEP_TIMES:
      iteration();
      words["step_seconds"] = std::vector<double>(
          event.step_seconds, event.step_seconds + event.step_count);
      break;
    case BREW_EVENT_FINAL_LOSS:
      iteration();
      words["smoothed_loss"] = event.smoothed_loss;
      break;
    case BREW_EVENT_SOLVING_DONE:
      iteration();
      words["stopped"] = bool(event.flag);
      break;
    }
    return words;
  }

private:
  void iteration() { words["iteration"] = event.iteration; }
  /// Decodes text like os.fsdecode(): invalid UTF-8, as in file names, becomes
  /// surrogates.
  void text(const char *name, const char *value) {
    words[name] = nb::steal(PyUnicode_DecodeFSDefault(value ? value : ""));
  }
  /// Returns (blob, value, loss weight) of each element.
  void outputs() {
    nb::list values;
    for (std::size_t i = 0; i < event.output_count; ++i)
      values.append(nb::make_tuple(event.outputs[i].blob,
                                   event.outputs[i].value,
                                   event.outputs[i].loss_weight));
    words["outputs"] = values;
  }

  const brew_event &event;
  nb::dict words;
};

} // namespace

brew::api::Listener brew::python::listenerOf(nb::object function,
                                             const std::vector<int> &kinds) {
  std::uint64_t wanted =
      kinds.empty() ? std::numeric_limits<std::uint64_t>::max() : 0;
  for (int kind : kinds)
    wanted |= std::uint64_t(1) << kind;
  // Any thread may close the session and release the function.
  std::shared_ptr<PyObject> held(function.release().ptr(),
                                 [](PyObject *object) {
                                   const nb::gil_scoped_acquire acquired;
                                   Py_DECREF(object);
                                 });
  return [wanted, held](const brew_event &event) {
    if (event.kind > BREW_EVENT_STEP_TIMES || !(wanted >> event.kind & 1))
      return;
    const nb::gil_scoped_acquire acquired;
    nb::handle(held.get())(static_cast<int>(event.kind), Fields(event).get());
  };
}
