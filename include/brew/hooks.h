/*===- hooks.h - What happens at set times of a training run ------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls. The language of hooks is
|* described in docs/hooks.md.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_HOOKS_H
#define BREW_HOOKS_H

#include <brew/training.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call of a hook whose action is `call`. Pointers are valid during it. */
typedef struct brew_hook_call {
  size_t struct_size;
  const char *name;  /* of the hook */
  const char *trigger; /* "iteration" (of hooks due in epochs too), "test",
                      * "start", "stop", "pause" or "resume" */
  int iteration;     /* iterations done */
  double seconds;    /* since training began, in this run */
  const char *reason; /* why its condition holds; "": it has none */
  int background;     /* not 0: on another thread than training */
} brew_hook_call;

/* On the training thread it may call functions marked "any thread" and those
 * that read the session, in the background only the former. What is not BREW_OK
 * ends the training call with this status; of a hook in the background, the
 * hook. */
typedef brew_status (*brew_hook_function)(const brew_hook_call *call,
                                          void *user);

/* Adds the hook of one line, e.g. "every 100 iterations if train.loss < 0.1 do
 * snapshot", or with a function, which its action `call` calls: "at test". Hooks
 * stay until the trainer is destroyed. BREW_USAGE, with the column: the line is
 * none; it is not rank 0 that adds it; or a hook does. */
BREW_API brew_status brew_trainer_add_hook(brew_trainer *trainer,
                                           const char *line,
                                           brew_hook_function function,
                                           void *user);
/* Adds all hooks of a file, or none. BREW_BAD_INPUT, with line and column: it is
 * wrong; BREW_UNAVAILABLE: it cannot be read. */
BREW_API brew_status brew_trainer_add_hooks(brew_trainer *trainer,
                                            const char *file);
/* Takes a hook away. BREW_USAGE: there is none of this name, or another one
 * needs it. */
BREW_API brew_status brew_trainer_remove_hook(brew_trainer *trainer,
                                              const char *name);
/* Conditions `external NAME` hold when they are looked at next. Any thread. */
BREW_API void brew_trainer_raise_flag(brew_trainer *trainer, const char *name);
/* The last value of what hooks and rules can name (docs/brew-run.md: e.g.
 * "test.accuracy", "train.loss", "hook.NAME"); NaN before it was measured.
 * BREW_USAGE: there is none of this name. */
BREW_API brew_status brew_trainer_metric(brew_trainer *trainer,
                                         const char *name, double *value);

#ifdef __cplusplus
}
#endif

#endif
