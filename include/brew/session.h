/*===- session.h - Sessions: a plan with its memory ---------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_SESSION_H
#define BREW_SESSION_H

#include <brew/events.h>
#include <brew/host_layer.h>
#include <brew/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Sessions ---------------------------------------------------------===*/

/* Threads shared by CPU sessions. One run at a time uses all of them. */
typedef struct brew_thread_pool_options {
  size_t struct_size;
  int threads; /* 0: OMP_NUM_THREADS, else one per core */
} brew_thread_pool_options;

/* Creates a pool. `options` may be NULL. Runs that all come from one thread use
 * the threads of that thread; from the first run of another thread on, the pool
 * has threads of its own. */
BREW_API brew_status brew_thread_pool_open(
    const brew_thread_pool_options *options, brew_thread_pool **pool);
BREW_API const char *brew_thread_pool_message(const brew_thread_pool *pool);
/* Destroys the pool. Sessions that use it stay valid. */
BREW_API void brew_thread_pool_destroy(brew_thread_pool *pool);

typedef struct brew_session_options {
  size_t struct_size;
  /* Options by name; NULL: the defaults. On a GPU, calls that the timing cache
   * does not contain are benchmarked when the session is opened. On the CPU
   * only brew_session_tune() benchmarks; sessions follow the file. */
  const brew_options *options;
  /* Number of the GPU, for plans compiled for GPUs. */
  int gpu;
  /* The folder searched last for files; NULL: the plan's folder. */
  const char *folder;
  /* Threads shared with other sessions (CPU). If NULL, each thread that runs a
   * session has its own team of threads. */
  brew_thread_pool *pool;
  /* Uses the parameters of this session, in its memory (CPU); either session
   * may be destroyed first. The plans must have equal parameter layouts, as
   * plans of one net have (except plans for training and for inference if the
   * latter folds normalization or rounds weights ahead of runs). A caller that
   * changes parameters (training, loading, writing) must not do so while
   * another of the sessions runs, and must call brew_session_prepare() on the
   * others before they run again. NULL means that the session has its own
   * parameters. */
  const brew_session *share_parameters;
  /* The first listener, which also receives the events emitted while the
   * session is opened; NULL: no listener. */
  brew_event_function listener;
  void *listener_user;
  /* Receives the lines of Caffe's log. */
  brew_log_function log;
  void *log_user;
  /* Writes Caffe's log to standard error. */
  int log_to_stderr;
  /* Layers computed by the calling program; copied (`user` must stay valid). A
   * host layer type without a registration fails at its first use. */
  const brew_host_layer *host_layers;
  size_t host_layer_count;
  /* The ranks that train together (communicator.h). Must outlive the session.
   * NULL for a single process. */
  brew_communicator *communicator;
  /* Without a communicator, for processes that share the records of data layers
   * in the TRAIN phase: the number of this process, and the number of processes
   * (0: a single process). Seeds are then a common seed plus the process
   * number. Setting it together with a communicator, whose ranks share the
   * records anyway, is an error (BREW_USAGE). */
  int reader_rank, reader_ranks;
} brew_session_options;

/* Allocates memory and opens kernels and libraries. Parameters have the values
 * in the plan, or are zero if it contains none. `options` may be NULL. Returns
 * BREW_UNAVAILABLE if the machine does not match the plan's target, or lacks
 * memory, a driver or a library. */
BREW_API brew_status brew_session_open(const brew_plan *plan,
                                       const brew_session_options *options,
                                       brew_session **session);
BREW_API const char *brew_session_message(const brew_session *session);
/* Destroys the session. Trainers opened from it stay valid. */
BREW_API void brew_session_destroy(brew_session *session);

/* Returns the device: "cpu", or a GPU's name and its architecture. Valid until
 * the session is destroyed. */
BREW_API const char *brew_session_device(const brew_session *session);

/* Adds a listener, and writes the number by which it is removed. Removing an
 * unknown number has no effect. */
BREW_API brew_status brew_session_add_listener(brew_session *session,
                                               brew_event_function listener,
                                               void *user, int *number);
BREW_API brew_status brew_session_remove_listener(brew_session *session,
                                                  int number);

/*===-- Parameters -------------------------------------------------------===*/

/* A flag of brew_session_initialise(): if neither the plan nor a file has
 * weights, fail with BREW_USAGE instead of using the fillers. */
#define BREW_REQUIRE_WEIGHTS 1

/* Does everything that a session needs before its first run: initializes
 * parameters from the plan, else from fillers; loads the weight files (each
 * name is a file or a list separated by commas; without names, the file that
 * the plan names); computes the values that programs derive from parameters.
 * Returns BREW_UNAVAILABLE if a file is not found. Returns BREW_BAD_INPUT if a
 * file does not match the net, or if an inference plan (which neither trains
 * nor computes a loss) has layers without values in the plan or in any file,
 * unless allow_missing_weights is set. */
BREW_API brew_status brew_session_initialise(brew_session *session,
                                             const char *const *weights,
                                             size_t weight_count,
                                             unsigned flags);
/* Loads .caffemodel or HDF5 files into the parameters, matched by layer names.
 * Names and errors are as for brew_session_initialise(): a name with commas is
 * a list. Without names, loads the file that the plan names, if it names one
 * and embeds no weights. Call brew_session_prepare() afterwards. */
BREW_API brew_status brew_session_load_weights(brew_session *session,
                                               const char *const *weights,
                                               size_t weight_count);
/* Writes all parameters as Caffe does: .caffemodel, or HDF5 if the name ends in
 * ".h5". */
BREW_API brew_status brew_session_save_weights(brew_session *session,
                                               const char *path);
/* Computes the values that programs derive from parameters ahead of runs. Call
 * it after every change of parameters; brew_session_initialise() and training
 * do it themselves. */
BREW_API brew_status brew_session_prepare(brew_session *session);
/* Sets the solver history and the persistent state of layers to zero. */
BREW_API brew_status brew_session_reset_state(brew_session *session);
/* Restarts all random streams with a new seed, and all sources from their
 * start. */
BREW_API brew_status brew_session_set_seed(brew_session *session,
                                           uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
