//===- PythonNets.h - Nets that Python runs for a trainer -------*- C++ -*-===//
#pragma once

#include "NetWeights.h"

#include <brew/training.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace brew::python {

/// Calls the methods of a Python object: compute_gradients(), forward(),
/// outputs(), prepare_update(), test(net), weights(diffs), load_weights(path)
/// and next_action(), which returns "stop", "snapshot" or None.
class PythonNets : public api::CallerNets {
public:
  explicit PythonNets(nanobind::object nets) : nets(std::move(nets)) {}
  ~PythonNets() override {
    const nanobind::gil_scoped_acquire acquired;
    nets.reset();
    lastWeights.reset();
  }

  double computeGradients() override {
    const nanobind::gil_scoped_acquire acquired;
    lastWeights.reset();
    return nanobind::cast<double>(nets.attr("compute_gradients")());
  }
  double forward() override {
    const nanobind::gil_scoped_acquire acquired;
    return nanobind::cast<double>(nets.attr("forward")());
  }
  std::vector<api::OutputValue> outputs() override {
    const nanobind::gil_scoped_acquire acquired;
    return valuesOf(nets.attr("outputs")());
  }
  void prepareUpdate() override {
    const nanobind::gil_scoped_acquire acquired;
    nets.attr("prepare_update")();
  }
  Batch test(int net) override {
    const nanobind::gil_scoped_acquire acquired;
    const auto [loss, values] =
        nanobind::cast<std::pair<double, nanobind::object>>(
            nets.attr("test")(net));
    return {loss, valuesOf(values)};
  }
  api::Weights &weights(bool diffs) override {
    const nanobind::gil_scoped_acquire acquired;
    lastWeights = nets.attr("weights")(diffs);
    return nanobind::cast<NetWeights &>(lastWeights).get();
  }
  void loadWeights(const std::string &path) override {
    const nanobind::gil_scoped_acquire acquired;
    nets.attr("load_weights")(path);
  }
  brew_solver_action nextAction() {
    const nanobind::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0)
      throw nanobind::python_error();
    const nanobind::object action = nets.attr("next_action")();
    if (action.is_none())
      return BREW_ACTION_NONE;
    return nanobind::cast<std::string>(action) == "stop" ? BREW_ACTION_STOP
                                                         : BREW_ACTION_SNAPSHOT;
  }

private:
  /// `list`: (blob, value, loss weight) of each output.
  static std::vector<api::OutputValue> valuesOf(const nanobind::object &list) {
    std::vector<api::OutputValue> values;
    for (nanobind::handle item : list) {
      auto [blob, value, weight] =
          nanobind::cast<std::tuple<std::string, double, double>>(item);
      values.push_back({std::move(blob), value, weight});
    }
    return values;
  }

  nanobind::object nets;
  nanobind::object lastWeights; ///< of weights()
};

} // namespace brew::python
