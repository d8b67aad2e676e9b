/*===- training.h - Caffe's solver over a session -----------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TRAINING_H
#define BREW_TRAINING_H

#include <brew/events.h>
#include <brew/options.h>
#include <brew/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the solver, initializes the session's parameters and seed, and opens
 * the sources of all inputs that the caller does not override. A session can
 * have one trainer. `options` may be NULL. */
BREW_API brew_status brew_trainer_open(brew_session *session,
                                       const brew_options *options,
                                       brew_trainer **trainer);

/* The nets of a training run whose caller runs them, for example layer by
 * layer. The trainer calls the functions, on its thread, in place of the passes
 * of a plan. A function that returns another status than BREW_OK ends the
 * trainer's call with it. */
typedef struct brew_caller_nets {
  size_t struct_size;
  void *user; /* passed to the functions */
  /* The solver: an encoded SolverParameter. Its nets and weights are not read.
   * There is a test net for each test_iter. */
  const void *solver;
  size_t solver_size;

  /* Runs the passes of an iteration. Sets the gradients of the parameters to
   * their sums over iter_size batches, and `loss` to the mean loss of the
   * batches. */
  brew_status (*compute_gradients)(void *user, double *loss);
  /* Runs a forward pass of the training net. */
  brew_status (*forward)(void *user, double *loss);
  /* Returns the outputs of the training net's last pass. They must stay valid
   * until the next call of a function. */
  brew_status (*outputs)(void *user, const brew_output_value **outputs,
                         size_t *count);
  /* Called immediately before each update, also by brew_trainer_update(). */
  brew_status (*prepare_update)(void *user);
  /* Runs a batch of a test net. The outputs must stay valid until the next call
   * of a function. */
  brew_status (*test)(void *user, int net, double *loss,
                      const brew_output_value **outputs, size_t *count);
  /* Returns the weights of the training net, with diffs if `diffs` is not 0.
   * The trainer copies their values before it calls another function, and does
   * not destroy them. */
  brew_status (*weights)(void *user, int diffs, brew_weights **weights);
  /* Loads a weight file, of a snapshot: all of its weights, or none if the
   * function fails. */
  brew_status (*load_weights)(void *user, const char *path);
} brew_caller_nets;

/* Opens a trainer of nets that the caller runs and has initialized. The plan of
 * the session is the one of a solver whose net has the same parameters, in the
 * same order; it must use the memory of their values and gradients
 * (brew_session_bind_memory()). The trainer runs only its program `update`.
 * Snapshots contain neither seeds nor positions of data, and are complete when
 * the next function is called. Hooks cannot use test nets, and there are
 * neither checks for NaN nor restarts. */
BREW_API brew_status brew_trainer_open_for_nets(brew_session *session,
                                                const brew_options *options,
                                                const brew_caller_nets *nets,
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

/* Takes over the iteration, the state of the learning rate, the last losses and
 * the solver history of another trainer, for example one whose plan updates
 * with another regularization. Returns BREW_BAD_INPUT and changes nothing if
 * its parameters or the kind of its solver differ. */
BREW_API brew_status brew_trainer_continue_from(brew_trainer *trainer,
                                                const brew_trainer *other);

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
 * requests. A trainer of the caller's nets refuses the other calls of this
 * group; this one uses the gradients in the memory of the nets. */
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

/* Replaces the solver at once by an encoded SolverParameter of `size` bytes.
 * Only on the thread that trains; functions of the caller's nets may call it.
 * Returns BREW_BAD_INPUT if the plan cannot be trained with this solver, and
 * BREW_UNAVAILABLE if snapshots cannot be written. The solver then stays. */
BREW_API brew_status brew_trainer_set_solver(brew_trainer *trainer,
                                             const void *solver, size_t size);

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
