//===- Trainer.cpp - Bindings of trainers ---------------------------------===//
#include "TrainerBinding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::Trainer;
using brew::python::PythonNets;
using brew::python::SharedSession;
using brew::python::SharedTrainer;
using brew::python::viewOf;

namespace {

/// A Python function that any thread may release.
struct Function {
  nb::object object;
  ~Function() {
    const nb::gil_scoped_acquire acquired;
    object.reset();
  }
};

/// Calls the function of a hook. Its exceptions propagate out of the training
/// call; an exception of a background hook ends the hook.
void callHook(const Function &function, const brew::api::HookCall &call) {
  const nb::gil_scoped_acquire acquired;
  try {
    function.object(call.name, call.trigger, call.iteration, call.seconds,
                    call.reason, call.background);
  } catch (nb::python_error &error) {
    if (!call.background)
      throw;
    throw std::runtime_error(error.what());
  }
}

} // namespace

void brew::python::bindTrainer(nb::module_ &module) {
  nb::class_<SharedTrainer>(module, "Trainer")
      .def(
          "__init__",
          [](SharedTrainer *self, SharedSession &session,
             const Settings &settings) {
            const api::Options options = optionsOf(settings);
            brew::python::GilRelease released;
            new (self) SharedTrainer(session, options);
          },
          "session"_a, "options"_a = Settings(), nb::keep_alive<1, 2>())
      .def_static(
          "of_nets",
          [](SharedSession &session, nb::object nets, const nb::bytes &solver) {
            auto own = std::make_shared<PythonNets>(std::move(nets));
            const std::string_view encoded = viewOf(solver);
            brew::python::GilRelease released;
            return std::make_unique<SharedTrainer>(session, std::move(own),
                                                   encoded);
          },
          "session"_a, "nets"_a, "solver"_a, nb::keep_alive<0, 1>(),
          "Opens a trainer of nets that Python runs (PythonNets.h).")
      .def(
          "add_hook",
          [](SharedTrainer &shared, const std::string &line,
             nb::object function) {
            std::function<void(const brew::api::HookCall &)> callback;
            if (!function.is_none())
              callback = [hook = std::make_shared<Function>(Function{std::move(
                              function)})](const brew::api::HookCall &call) {
                callHook(*hook, call);
              };
            shared.runExclusive([&](Trainer &trainer) {
              trainer.addHook(line, std::move(callback));
            });
          },
          "line"_a, "function"_a.none())
      .def("add_hooks",
           [](SharedTrainer &shared, const std::string &file) {
             shared.runExclusive(
                 [&](Trainer &trainer) { trainer.addHooks(file); });
           })
      .def("remove_hook",
           [](SharedTrainer &shared, const std::string &name) {
             shared.runExclusive(
                 [&](Trainer &trainer) { trainer.removeHook(name); });
           })
      .def("metric",
           [](SharedTrainer &shared, const std::string &name) {
             return shared.runExclusive(
                 [&](Trainer &trainer) { return trainer.metric(name); });
           })
      .def("raise_flag",
           [](SharedTrainer &shared, const std::string &name) {
             shared.request([&](Trainer &trainer) { trainer.raiseFlag(name); });
           })
      .def("step",
           [](SharedTrainer &shared, int iterations) {
             shared.runExclusive(
                 [&](Trainer &trainer) { trainer.step(iterations); });
           })
      .def("solve",
           [](SharedTrainer &shared) {
             shared.runExclusive([](Trainer &trainer) { trainer.solve(); });
           })
      .def(
          "test",
          [](SharedTrainer &shared, int net, int batches) {
            const auto values = shared.runExclusive(
                [&](Trainer &trainer) { return trainer.test(net, batches); });
            nb::list means;
            for (const auto &output : values)
              means.append(nb::make_tuple(output.blob, output.value));
            return means;
          },
          "net"_a = 0, "batches"_a = 0)
      .def("snapshot",
           [](SharedTrainer &shared) {
             shared.runExclusive([](Trainer &trainer) { trainer.snapshot(); });
           })
      .def("restore",
           [](SharedTrainer &shared, const std::string &path) {
             shared.runExclusive(
                 [&](Trainer &trainer) { trainer.restore(path); });
           })
      .def(
          "forward",
          [](SharedTrainer &shared, bool feed) {
            return shared.runExclusive(
                [&](Trainer &trainer) { return trainer.forward(feed); });
          },
          "feed"_a = true)
      .def("backward",
           [](SharedTrainer &shared) {
             shared.runExclusive([](Trainer &trainer) { trainer.backward(); });
           })
      .def("accumulate",
           [](SharedTrainer &shared) {
             shared.runExclusive(
                 [](Trainer &trainer) { trainer.accumulate(); });
           })
      .def("update",
           [](SharedTrainer &shared) {
             shared.runExclusive([](Trainer &trainer) { trainer.update(); });
           })
      .def("continue_from", &SharedTrainer::continueFrom, "other"_a)
      .def("set_solver",
           [](SharedTrainer &shared, const nb::bytes &solver) {
             const std::string_view encoded = viewOf(solver);
             shared.runExclusive(
                 [&](Trainer &trainer) { trainer.setSolver(encoded); });
           })
      .def("set_field",
           [](SharedTrainer &shared, const std::string &name,
              const std::string &value) {
             shared.request(
                 [&](Trainer &trainer) { trainer.setField(name, value); });
           })
      .def("field",
           [](SharedTrainer &shared, const std::string &name) {
             return shared.request(
                 [&](Trainer &trainer) { return trainer.field(name); });
           })
      .def("pause",
           [](SharedTrainer &shared) {
             shared.request([](Trainer &trainer) { trainer.pause(); });
           })
      .def("resume",
           [](SharedTrainer &shared) {
             shared.request([](Trainer &trainer) { trainer.resume(); });
           })
      .def("stop",
           [](SharedTrainer &shared) {
             shared.request([](Trainer &trainer) { trainer.stop(); });
           })
      .def("request_snapshot",
           [](SharedTrainer &shared) {
             shared.request(
                 [](Trainer &trainer) { trainer.requestSnapshot(); });
           })
      .def("reset",
           [](SharedTrainer &shared) {
             shared.request([](Trainer &trainer) { trainer.reset(); });
           })
      .def("request_step_times",
           [](SharedTrainer &shared) {
             shared.request(
                 [](Trainer &trainer) { trainer.requestStepTimes(); });
           })
      .def_prop_ro("stopped",
                   [](SharedTrainer &shared) {
                     return shared.runExclusive(
                         [](Trainer &trainer) { return trainer.stopped(); });
                   })
      .def_prop_ro("iteration",
                   [](SharedTrainer &shared) {
                     return shared.runExclusive(
                         [](Trainer &trainer) { return trainer.iteration(); });
                   })
      .def_prop_ro("smoothed_loss",
                   [](SharedTrainer &shared) {
                     return shared.runExclusive([](Trainer &trainer) {
                       return trainer.smoothedLoss();
                     });
                   })
      .def_prop_ro("learning_rate", [](SharedTrainer &shared) {
        return shared.runExclusive(
            [](Trainer &trainer) { return trainer.learningRate(); });
      });
}
