/*===- running.h - Running programs of a session ------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_RUNNING_H
#define BREW_RUNNING_H

#include <brew/events.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brew_pass {
  BREW_FORWARD = 0,
  BREW_BACKWARD = 1,
  BREW_FORWARD_BACKWARD = 2
} brew_pass;

/* Copies the next batch of every input into the program's memory. Call it
 * before every run, since a run reuses that memory. */
BREW_API brew_status brew_session_feed(brew_session *session, int program);
/* Runs a program or one pass of it. Returns BREW_BAD_INPUT if a check of the
 * data failed, e.g. for a label outside its classes. */
BREW_API brew_status brew_session_run(brew_session *session, int program,
                                      brew_pass pass);
/* Calls brew_session_feed(), then runs both passes of the program. */
BREW_API brew_status brew_session_feed_and_run(brew_session *session,
                                               int program);

/* Runs a pass for the layers from `first` to `last`, both included, in the
 * net's order (NULL: from the first, to the last). Consecutive ranges from the
 * first layer to the last are equivalent to the full pass. A range that starts
 * at a later layer reads the current values of its bottoms. Between runs, only
 * pinned blobs (outputs, brewc --keep) have valid values. Returns BREW_USAGE if
 * there are no such layers, or if the range would split a step that computes
 * several layers; the message names them. GPU plans compiled
 * --without=fuse-launches have more steps, and thus more valid ranges. Does not
 * check the data. */
BREW_API brew_status brew_session_run_layers(brew_session *session, int program,
                                             const char *first,
                                             const char *last, brew_pass pass);
/* Return the number of layers that ranges may name (0 on failure) and the name
 * of one of them, in order (NULL if there is no such layer). The name is valid
 * until the next call on the session. */
BREW_API size_t brew_session_layer_count(brew_session *session, int program);
BREW_API const char *brew_session_layer(brew_session *session, int program,
                                        size_t index);

/* Called for every step of a run, in order. */
typedef void (*brew_step_function)(size_t step, double seconds, void *user);
/* Runs both passes of a program and times each step. */
BREW_API brew_status brew_session_run_timed(brew_session *session, int program,
                                            brew_step_function step,
                                            void *user);

typedef struct brew_measurement {
  size_t struct_size;
  size_t graph_nodes;    /* of the CUDA graph; 0 without one */
  uint64_t device_bytes; /* memory allocated on the GPU */
} brew_measurement;

/* Runs programs one after the other, `count` times, timed by the device's own
 * clock and without checks of the data; `seconds` has room for `count` values.
 * `measurement` may be NULL. */
BREW_API brew_status brew_session_measure(brew_session *session,
                                          const int *programs,
                                          size_t program_count, int count,
                                          double *seconds,
                                          brew_measurement *measurement);

/* A library call that was tuned; pointers are valid during the call. */
typedef struct brew_tuned_call {
  size_t struct_size;
  int program;
  size_t step;
  const char *kind; /* "convolution", "inner product"; of the backward pass
                     * "convolution backward data", "... backward weights" */
  /* The implementation used without tuning, and the fastest, which is used from
   * now on; equal if no other one is faster. Names are the library's. */
  const char *untuned, *fastest;
  double untuned_seconds, fastest_seconds;
} brew_tuned_call;

typedef void (*brew_tune_function)(const brew_tuned_call *call, void *user);

/* Benchmarks the implementations of each library call of the plan, stores the
 * fastest ones in the session's timing cache, replacing earlier entries, and
 * uses them from now on. Calls `report` (which may be NULL) for each library
 * call, in order. Implementations may round differently. Invalidates blobs and
 * gradients; parameters and state are kept. Returns BREW_UNAVAILABLE if the
 * cache file cannot be written. */
BREW_API brew_status brew_session_tune(brew_session *session,
                                       brew_tune_function report, void *user);

/* Waits for all work on the device. */
BREW_API brew_status brew_session_synchronize(brew_session *session);
/* Sets the scalars of the program `update` to the values of the plan's solver
 * and this learning rate, in order to run it without a trainer. */
BREW_API brew_status brew_session_set_learning_rate(brew_session *session,
                                                    double rate);

/* Returns the net's outputs after a run, element by element. The array is valid
 * until the next call on the session. */
BREW_API brew_status brew_session_outputs(brew_session *session, int program,
                                          const brew_output_value **outputs,
                                          size_t *count);
/* Returns the weighted sum of all losses after a run. */
BREW_API brew_status brew_session_loss(brew_session *session, int program,
                                       double *loss);

/* Receives the outputs of one batch of brew_session_score(); pointers are valid
 * during the call. */
typedef void (*brew_batch_function)(int batch, const brew_output_value *outputs,
                                    size_t count, void *user);
/* Scores a net: feeds and runs `batches` batches, calls `batch` (which may be
 * NULL) after each, and returns the means of all outputs, valid until the next
 * call on the session, and the mean loss (NULL: not wanted). Emits the lines of
 * `debug_info` to the listeners. */
BREW_API brew_status brew_session_score(brew_session *session, int program,
                                        int batches, brew_batch_function batch,
                                        void *user,
                                        const brew_output_value **means,
                                        size_t *count, double *loss);

/* Emits BREW_EVENT_NET_SET_UP for a program, as a trainer does for its own
 * programs. */
BREW_API brew_status brew_session_emit_net_set_up(brew_session *session,
                                                  int program);
/* Emits the lines of `debug_info` for the last forward pass; no-op if the net
 * was compiled without it. */
BREW_API brew_status brew_session_emit_debug_info(brew_session *session,
                                                  int program);

#ifdef __cplusplus
}
#endif

#endif
