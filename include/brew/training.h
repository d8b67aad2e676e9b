/*===- training.h - Caffe's solver over a session -----------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
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
  /* Solver fields instead of the plan's: names as in the prototxt, values as
   * text, lists separated by commas. */
  const char *const *field_names;
  const char *const *field_values;
  size_t field_count;
  /* Weight files to start from, each name a file or a list separated by commas;
   * none: what the solver's `weights` or the plan name. */
  const char *const *weights;
  size_t weight_count;
  /* Solver state to resume from, instead of weights; NULL: none. */
  const char *snapshot;
  /* f16: what losses are multiplied by at first; NULL: the plan's or the
   * snapshot's scale. */
  const double *loss_scale;
  /* Not 0: resume from the newest intact snapshot of the solver's prefix;
   * damaged ones are passed over with a warning each. If there is none, begin
   * as without. Not with `snapshot`. */
  int resume;
  /* How many of the snapshots that the run writes to keep; older ones are
   * deleted once a newer one is on the device. 0: all. */
  int keep_snapshots;
  /* testN.BLOB (test: of the first test net): whenever a test of the solver
   * gives it its best value so far, PREFIX_best_testN.BLOB.caffemodel and
   * .solverstate are written, which are not counted among those to keep. Lower
   * is better for losses, higher for the tops of Accuracy layers; ":min" or
   * ":max" behind it says so of any. NULL: none. */
  const char *snapshot_best;
  /* Looks for NaN and Inf in every iteration of solve and step. The first ends
   * the call with BREW_BAD_INPUT and a message that names layer, blob and
   * iteration; parameters, readers and state are those from before it. */
  int check_nan;
  /* Rules such as "test.accuracy >= 0.99 or time > 3600" (docs/brew-run.md):
   * solve and step end when one holds, solve with what Caffe does at its end.
   * BREW_USAGE: a text is no rule. */
  const char *const *stop_when;
  size_t stop_when_count;
  /* "N[:METRIC[:min|:max]]": likewise after N tests without improvement; NULL:
   * none. */
  const char *patience;
  /* Folder for metrics.jsonl and TensorBoard's event files; NULL: none. */
  const char *log_folder;
  /* Resumes from the solver's own snapshot of the latest iteration, if there is
   * one that was written at this time (seconds since 1970) or later; else as the
   * other fields say. NULL: no. */
  const int64_t *resume_since;
  /* On several ranks: each tests its share of the batches; else rank 0 tests.
   * Not with eval_type "detection" (BREW_USAGE). */
  int distribute_tests;
  /* On several ranks, on the CPU: each updates its part of the parameters and
   * keeps the solver history of that part. */
  int shard_update;
  /* Files of hooks (hooks.h). On several ranks they are rank 0's. */
  const char *const *hooks;
  size_t hook_count;
} brew_trainer_options;

/* Checks the solver, initialises the session's parameters and seed and opens
 * the sources that were not taken over. One trainer per session. `options` may
 * be NULL. */
BREW_API brew_status brew_trainer_open(brew_session *session,
                                       const brew_trainer_options *options,
                                       brew_trainer **trainer);
BREW_API const char *brew_trainer_message(const brew_trainer *trainer);
BREW_API void brew_trainer_destroy(brew_trainer *trainer);

/* Trains to max_iter with everything Caffe does around it: tests, displays,
 * snapshots. These are written while training goes on; what goes wrong with one
 * ends a later iteration, or the call at its end. */
BREW_API brew_status brew_trainer_solve(brew_trainer *trainer);
/* Likewise for so many iterations more, or until a stop is requested. */
BREW_API brew_status brew_trainer_step(brew_trainer *trainer, int iterations);
/* Whether a request has ended the last of these. */
BREW_API int brew_trainer_stopped(const brew_trainer *trainer);

BREW_API int brew_trainer_test_net_count(const brew_trainer *trainer);
/* Runs a test net over its test_iter batches, or over `batches` if that is not
 * 0. Means of its outputs, valid until the next call on the trainer, and
 * their number; none if a request has interrupted it. Both may be NULL. */
BREW_API brew_status brew_trainer_test(brew_trainer *trainer, int net,
                                       int batches,
                                       const brew_output_value **outputs,
                                       size_t *count);
/* Writes weights and state, as Caffe names them. */
BREW_API brew_status brew_trainer_snapshot(brew_trainer *trainer);
/* Goes on from a snapshot: weights, history, iteration and readers. */
BREW_API brew_status brew_trainer_restore(brew_trainer *trainer,
                                          const char *path);

/*
 * An iteration in the caller's hands:
 *   forward, backward, update; or
 *   forward, backward, accumulate, forward, backward, ..., update.
 * Between forward and backward the caller may read blobs and write gradients
 * that the plan takes from it (brewc --output-gradient). Nothing is tested, displayed or
 * snapshot on its own.
 */

/* Feeds the next batch, unless `feed` is 0, and runs the forward pass. `loss`
 * (the weighted sum of losses) may be NULL. */
BREW_API brew_status brew_trainer_forward(brew_trainer *trainer, int feed,
                                          double *loss);
/* The backward pass of the last forward pass; its gradients replace those of
 * the last backward pass unless they were accumulated. */
BREW_API brew_status brew_trainer_backward(brew_trainer *trainer);
/* Keeps the last gradients: the next ones are added to them. */
BREW_API brew_status brew_trainer_accumulate(brew_trainer *trainer);
/* Updates the parameters with the sum, clipped and divided by iter_size as the
 * solver says, and goes on to the next iteration. Acts on requests. */
BREW_API brew_status brew_trainer_update(brew_trainer *trainer);

BREW_API int brew_trainer_iteration(const brew_trainer *trainer);
BREW_API double brew_trainer_smoothed_loss(const brew_trainer *trainer);
/* The rate of the next update. Between iterations, fields that were set since
 * the last one count already. */
BREW_API double brew_trainer_learning_rate(const brew_trainer *trainer);

/* Requests, acted on between two iterations (stop and snapshot also between two
 * batches of a test). Any thread, not from signal handlers. */
BREW_API void brew_trainer_pause(brew_trainer *trainer);
BREW_API void brew_trainer_resume(brew_trainer *trainer);
BREW_API void brew_trainer_stop(brew_trainer *trainer);
BREW_API void brew_trainer_request_snapshot(brew_trainer *trainer);
/* Training begins again as it was begun, from its fillers, weight files or
 * snapshot, with its seed; fields that were set since stay. A call of solve or
 * of a learner goes on from there, one of step to the iteration that it would
 * have reached; what is paused stays so (a learner until its next update). A
 * failure's words go to `message`, as those of brew_trainer_set_field() do.
 * BREW_USAGE: several ranks; BREW_UNAVAILABLE: a file that training was begun
 * with is gone. The run then goes on as it is. */
BREW_API brew_status brew_trainer_reset(brew_trainer *trainer, char *message,
                                        size_t size);
/* The next iteration of solve or step is run with a clock at each step of the
 * training program, which BREW_EVENT_STEP_TIMES tells. */
BREW_API void brew_trainer_request_step_times(brew_trainer *trainer);

/* Changes a field of the solver from the next iteration on, by its name in the
 * prototxt. Any thread: a failure's words go to `message`, which has room for
 * `size` bytes (NULL: nowhere). BREW_USAGE: no such field, not one that may
 * change while training, or no value of it; BREW_BAD_INPUT: the plan cannot be
 * trained so. The field then stays as it is. */
BREW_API brew_status brew_trainer_set_field(brew_trainer *trainer,
                                            const char *field,
                                            const char *value, char *message,
                                            size_t size);
/* The value that holds from the next iteration on, as text in `value`, which
 * has room for `size` bytes. BREW_USAGE: no such field, or too little room. Any
 * thread. */
BREW_API brew_status brew_trainer_get_field(const brew_trainer *trainer,
                                            const char *field, char *value,
                                            size_t size);

typedef enum brew_solver_action {
  BREW_ACTION_NONE = 0,
  BREW_ACTION_STOP = 1,
  BREW_ACTION_SNAPSHOT = 2
} brew_solver_action;

/* Asked after every iteration and before every batch of a test, on the training
 * thread, and once more after BREW_ACTION_SNAPSHOT: for signals. NULL: nobody.
 */
typedef brew_solver_action (*brew_action_function)(void *user);
BREW_API brew_status brew_trainer_set_action_function(brew_trainer *trainer,
                                                    brew_action_function source,
                                                    void *user);

typedef enum brew_field_kind {
  BREW_FIELD_REAL = 0,
  BREW_FIELD_INTEGER = 1,
  BREW_FIELD_INTEGER64 = 2,
  BREW_FIELD_BOOLEAN = 3,
  BREW_FIELD_TEXT = 4,
  BREW_FIELD_INTEGERS = 5 /* any number of them, separated by commas */
} brew_field_kind;

/* A solver field that callers may set. Its pointers are valid for ever. */
typedef struct brew_solver_field {
  size_t struct_size;
  const char *name; /* as in the prototxt */
  const char *flag; /* of brew-run, without dashes */
  const char *help; /* one line */
  brew_field_kind kind;
  int while_training; /* whether it may change between iterations */
} brew_solver_field;

/* The table of them; any thread. */
BREW_API size_t brew_solver_field_count(void);
BREW_API brew_status brew_solver_field_get(size_t index,
                                           brew_solver_field *field);

#ifdef __cplusplus
}
#endif

#endif
