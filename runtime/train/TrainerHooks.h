//===- TrainerHooks.h - Hooks of a training run -----------------*- C++ -*-===//
#pragma once

#include "runtime/train/hooks/Hooks.h"

#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

class Trainer;

/// A trainer's hooks, and their view of the trainer.
class TrainerHooks {
public:
  TrainerHooks(Trainer &trainer, int testNets,
               std::vector<std::string> folders);
  ~TrainerHooks();
  Hooks &get() { return *hooks; }
  const Hooks &get() const { return *hooks; }

private:
  class Access;
  std::unique_ptr<Access> access;
  std::unique_ptr<Hooks> hooks;
};

} // namespace brew::runtime
