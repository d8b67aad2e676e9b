/*===- events.h - What sessions tell of ---------------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_EVENTS_H
#define BREW_EVENTS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One element of one of a net's outputs. Comes in arrays: it never grows. */
typedef struct brew_output_value {
  const char *blob;
  double value;
  double loss_weight; /* 0 for a blob that is no loss */
} brew_output_value;

typedef enum brew_event_kind {
  BREW_EVENT_LOG = 0,              /* severity, site_file, site_line, text */
  BREW_EVENT_SOLVER_SET_UP = 1,    /* text: the solver as prototxt */
  BREW_EVENT_NET_SET_UP = 2,       /* name: of the program; net */
  BREW_EVENT_SEED = 3,             /* number: all randomness is drawn from it */
  BREW_EVENT_SOLVER_READY = 4,     /* the nets are set up, weights are next */
  BREW_EVENT_WEIGHTS_LOADING = 5,  /* file; flag: to train from */
  BREW_EVENT_SNAPSHOT_LOADING = 6, /* file; flag: its history, else weights */
  BREW_EVENT_SOLVING_BEGIN = 7,          /* name: of the net; text: the rate's policy;
                                    * iteration, max_iteration */
  BREW_EVENT_ITERATION = 8, /* iteration, loss, smoothed_loss, learning_rate,
                             * seconds since the first of the call began (in
                             * the caller's hands: since its own first forward
                             * pass); comes for each */
  BREW_EVENT_DISPLAY = 9,   /* iteration, smoothed_loss, seconds since the last
                             * one shown, rate: iterations per second, number:
                             * the solver's `display`, outputs */
  BREW_EVENT_LEARNING_RATE = 10,     /* iteration, learning_rate; flag: displayed;
                             * number: steps that multistep has now taken, or
                             * -1 */
  BREW_EVENT_GRADIENTS_CLIPPED = 11,  /* iteration, norm, limit, factor */
  BREW_EVENT_PROGRESS = 12, /* iteration: done, max_iteration, smoothed_loss,
                             * seconds, number: done in this call; flag: last */
  BREW_EVENT_TEST_BEGIN = 13,       /* iteration, net */
  BREW_EVENT_TEST_DONE = 14,        /* iteration, net, outputs (means), loss
                                     * (NaN unless test_compute_loss) */
  BREW_EVENT_TEST_INTERRUPTED = 15, /* iteration, net */
  BREW_EVENT_SNAPSHOT_WRITING = 16, /* file; flag: the state, else weights */
  BREW_EVENT_SNAPSHOT = 17,         /* iteration, file: weights, state_file */
  BREW_EVENT_DATA_STALL = 18,  /* name: of the layer, number: times, seconds */
  BREW_EVENT_PAUSED = 19,      /* iteration */
  BREW_EVENT_RESUMED = 20,     /* iteration */
  BREW_EVENT_FIELD_SET = 21,   /* iteration: the first with it; name, text */
  BREW_EVENT_FINAL_LOSS = 22,  /* iteration, smoothed_loss */
  BREW_EVENT_SOLVING_DONE = 23, /* iteration: done; flag: stopped by a request
                                 */
  BREW_EVENT_THROUGHPUT = 24, /* after a display: iteration, rate: items per second
                          * (0: no inputs), seconds that are left of the call,
                          * number: how often sources kept training waiting */
  BREW_EVENT_STOPPED_BY_RULE = 25, /* iteration: done; text: why */
  BREW_EVENT_RESET = 26,     /* iteration: with which training begins again */
  BREW_EVENT_STEP_TIMES = 27 /* iteration, step_count, step_seconds: of each
                              * step of the training program */
} brew_event_kind;

typedef enum brew_log_severity {
  BREW_LOG_INFO = 0,
  BREW_LOG_WARNING = 1,
  BREW_LOG_ERROR = 2
} brew_log_severity;

/* What happened. Which fields have a meaning stands at the kinds; the others
 * are zero. Pointers are valid during the call of the listener. Later versions
 * may tell of further kinds: pass over what you do not know. */
typedef struct brew_event {
  size_t struct_size;
  brew_event_kind kind;
  int iteration;     /* from 0 on */
  int max_iteration; /* the solver's max_iter */
  int net;           /* number of a test net; -1: another */
  int flag;
  int64_t number;
  double loss, smoothed_loss, learning_rate;
  double seconds, rate;
  double norm, limit, factor;
  size_t output_count;
  const brew_output_value *outputs;
  const char *name, *text, *file, *state_file;
  /* A log line: its severity, and the statement of Caffe's that it stands for
   * ("brew.cpp", 1 for one of Brew's own). */
  brew_log_severity severity;
  int site_line;
  const char *site_file;
  size_t step_count;
  const double *step_seconds;
} brew_event;

/* A listener may call functions marked "any thread" and those that read the
 * session, not those that run it or change its listeners. */
typedef void (*brew_event_function)(const brew_event *event, void *user);

/* A line of Caffe's log; `text` may have several lines. */
typedef void (*brew_log_function)(brew_log_severity severity, const char *file,
                                  int line, const char *text, void *user);

/* Writes a line to standard error, as sessions with `log_to_stderr` do: glog's
 * prefix, Caffe's place, the text. Any thread. */
BREW_API void brew_log(brew_log_severity severity, const char *file, int line,
                       const char *text);
/* Takes away the line of progress that a training session with `log_to_stderr`
 * shows on a terminal. Any thread. */
BREW_API void brew_log_clear_status_line(void);

#ifdef __cplusplus
}
#endif

#endif
