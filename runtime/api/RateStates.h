//===- RateStates.h - States of learning rates in the C API -----*- C++ -*-===//
#pragma once

#include "caffe/LearningRate.h"
#include "runtime/api/Api.h"

namespace brew::api {

inline caffe::LearningRateState rateStateOf(const brew_rate_state &from) {
  caffe::LearningRateState state;
  state.step = from.step;
  if (from.has_minimum_loss)
    state.minimumLoss = from.minimum_loss;
  state.lastEvent = from.last_event;
  return state;
}

inline brew_rate_state toCaller(const caffe::LearningRateState &from) {
  brew_rate_state state{};
  state.step = from.step;
  state.has_minimum_loss = from.hasMinimumLoss();
  state.minimum_loss = from.hasMinimumLoss() ? from.minimumLoss : 0;
  state.last_event = from.lastEvent;
  return state;
}

} // namespace brew::api
