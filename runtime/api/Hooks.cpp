//===- Hooks.cpp - C API: hooks -------------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/api/TrainerHandle.h"

#include <brew/hooks.h>

#include <limits>

using namespace brew;
using namespace brew::api;

namespace {

void callHook(brew_hook_function function, void *user,
              const runtime::HookCall &hookCall) {
  brew_hook_call cCall{};
  cCall.struct_size = sizeof cCall;
  cCall.name = hookCall.name.c_str();
  cCall.trigger = runtime::nameOf(hookCall.trigger);
  cCall.iteration = hookCall.iteration;
  cCall.seconds = hookCall.seconds;
  cCall.reason = hookCall.reason.c_str();
  cCall.background = hookCall.background;
  if (const brew_status status = function(&cCall, user); status != BREW_OK)
    throw Error(static_cast<ExitStatus>(status),
                "the function of hook '" + hookCall.name + "' has failed");
}

} // namespace

brew_status brew_trainer_add_hook(brew_trainer *trainer, const char *line,
                                  brew_hook_function function, void *user) {
  return readOf(trainer, [&](runtime::Trainer &runtimeTrainer) {
    runtime::HookFunction hookFunction;
    if (function)
      hookFunction = [function, user](const runtime::HookCall &hookCall) {
        callHook(function, user, hookCall);
      };
    runtimeTrainer.addHook(text(line, "the hook's line"),
                           std::move(hookFunction));
  });
}

brew_status brew_trainer_add_hooks(brew_trainer *trainer, const char *file) {
  return readOf(trainer, [&](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.addHooks(text(file, "the file's name"));
  });
}

brew_status brew_trainer_remove_hook(brew_trainer *trainer, const char *name) {
  return readOf(trainer, [&](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.removeHook(text(name, "the hook's name"));
  });
}

void brew_trainer_raise_flag(brew_trainer *trainer, const char *name) {
  if (name)
    request(trainer, [&](runtime::Trainer &runtimeTrainer) {
      runtimeTrainer.raiseFlag(name);
    });
}

brew_status brew_trainer_metric(brew_trainer *trainer, const char *name,
                                double *value) {
  return readOf(trainer, [&](runtime::Trainer &runtimeTrainer) {
    if (!value)
      throw usage("the pointer to the value is NULL");
    *value = runtimeTrainer.metric(text(name, "the metric's name"))
                 .value_or(std::numeric_limits<double>::quiet_NaN());
  });
}
