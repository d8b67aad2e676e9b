//===- TrainerHandle.h - Object of a brew_trainer handle --------*- C++ -*-===//
#pragma once

#include "runtime/api/Handles.h"
#include "runtime/train/Trainer.h"

#include <memory>
#include <optional>
#include <vector>

struct brew_trainer {
  brew::api::Message message;
  std::shared_ptr<brew::runtime::Session> session; ///< outlives `trainer`
  std::unique_ptr<brew::runtime::Trainer> trainer;
  std::optional<brew::runtime::event::TestDone> lastTest;
  std::vector<brew_output_value> views;

  brew::runtime::Trainer &get() const {
    if (!trainer)
      throw brew::api::usage("the trainer could not be opened");
    return *trainer;
  }
};

namespace brew::api {

/// Calls body(trainer). The text of an exception becomes the trainer's message.
/// Functions of hooks may make the call.
template <typename Body>
brew_status readOf(brew_trainer *trainer, Body &&body) {
  if (!trainer)
    return BREW_USAGE;
  return guarded(trainer->message, [&] { body(trainer->get()); });
}

/// The same, but functions of hooks may not make the call.
template <typename Body> brew_status on(brew_trainer *trainer, Body &&body) {
  return readOf(trainer, [&](runtime::Trainer &runtimeTrainer) {
    refuseInHook(*trainer->session);
    body(runtimeTrainer);
  });
}

/// Calls body(trainer), ignoring exceptions; a no-op for a trainer that could
/// not be opened.
template <typename Body> void request(brew_trainer *trainer, Body &&body) {
  if (trainer && trainer->trainer)
    guard([&] { body(*trainer->trainer); }, [](const char *) {});
}

} // namespace brew::api
