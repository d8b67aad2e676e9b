/*===- training.h - Caffe's solver over a session -----------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TRAINING_H
#define BREW_TRAINING_H

#include <brew/events.h>
#include <brew/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the solver, initializes the session's parameters and seed, and opens
 * the sources of all inputs that the caller does not override. A session can
 * have one trainer. `options` may be NULL. */
BREW_API brew_status brew_trainer_open(brew_session *session,
                                       const brew_options *options,
                                       brew_trainer **trainer);
BREW_API const char *brew_trainer_message(const brew_trainer *trainer);
BREW_API void brew_trainer_destroy(brew_trainer *trainer);

/* Trains to max_iter as Caffe does, with tests, displays and snapshots.
 * Snapshots are written while training continues; a write error ends a later
 * iteration, or the call at its end. */
BREW_API brew_status brew_trainer_solve(brew_trainer *trainer);
/* Trains likewise for `iterations` more iterations, or until a stop is
 * requested. */
BREW_API brew_status brew_trainer_step(brew_trainer *trainer, int iterations);
/* Returns whether a request ended the last of these calls. */
BREW_API int brew_trainer_stopped(const brew_trainer *trainer);

BREW_API int brew_trainer_test_net_count(const brew_trainer *trainer);
/* Runs a test net over its test_iter batches, or over `batches` if that is not
 * 0. Returns the means of its outputs, valid until the next call on the
 * trainer, and their number, which is 0 if a request interrupted the test. Both
 * pointers may be NULL. */
BREW_API brew_status brew_trainer_test(brew_trainer *trainer, int net,
                                       int batches,
                                       const brew_output_value **outputs,
                                       size_t *count);

/* Writes weights and state, under Caffe's file names. */
BREW_API brew_status brew_trainer_snapshot(brew_trainer *trainer);
/* Restores weights, history, iteration and readers from a snapshot. */
BREW_API brew_status brew_trainer_restore(brew_trainer *trainer,
                                          const char *path);

/*
 * An iteration in separate passes:
 *   forward, backward, update; or
 *   forward, backward, accumulate, forward, backward, ..., update.
 * Between forward and backward the caller may read blobs and write output
 * gradients (brewc --output-gradient). These calls neither test, display nor
 * write snapshots.
 */

/* Feeds the next batch, unless `feed` is 0, and runs the forward pass. `loss`
 * (the weighted sum of losses) may be NULL. */
BREW_API brew_status brew_trainer_forward(brew_trainer *trainer, int feed,
                                          double *loss);
/* Runs the backward pass of the last forward pass. Its gradients replace those
 * of the last backward pass unless they were accumulated. */
BREW_API brew_status brew_trainer_backward(brew_trainer *trainer);
/* Keeps the last gradients: later backward passes add to them. */
BREW_API brew_status brew_trainer_accumulate(brew_trainer *trainer);
/* Updates the parameters with the sum of the gradients, clipped and divided by
 * iter_size as the solver says, and starts the next iteration. Acts on
 * requests. */
BREW_API brew_status brew_trainer_update(brew_trainer *trainer);

BREW_API int brew_trainer_iteration(const brew_trainer *trainer);
BREW_API double brew_trainer_smoothed_loss(const brew_trainer *trainer);
/* Returns the learning rate of the next update. Between iterations it includes
 * fields that were set since the last iteration. */
BREW_API double brew_trainer_learning_rate(const brew_trainer *trainer);

/* These requests are carried out between two iterations (stop and snapshot also
 * between two batches of a test). They may be made from any thread, but not in
 * signal handlers. */
BREW_API void brew_trainer_pause(brew_trainer *trainer);
BREW_API void brew_trainer_resume(brew_trainer *trainer);
BREW_API void brew_trainer_stop(brew_trainer *trainer);
BREW_API void brew_trainer_request_snapshot(brew_trainer *trainer);
/* Restarts training as it started, from its fillers, weight files or snapshot,
 * with its seed; solver fields that were set since keep their values. A call of
 * solve or of a learner continues from there; a call of step continues to the
 * iteration that it would have reached. A paused trainer stays paused (a
 * learner until its next update). Writes the error message to `message`, as
 * brew_trainer_set_field() does. Returns BREW_USAGE on several ranks, and
 * BREW_UNAVAILABLE if a file that training started from is gone. Training then
 * continues unchanged. */
BREW_API brew_status brew_trainer_reset(brew_trainer *trainer, char *message,
                                        size_t size);
/* Times each step of the training program in the next iteration of solve or
 * step, which emits BREW_EVENT_STEP_TIMES. */
BREW_API void brew_trainer_request_step_times(brew_trainer *trainer);

/* Changes a field of the solver from the next iteration on, by its name in the
 * prototxt. Callable from any thread. Writes the error message to `message`,
 * which has room for `size` bytes (NULL: discards it). Returns BREW_USAGE if
 * there is no such field, if it may not change while training, or if the value
 * is invalid, and BREW_BAD_INPUT if the plan cannot be trained with this value.
 * The field then keeps its value. */
BREW_API brew_status brew_trainer_set_field(brew_trainer *trainer,
                                            const char *field,
                                            const char *value, char *message,
                                            size_t size);
/* Writes the value that applies from the next iteration on, as text, to
 * `value`, which has room for `size` bytes. Returns BREW_USAGE if there is no
 * such field or `value` is too small. Callable from any thread. */
BREW_API brew_status brew_trainer_get_field(const brew_trainer *trainer,
                                            const char *field, char *value,
                                            size_t size);

typedef enum brew_solver_action {
  BREW_ACTION_NONE = 0,
  BREW_ACTION_STOP = 1,
  BREW_ACTION_SNAPSHOT = 2
} brew_solver_action;

/* Called after every iteration and before every batch of a test, on the
 * training thread, and once more after BREW_ACTION_SNAPSHOT. Lets the caller
 * handle signals. NULL removes the function. */
typedef brew_solver_action (*brew_action_function)(void *user);
BREW_API brew_status brew_trainer_set_action_function(
    brew_trainer *trainer, brew_action_function function, void *user);

#ifdef __cplusplus
}
#endif

#endif
