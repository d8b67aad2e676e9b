//===- TrainingState.cpp - State of a training run ------------------------===//

#include "runtime/train/TrainingState.h"

#include "formats/SolverStateFile.h"

namespace brew::runtime {
namespace {

/// Name of the smoothed loss and the losses that it averages. They are stored
/// in double, since the state's own fields have single precision.
constexpr char kLosses[] = "/losses";
/// Name of the caller's numbers.
constexpr char kCallerState[] = "/attached";

} // namespace

void TrainingState::save(caffe::SolverState &state) const {
  state.set_iter(iteration);
  rate.save(state);
  state.set_brew_smoothed_loss(static_cast<float>(losses.mean()));
  std::vector<double> exactLosses = {losses.mean()};
  for (double loss : losses.losses()) {
    state.add_brew_recent_loss(static_cast<float>(loss));
    exactLosses.push_back(loss);
  }
  formats::setNamedValues(state, kLosses, exactLosses);
  if (!attached.empty())
    formats::setNamedValues(state, kCallerState, attached);
}

void TrainingState::restore(const caffe::SolverState &state,
                            const std::string &path) {
  iteration = state.iter();
  rate.restore(state);
  attached = formats::namedValues(state, kCallerState, path);
}

void TrainingState::restoreLosses(const caffe::SolverState &state, int size) {
  // The stored mean is not read: the window computes its own.
  const std::vector<double> exactLosses =
      formats::namedValues(state, kLosses, "solver state");
  if (exactLosses.empty())
    losses.assign(
        {state.brew_recent_loss().begin(), state.brew_recent_loss().end()});
  else
    losses.assign({exactLosses.begin() + 1, exactLosses.end()});
  losses.shrink(size);
}

} // namespace brew::runtime
