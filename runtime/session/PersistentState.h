//===- PersistentState.h - State that a run leaves for the next -*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"

#include <string>

namespace brew::runtime {

/// The state of a plan that is neither parameter nor history: the buffers of
/// plan::Manifest::persistent (hidden states of recurrent layers, the loss
/// scale of f16) and the states of host layers (HostLayers). Solver states
/// contain it, so that a resumed run continues exactly.
class PersistentState {
public:
  /// Uses the memory of `executor`, which must outlive this object. Logs to
  /// `events`, which may be null.
  explicit PersistentState(Executor &executor, Events *events = nullptr)
      : executor(executor), events(events) {}

  /// Adds the persistent state to a solver state.
  void save(caffe::SolverState &state) const;
  /// Loads the state that both the solver state, read from `path`, and the plan
  /// have. Ignores state that only one of them has, for example after a change
  /// of the precision. Also ignores, with a log line, state of another shape,
  /// for example after a change of the batch size. Throws Error (1) for invalid
  /// values.
  void restore(const caffe::SolverState &state, const std::string &path);

  /// Returns whether the plan scales losses.
  bool hasLossScale() const;
  /// Sets the loss scale and resets its count of good iterations. Requires
  /// hasLossScale(). Throws Error (2) unless `scale` is a power of two from 1
  /// to 2^24.
  void setLossScale(double scale);

private:
  const plan::NamedBuffer *find(const std::string &name) const;
  void write(const plan::NamedBuffer &persistent,
             const std::vector<double> &values);

  Executor &executor;
  Events *events;
};

} // namespace brew::runtime
