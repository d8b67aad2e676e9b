/*===- hooks.h - Hooks: actions on a training run's schedule ------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|* docs/hooks.md describes the language of hooks.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_HOOKS_H
#define BREW_HOOKS_H

#include <brew/training.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of a hook with the action `call`. Pointers are valid during the
 * call. */
typedef struct brew_hook_call {
  size_t struct_size;
  const char *name;    /* of the hook */
  const char *trigger; /* "iteration" (also for hooks that are due in epochs),
                        * "test", "start", "stop", "pause", "resume" or
                        * "reset" */
  int iteration;       /* iterations done */
  double seconds;      /* since training began, in this run */
  const char *reason;  /* why its condition is met; "" without a condition */
  int background;      /* not 0: called on another thread than training */
} brew_hook_call;

/* On the training thread the function may
 *  - call functions marked "any thread": they request a stop, a snapshot, a
 *    field of the solver for the time after the hook,
 *  - read tensors, outputs, losses and metrics, and save weights,
 *  - on one rank, write tensors (brew_session_write, then
 *    brew_session_prepare).
 * Other functions of the session and the trainer, which train, test, run, load
 * or restore, return BREW_USAGE. In the background it may call only functions
 * marked "any thread". A status other than BREW_OK ends the training call with
 * that status; a hook in the background is disabled instead. */
typedef brew_status (*brew_hook_function)(const brew_hook_call *call,
                                          void *user);

/* Adds the hook described by one line, e.g. "every 100 iterations if train.loss
 * < 0.1 do snapshot". With a function, the action is `call`, which calls the
 * function, and may be omitted: "at test". Hooks remain until the trainer is
 * destroyed. Returns BREW_USAGE if the line is invalid (the message contains
 * the column), if this is not rank 0, or if a hook makes the call. */
BREW_API brew_status brew_trainer_add_hook(brew_trainer *trainer,
                                           const char *line,
                                           brew_hook_function function,
                                           void *user);
/* Adds all hooks of a file, or no hook on failure. Returns BREW_BAD_INPUT if
 * the file is invalid (the message contains line and column), and
 * BREW_UNAVAILABLE if it cannot be read. */
BREW_API brew_status brew_trainer_add_hooks(brew_trainer *trainer,
                                            const char *file);
/* Removes a hook. Returns BREW_USAGE if no hook has this name or another hook
 * needs it. */
BREW_API brew_status brew_trainer_remove_hook(brew_trainer *trainer,
                                              const char *name);
/* Makes conditions `external NAME` true at their next evaluation. Callable from
 * any thread. */
BREW_API void brew_trainer_raise_flag(brew_trainer *trainer, const char *name);

/* Writes the last value of a metric, named as in hooks and rules
 * (docs/brew-run.md: e.g. "test.accuracy", "train.loss", "hook.NAME"); NaN
 * before the first measurement. Returns BREW_USAGE if there is no such metric.
 */
BREW_API brew_status brew_trainer_metric(brew_trainer *trainer,
                                         const char *name, double *value);

#ifdef __cplusplus
}
#endif

#endif
