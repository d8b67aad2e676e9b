/*===- events.h - Events that sessions emit -----------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_EVENTS_H
#define BREW_EVENTS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One element of an output of a net. Passed in arrays, so it never grows. */
typedef struct brew_output_value {
  const char *blob;
  double value;
  double loss_weight; /* 0 if the blob is not a loss */
} brew_output_value;

/* The comments list the fields of brew_event that are set. */
typedef enum brew_event_kind {
  /* severity, site_file, site_line, text */
  BREW_EVENT_LOG = 0,
  /* text: the solver as prototxt */
  BREW_EVENT_SOLVER_SET_UP = 1,
  /* name: of the program; net */
  BREW_EVENT_NET_SET_UP = 2,
  /* number: the seed of all random numbers */
  BREW_EVENT_SEED = 3,
  /* the nets are set up; weights follow */
  BREW_EVENT_SOLVER_READY = 4,
  /* file; flag: loaded for training */
  BREW_EVENT_WEIGHTS_LOADING = 5,
  /* file; flag: loads the history; 0: loads the weights */
  BREW_EVENT_SNAPSHOT_LOADING = 6,
  /* name: of the net; text: the learning rate policy; iteration,
   * max_iteration */
  BREW_EVENT_SOLVING_BEGIN = 7,
  /* every iteration: iteration, loss, smoothed_loss, learning_rate,
   * seconds since the first iteration of the call began (with separate
   * passes: since the iteration's own first forward pass) */
  BREW_EVENT_ITERATION = 8,
  /* iteration, smoothed_loss, seconds since the last display, rate:
   * iterations per second, number: the solver's `display`, outputs */
  BREW_EVENT_DISPLAY = 9,
  /* iteration, learning_rate; flag: displayed; number: steps that
   * multistep or plateau has now taken, or -1 */
  BREW_EVENT_LEARNING_RATE = 10,
  /* iteration, norm, limit, factor */
  BREW_EVENT_GRADIENTS_CLIPPED = 11,
  /* iteration: iterations done, max_iteration, smoothed_loss, seconds,
   * number: iterations done in this call; flag: last event of the call */
  BREW_EVENT_PROGRESS = 12,
  /* iteration, net */
  BREW_EVENT_TEST_BEGIN = 13,
  /* iteration, net, outputs (means), loss (NaN unless test_compute_loss) */
  BREW_EVENT_TEST_DONE = 14,
  /* iteration, net */
  BREW_EVENT_TEST_INTERRUPTED = 15,
  /* file; flag: writes the state; 0: writes the weights */
  BREW_EVENT_SNAPSHOT_WRITING = 16,
  /* iteration, file: weights, state_file */
  BREW_EVENT_SNAPSHOT = 17,
  /* name: of the layer, number: of waits for its data, seconds */
  BREW_EVENT_DATA_STALL = 18,
  /* iteration */
  BREW_EVENT_PAUSED = 19,
  /* iteration */
  BREW_EVENT_RESUMED = 20,
  /* iteration: the first with the new value; name, text */
  BREW_EVENT_FIELD_SET = 21,
  /* iteration, smoothed_loss */
  BREW_EVENT_FINAL_LOSS = 22,
  /* iteration: iterations done; flag: stopped by a request */
  BREW_EVENT_SOLVING_DONE = 23,
  /* after a display: iteration, rate: items per second (0: no inputs),
   * seconds left in the call, number: of waits for data */
  BREW_EVENT_THROUGHPUT = 24,
  /* iteration: iterations done; text: reason */
  BREW_EVENT_STOPPED_BY_RULE = 25,
  /* iteration: the one that training restarts from */
  BREW_EVENT_RESET = 26,
  /* iteration, step_count, step_seconds: of each step of the training
   * program */
  BREW_EVENT_STEP_TIMES = 27,
  /* an episode of a learner: iteration: updates done, number: of episodes so
   * far, outputs: the metrics episode.NAME (docs/brew-run.md), flag: the
   * solver's `display` selects it */
  BREW_EVENT_EPISODE = 28,
  /* a hook has changed parameters: iteration: the first with the new values,
   * text: the action, flag: it may happen in every iteration */
  BREW_EVENT_PARAMETERS_CHANGED = 29
} brew_event_kind;

typedef enum brew_log_severity {
  BREW_LOG_INFO = 0,
  BREW_LOG_WARNING = 1,
  BREW_LOG_ERROR = 2,
  /* An error that ends the program, which prints it itself: brew_log() writes
   * such a line only to glog's log files. */
  BREW_LOG_FATAL = 3
} brew_log_severity;

/* An event. brew_event_kind lists the fields that each kind sets; the others
 * are zero. Pointers are valid during the call of the listener. Later versions
 * may emit further kinds: ignore unknown kinds. */
typedef struct brew_event {
  size_t struct_size;
  brew_event_kind kind;
  int iteration;     /* counted from 0 */
  int max_iteration; /* the solver's max_iter */
  int net;           /* number of the test net; -1: not a test net */
  int flag;
  int64_t number;
  double loss, smoothed_loss, learning_rate;
  double seconds, rate;
  double norm, limit, factor;
  size_t output_count;
  const brew_output_value *outputs;
  const char *name, *text, *file, *state_file;
  /* A log line: its severity, and the statement in Caffe that writes it
   * ("brew.cpp", 1 for Brew's own lines). */
  brew_log_severity severity;
  int site_line;
  const char *site_file;
  size_t step_count;
  const double *step_seconds;
} brew_event;

/* A listener may call functions marked "any thread" and functions that read the
 * session, but must not run it or change its listeners. */
typedef void (*brew_event_function)(const brew_event *event, void *user);
/* Receives an entry of Caffe's log; `text` may have several lines. */
typedef void (*brew_log_function)(brew_log_severity severity, const char *file,
                                  int line, const char *text, void *user);

/* Writes a line to standard error in the format of sessions with
 * `log_to_stderr`: glog's prefix, file and line in Caffe, the text. Callable
 * from any thread. */
BREW_API void brew_log(brew_log_severity severity, const char *file, int line,
                       const char *text);
/* Changes the minimum severity of the lines on standard error and in log files
 * (a brew_log_severity; initially GLOG_minloglevel). Callable from any thread.
 */
BREW_API void brew_log_set_minimum(int severity);
/* Removes the progress line that a training session with `log_to_stderr` shows
 * on a terminal. Callable from any thread. */
BREW_API void brew_log_clear_status_line(void);

#ifdef __cplusplus
}
#endif

#endif
