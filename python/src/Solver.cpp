//===- Solver.cpp - Bindings of learning rates and solver states ----------===//
#include "Arrays.h"
#include "ExitGuard.h"
#include "Module.h"

#include <brew/solver.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::LearningRate;
using brew::api::SolverState;
using brew::python::FloatArray;

namespace {

/// Step, minimum loss, iteration of the last event.
using RateState = std::tuple<int, std::optional<float>, int>;

brew_rate_state fromPython(const RateState &state) {
  const auto [step, minimumLoss, lastEvent] = state;
  auto result = brew::api::makeStruct<brew_rate_state>();
  result.step = step;
  result.has_minimum_loss = minimumLoss.has_value();
  result.minimum_loss = minimumLoss.value_or(0);
  result.last_event = lastEvent;
  return result;
}

RateState toPython(const brew_rate_state &state) {
  std::optional<float> minimumLoss;
  if (state.has_minimum_loss)
    minimumLoss = state.minimum_loss;
  return {state.step, minimumLoss, state.last_event};
}

/// A solver state and the arrays that it refers to.
class SolverHistory {
public:
  /// `history`: [(parameter, array), ...].
  SolverHistory(int iteration, const std::string &weights,
                const RateState &rate, const nb::list &history)
      : state(iteration, weights, fromPython(rate)) {
    for (nb::handle item : history) {
      auto [parameter, array] =
          nb::cast<std::pair<std::string, FloatArray>>(item);
      state.addHistory(parameter, brew::python::shapeOf(array), array.data());
      arrays.push_back(std::move(array));
    }
  }
  SolverState state;

private:
  std::vector<FloatArray> arrays;
};

} // namespace

void brew::python::bindSolver(nb::module_ &module) {
  nb::class_<LearningRate>(module, "LearningRate")
      .def(
          "__init__",
          [](LearningRate *self, const nb::bytes &solver) {
            new (self) LearningRate(brew::python::viewOf(solver));
          },
          "solver"_a)
      .def(
          "at",
          [](const LearningRate &self, int iteration, double loss,
             const RateState &state) {
            brew_rate_state current = fromPython(state);
            const double rate = self.at(iteration, current, loss);
            return std::pair(rate, toPython(current));
          },
          "iteration"_a, "loss"_a, "state"_a, "Returns (rate, new state).");
  nb::class_<SolverState>(module, "SolverStateFile")
      .def(
          "__init__",
          [](SolverState *self, const std::string &path) {
            const brew::python::GilRelease released;
            new (self) SolverState(path);
          },
          "path"_a)
      .def_prop_ro("iteration", &SolverState::iteration)
      .def_prop_ro("rate_state",
                   [](SolverState &self) { return toPython(self.rate()); })
      .def("find_weights",
           [](SolverState &self) {
             const brew::python::GilRelease released;
             return self.findWeights();
           })
      .def(
          "copy_history",
          [](SolverState &self, const nb::list &history) {
            SolverHistory target(0, "", {}, history);
            const brew::python::GilRelease released;
            target.state.copyHistoryFrom(self);
          },
          "history"_a);

  module.def(
      "write_solver_state",
      [](const std::string &path, bool hdf5, int iteration,
         const std::string &weights, const RateState &rate,
         const nb::list &history) {
        SolverHistory source(iteration, weights, rate, history);
        const brew::python::GilRelease released;
        source.state.write(path, hdf5 ? BREW_HDF5 : BREW_BINARY_PROTO);
      },
      "path"_a, "hdf5"_a, "iteration"_a, "weights"_a, "rate_state"_a,
      "history"_a);
}
