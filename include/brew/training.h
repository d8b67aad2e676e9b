/*===- training.h - Caffe's solver over a session -----------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TRAINING_H
#define BREW_TRAINING_H

#include <brew/events.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brew_trainer_options {
  size_t struct_size;
  /* Solver fields that override the plan's: names as in the prototxt, values as
   * text, lists separated by commas. */
  const char *const *field_names;
  const char *const *field_values;
  size_t field_count;
  /* Weight files to start from, each name a file or a list separated by commas;
   * empty: the files named by the solver's `weights` or by the plan. */
  const char *const *weights;
  size_t weight_count;
  /* Solver state to resume from, instead of weights; NULL for none. */
  const char *snapshot;
  /* f16: the initial loss scale; NULL: the plan's or the snapshot's scale. */
  const double *loss_scale;
  /* If not 0, resumes from the newest intact snapshot of the solver's prefix
   * and skips damaged ones with a warning each. Without an intact snapshot,
   * starts as if this field were 0. Cannot be combined with `snapshot`. */
  int resume;
  /* The number of snapshots of this run to keep; older ones are deleted once a
   * newer one is on the device. 0 keeps all. */
  int keep_snapshots;
  /* testN.BLOB (test: of the first test net): whenever a test of the solver
   * yields its best value so far, writes PREFIX_best_testN.BLOB.caffemodel and
   * .solverstate, which do not count as snapshots to keep. Lower is better for
   * losses, higher for the tops of Accuracy layers; the suffix ":min" or ":max"
   * states it for any blob. NULL for none. */
  const char *snapshot_best;
  /* Checks for NaN and Inf in every iteration of solve and step. The first one
   * ends the call with BREW_BAD_INPUT and a message that names layer, blob and
   * iteration; parameters, readers and state are restored to those before the
   * iteration. */
  int check_nan;
  /* Rules such as "test.accuracy >= 0.99 or time > 3600" (docs/brew-run.md):
   * solve and step end when one of them is met. solve then also does what Caffe
   * does at its end. Opening the trainer returns BREW_USAGE if a text is not a
   * valid rule. */
  const char *const *stop_when;
  size_t stop_when_count;
  /* "N[:METRIC[:min|:max]]": likewise after N tests without improvement; NULL
   * for none. */
  const char *patience;
  /* Folder for metrics.jsonl and TensorBoard's event files; NULL for none. */
  const char *log_folder;
  /* Resumes from the solver's own snapshot of the latest iteration if it was
   * written at this time (seconds since 1970) or later; else starts as the
   * other fields say. NULL: disabled. */
  const int64_t *resume_since;
  /* On several ranks: each rank tests its share of the batches; otherwise rank
   * 0 tests. Not supported with eval_type "detection" (BREW_USAGE). */
  int distribute_tests;
  /* On several ranks, on the CPU: each rank updates its shard of the parameters
   * and keeps the solver history of that shard. */
  int shard_update;
  /* Files of hooks (hooks.h). On several ranks only rank 0 has hooks. */
  const char *const *hooks;
  size_t hook_count;
} brew_trainer_options;

/* Checks the solver, initializes the session's parameters and seed, and opens
 * the sources of all inputs that the caller does not override. A session can
 * have one trainer. `options` may be NULL. */
BREW_API brew_status brew_trainer_open(brew_session *session,
                                       const brew_trainer_options *options,
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

typedef enum brew_field_kind {
  BREW_FIELD_REAL = 0,
  BREW_FIELD_INTEGER = 1,
  BREW_FIELD_INTEGER64 = 2,
  BREW_FIELD_BOOLEAN = 3,
  BREW_FIELD_TEXT = 4,
  BREW_FIELD_INTEGERS = 5 /* any number of integers, separated by commas */
} brew_field_kind;

/* A solver field that callers may set. Its pointers never become invalid. */
typedef struct brew_solver_field {
  size_t struct_size;
  const char *name; /* as in the prototxt */
  const char *flag; /* of brew-run, without dashes */
  const char *help; /* one line */
  brew_field_kind kind;
  int while_training; /* whether it may change between iterations */
} brew_solver_field;

/* The table of solver fields. Callable from any thread. */
BREW_API size_t brew_solver_field_count(void);
BREW_API brew_status brew_solver_field_get(size_t index,
                                           brew_solver_field *field);

#ifdef __cplusplus
}
#endif

#endif
