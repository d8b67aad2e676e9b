//===- PersistentState.h - What runs leave to the next ones --------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/executor/Executor.h"
#include "runtime/events/Events.h"

#include <string>

namespace brew::runtime {

/// The state of a plan that is neither parameter nor history
/// (plan::Manifest::persistent): what recurrent layers remember, and the scale of
/// f16's losses; and what layers of the host do (HostLayers). Solver states
/// carry it, so that a resumed run goes on exactly.
class PersistentState {
public:
  /// Works on the memory of `executor`, which outlives it; `events`, which may
  /// be null, hears what is worth a line.
  explicit PersistentState(Executor &executor, Events *events = nullptr)
      : executor(executor), events(events) {}

  /// Adds all of it to a solver state.
  void save(caffe::SolverState &state) const;
  /// Takes over what the state at `path` and the plan both have; what only one
  /// has, as where a net is resumed with another precision, stays as it is, and
  /// what has another shape, as with another batch size, too: with a log line.
  /// Throws Error (1) for values that cannot be such state.
  void restore(const caffe::SolverState &state, const std::string &path);

  /// Whether losses are scaled.
  bool hasLossScale() const;
  /// Begins with another scale, and counts good iterations from 0. Only where
  /// hasLossScale(). Throws Error (2) if `scale` is no power of two from 1 to
  /// 2^24.
  void setLossScale(double scale);

private:
  const plan::NamedBuffer *find(const std::string &name) const;
  void write(const plan::NamedBuffer &carried,
             const std::vector<double> &values);

  Executor &executor;
  Events *events;
};

} // namespace brew::runtime
