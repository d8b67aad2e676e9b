/*===- running.h - Running programs of a session ------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
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

/* Brings the next batch of every input into the program's memory. Due before
 * every run, as that memory is used again within a run. */
BREW_API brew_status brew_session_feed(brew_session *session, int program);
/* Runs a program or one pass of it. BREW_BAD_INPUT: a check of the data failed,
 * e.g. a label outside its classes. */
BREW_API brew_status brew_session_run(brew_session *session, int program,
                                      brew_pass pass);
/* brew_session_feed(), then the whole program. */
BREW_API brew_status brew_session_feed_and_run(brew_session *session,
                                               int program);

/* Runs a pass for the layers from `first` to `last`, both included, in the
 * net's order (NULL: from the first, to the last). Ranges that follow each
 * other from the first layer to the last are the same as the whole. A range
 * that begins later reads what is there of its bottoms: between runs only blobs
 * that the plan keeps are (outputs, brewc --pin). BREW_USAGE: no such layers,
 * or the range would cut a step that computes for several layers at once; the
 * message names them. Plans for GPUs have more steps, and so more ranges, if
 * they are compiled --without=fuse-launches. Data are not checked. */
BREW_API brew_status brew_session_run_layers(brew_session *session, int program,
                                             const char *first,
                                             const char *last, brew_pass pass);
/* The layers that ranges are made of, in their order; 0 on failure. The name is
 * valid until the next call on the session; NULL if there is none. */
BREW_API size_t brew_session_layer_count(brew_session *session, int program);
BREW_API const char *brew_session_layer(brew_session *session, int program,
                                        size_t index);

/* Called for every step of a run, in order. */
typedef void (*brew_step_function)(size_t step, double seconds, void *user);
/* Runs the whole program, timing each step. */
BREW_API brew_status brew_session_run_timed(brew_session *session, int program,
                                            brew_step_function step,
                                            void *user);

typedef struct brew_measurement {
  size_t struct_size;
  size_t graph_nodes;    /* of the CUDA graph; 0 without one */
  uint64_t device_bytes; /* memory held on the GPU */
} brew_measurement;

/* Runs programs one after the other, `count` times, by the device's own clock
 * and without looking at their checks; `seconds` has room for `count` values.
 * `measurement` may be NULL. */
BREW_API brew_status brew_session_measure(brew_session *session,
                                          const int *programs,
                                          size_t program_count, int count,
                                          double *seconds,
                                          brew_measurement *measurement);
/* A library call that was measured; pointers are valid during the call. */
typedef struct brew_tuned_call {
  size_t struct_size;
  int program;
  size_t step;
  const char *kind; /* "convolution", "inner product"; of the backward pass
                     * "convolution by the data", "... by the weights" */
  /* What is taken unmeasured, and the fastest, which is taken from now on; the
   * same if none is faster. Names are the library's. */
  const char *untuned, *fastest;
  double untuned_seconds, fastest_seconds;
} brew_tuned_call;
typedef void (*brew_tune_function)(const brew_tuned_call *call, void *user);
/* Measures the ways to do each library call of the plan, keeps the fastest in
 * the session's timing cache, whatever that said, and does the calls so from
 * now on; calls `tell` (which may be NULL) for each of them, in order.
 * Different ways may round differently. What blobs and gradients hold is lost;
 * parameters and state stay. BREW_UNAVAILABLE: the cache's file cannot be
 * written. */
BREW_API brew_status brew_session_tune(brew_session *session,
                                       brew_tune_function tell, void *user);
/* Waits for all that runs on a device. */
BREW_API brew_status brew_session_synchronize(brew_session *session);

/* Gives `update` its numbers for running it without a trainer: the plan's
 * solver's, with this learning rate. */
BREW_API brew_status brew_session_set_learning_rate(brew_session *session,
                                                    double rate);

/* After a run: the net's outputs, element by element. The array is valid until
 * the next call on the session. */
BREW_API brew_status brew_session_outputs(brew_session *session, int program,
                                          const brew_output_value **outputs,
                                          size_t *count);
/* After a run: the weighted sum of all losses. */
BREW_API brew_status brew_session_loss(brew_session *session, int program,
                                       double *loss);

/* What a batch of brew_session_score() left; pointers are valid during the
 * call.
 */
typedef void (*brew_batch_function)(int batch, const brew_output_value *outputs,
                                    size_t count, void *user);
/* Scores a net: feeds and runs so many batches, calls `batch` (which may be
 * NULL) after each, and gives the means of all outputs, valid until the next
 * call on the session, and the mean loss (NULL: not wanted). Listeners hear
 * what `debug_info` shows. */
BREW_API brew_status brew_session_score(brew_session *session, int program,
                                        int batches, brew_batch_function batch,
                                        void *user,
                                        const brew_output_value **means,
                                        size_t *count, double *loss);

/* Tells listeners of a program's net (BREW_EVENT_NET_SET_UP), as training does
 * of its own. */
BREW_API brew_status brew_session_emit_net_set_up(brew_session *session, int program);
/* Tells listeners what `debug_info` shows of the last forward pass; nothing if
 * the net was compiled without it. */
BREW_API brew_status brew_session_emit_debug_info(brew_session *session,
                                                  int program);

#ifdef __cplusplus
}
#endif

#endif
