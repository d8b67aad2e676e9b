//===- TrainerHandle.h - What stands behind a trainer's handle --*- C++ -*-===//
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
  std::optional<brew::runtime::event::TestDone> tested;
  std::vector<brew_output_value> views;

  brew::runtime::Trainer &get() const {
    if (!trainer)
      throw brew::api::usage("the trainer could not be opened");
    return *trainer;
  }
};
