//===- LearningRate.cpp - C API: learning rates ---------------------------===//

#include "runtime/api/Messages.h"
#include "runtime/api/RateStates.h"

#include "caffe/SolverRules.h"

#include <optional>

using namespace brew;
using namespace brew::api;

struct brew_learning_rate {
  Message message;
  caffe::SolverParameter solver;
  std::optional<caffe::LearningRate> rate; ///< created by the first use
};

brew_status brew_learning_rate_create(const void *solver, size_t size,
                                      brew_learning_rate **rate) {
  return api::open(rate, [&](brew_learning_rate &handle) {
    handle.solver = parse<caffe::SolverParameter>(solver, size, "the solver");
    for (const caffe::SolverConflict &conflict :
         caffe::solverConflicts(handle.solver))
      throw badInput("solver: " + conflict.text);
  });
}

const char *brew_learning_rate_message(const brew_learning_rate *rate) {
  return rate ? rate->message.text() : Message::outOfMemory();
}

void brew_learning_rate_destroy(brew_learning_rate *rate) { delete rate; }

brew_status brew_learning_rate_at(brew_learning_rate *rate, int iteration,
                                  double loss, brew_rate_state *state,
                                  double *value) {
  if (!rate)
    return BREW_USAGE;
  return guarded(rate->message, [&] {
    if (!state || !value)
      throw usage("the state or the pointer to the value is NULL");
    if (iteration < 0)
      throw usage("the iteration is negative");
    if (!rate->rate)
      rate->rate.emplace(rate->solver);
    caffe::LearningRateState current = rateStateOf(copyFromCaller(state));
    *value = rate->rate->at(iteration, current, loss);
    copyToCaller(state, toCaller(current));
  });
}
