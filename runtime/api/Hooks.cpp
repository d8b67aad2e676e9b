//===- Hooks.cpp - C API: hooks -------------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/api/TrainerHandle.h"

#include <brew/hooks.h>

#include <limits>

using namespace brew;
using namespace brew::api;

namespace {

void call(brew_hook_function function, void *user,
          const runtime::HookCall &from) {
  brew_hook_call seen{};
  seen.struct_size = sizeof seen;
  seen.name = from.name.c_str();
  seen.trigger = runtime::nameOf(from.trigger);
  seen.iteration = from.iteration;
  seen.seconds = from.seconds;
  seen.reason = from.reason.c_str();
  seen.background = from.background;
  if (const brew_status status = function(&seen, user); status != BREW_OK)
    throw Error(static_cast<ExitStatus>(status),
                "the function of hook '" + from.name + "' has failed");
}

} // namespace

brew_status brew_trainer_add_hook(brew_trainer *trainer, const char *line,
                                  brew_hook_function function, void *user) {
  return on(trainer, [&](runtime::Trainer &it) {
    runtime::HookFunction bound;
    if (function)
      bound = [function, user](const runtime::HookCall &from) {
        call(function, user, from);
      };
    it.addHook(text(line, "the hook's line"), std::move(bound));
  });
}

brew_status brew_trainer_add_hooks(brew_trainer *trainer, const char *file) {
  return on(trainer, [&](runtime::Trainer &it) {
    it.addHooks(text(file, "the file's name"));
  });
}

brew_status brew_trainer_remove_hook(brew_trainer *trainer, const char *name) {
  return on(trainer, [&](runtime::Trainer &it) {
    it.removeHook(text(name, "the hook's name"));
  });
}

void brew_trainer_raise_flag(brew_trainer *trainer, const char *name) {
  if (name)
    request(trainer, [&](runtime::Trainer &it) { it.raiseFlag(name); });
}

brew_status brew_trainer_metric(brew_trainer *trainer, const char *name,
                                double *value) {
  return on(trainer, [&](runtime::Trainer &it) {
    if (!value)
      throw usage("the pointer to the value is NULL");
    *value = it.metric(text(name, "the metric's name"))
                 .value_or(std::numeric_limits<double>::quiet_NaN());
  });
}
