//===- solver.hpp - Learning rates and solver states ------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/solver.h>
#include <brew/support.hpp>
#include <brew/weights.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brew::api {

/// The learning rate of a solver.
class LearningRate {
public:
  /// `solver`: an encoded SolverParameter.
  explicit LearningRate(std::string_view solver) {
    brew_learning_rate *opened = nullptr;
    const brew_status status =
        brew_learning_rate_create(solver.data(), solver.size(), &opened);
    rate.reset(opened);
    check(status);
  }
  /// Returns the rate of an iteration, and updates `state`.
  double at(int iteration, brew_rate_state &state, double loss = 0) const {
    double value = 0;
    check(brew_learning_rate_at(rate.get(), iteration, loss, &state, &value));
    return value;
  }

private:
  void check(brew_status status) const {
    detail::check(status, brew_learning_rate_message(rate.get()));
  }

  detail::UniqueHandle<brew_learning_rate, brew_learning_rate_destroy> rate;
};

/// A solver state of a file, or one with the caller's arrays as history.
class SolverState {
public:
  explicit SolverState(const std::string &path) {
    brew_solver_state *opened = nullptr;
    const brew_status status = brew_solver_state_read(path.c_str(), &opened);
    state.reset(opened);
    check(status);
  }
  /// A state after `iteration` updates. `weights`: the weight file, or "".
  SolverState(int iteration, const std::string &weights,
              const brew_rate_state &rate) {
    brew_solver_state *opened = nullptr;
    const brew_status status =
        brew_solver_state_create(iteration, weights.c_str(), &rate, &opened);
    state.reset(opened);
    check(status);
  }

  int iteration() const { return brew_solver_state_iteration(state.get()); }
  brew_rate_state rate() {
    auto result = makeStruct<brew_rate_state>();
    check(brew_solver_state_rate(state.get(), &result));
    return result;
  }
  /// Returns the weight file that belongs to the state, "" if it names none.
  std::string findWeights() {
    const char *path = nullptr;
    check(brew_solver_state_find_weights(state.get(), &path));
    return path ? path : "";
  }
  std::size_t tensors() const { return brew_solver_state_tensors(state.get()); }
  brew_snapshot_blob history(std::size_t index) {
    auto result = makeStruct<brew_snapshot_blob>();
    check(brew_solver_state_history(state.get(), index, &result));
    return result;
  }

  /// `values` must outlive this object.
  void addHistory(const std::string &parameter,
                  const std::vector<std::int64_t> &dims, float *values) {
    const brew_snapshot_blob blob =
        detail::snapshotBlob(dims, values, nullptr, false);
    check(brew_solver_state_add_history(state.get(), parameter.c_str(), &blob));
  }
  /// Copies the history of a file to the arrays.
  void copyHistoryFrom(const SolverState &file) {
    check(brew_solver_state_copy_history(file.state.get(), state.get()));
  }
  void write(const std::string &path,
             brew_snapshot_format format = BREW_BINARY_PROTO) {
    check(brew_solver_state_write(state.get(), path.c_str(), format));
  }

private:
  void check(brew_status status) const {
    detail::check(status, brew_solver_state_message(state.get()));
  }

  detail::UniqueHandle<brew_solver_state, brew_solver_state_destroy> state;
};

} // namespace brew::api
