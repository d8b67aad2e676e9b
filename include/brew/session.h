/*===- session.h - Sessions: a plan with its memory ---------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_SESSION_H
#define BREW_SESSION_H

#include <brew/events.h>
#include <brew/host_layer.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Sessions: a plan with its memory ---------------------------------===*/

/* Threads that CPU sessions take turns on, each run on all of them. */
typedef struct brew_thread_pool_options {
  size_t struct_size;
  int threads; /* 0: OMP_NUM_THREADS, else one per core */
} brew_thread_pool_options;

/* `options` may be NULL. */
BREW_API brew_status brew_thread_pool_open(const brew_thread_pool_options *options,
                                    brew_thread_pool **pool);
BREW_API const char *brew_thread_pool_message(const brew_thread_pool *pool);
/* Sessions that use it keep what they need. */
BREW_API void brew_thread_pool_destroy(brew_thread_pool *pool);

/* For `workspace_limit`. */
#define BREW_NO_WORKSPACE UINT64_MAX

typedef struct brew_session_options {
  size_t struct_size;
  /* Worker threads; 0: OMP_NUM_THREADS, else one per core. */
  int threads;
  /* Number of the GPU, for plans compiled for one. */
  int gpu;
  /* What fillers, shuffling and layers' random numbers are drawn from. */
  uint64_t seed;
  /* Where files are looked up last; NULL: in the plan's folder. */
  const char *folder;
  /* Threads shared with other sessions (CPU); NULL: a team for each thread that
   * runs a session. */
  brew_thread_pool *pool;
  /* Computes with this session's parameters, in its memory (CPU), whichever of
   * the two is destroyed first; the plans' parameters must lie alike, as those
   * of one net do (but not those of training and of inference where the latter
   * folds normalization or rounds weights ahead of runs). Whoever changes parameters (training, loading, writing) must
   * not do so while another of the sessions runs, and must let the others
   * brew_session_prepare() before they run again. NULL: parameters of its own.
   */
  const brew_session *share_parameters;
  /* The file that keeps which ways to do library calls were fastest (NULL:
   * none). On a GPU calls that it does not know are measured while the session is
   * opened; on the CPU brew_session_tune() alone measures, and sessions do what
   * the file says. With `no_tuning` the first way to do each call is taken,
   * unmeasured. */
  const char *timing_cache;
  int no_tuning;
  /* Of plans for a GPU: whether only engines are used whose results repeat to the
   * bit, and how many bytes of scratch a call may use (0: 1 GiB;
   * BREW_NO_WORKSPACE: none). */
  int deterministic;
  uint64_t workspace_limit;
  /* First listeners, so that they hear of what happens while the session is
   * opened; NULL: none. */
  brew_event_function listener;
  void *listener_user;
  /* Takes the lines of Caffe's log. */
  brew_log_function log;
  void *log_user;
  /* Writes Caffe's log to standard error. */
  int log_to_stderr;
  /* Layers that this program computes; copied (`user` must stay). A type that a
   * plan has and nobody gave is an error of the first run that needs it. */
  const brew_host_layer *host_layers;
  size_t host_layer_count;
  /* Threads of each data layer that decode and transform images; 0: one per
   * core. Their number does not show in what they read. */
  int reader_threads;
  /* Passes over images of Data and ImageData layers that are damaged or missing,
   * with a line in the log for each, instead of failing. */
  int skip_bad_records;
  /* The ranks that train together (communicator.h), which outlives the session;
   * NULL: this process is alone. */
  brew_communicator *communicator;
  /* Without a communicator, for processes that share the records of data layers
   * in the TRAIN phase all the same: this one's number, and how many there are
   * (0: it is alone). Seeds are then one for all plus the number. BREW_USAGE
   * beside a communicator, whose ranks share them anyway. */
  int reader_rank, reader_ranks;
  /* Of plans for inference: lets layers that weight files lack have the values of
   * their fillers, with a warning that lists them, instead of failing. */
  int allow_missing_weights;
} brew_session_options;

/* Allocates memory, opens kernels and libraries. Parameters are those in the
 * plan, else zeros. `options` may be NULL. BREW_UNAVAILABLE: this machine is
 * not what the plan was compiled for, or lacks memory, a driver or a library.
 */
BREW_API brew_status brew_session_open(const brew_plan *plan,
                                       const brew_session_options *options,
                                       brew_session **session);
BREW_API const char *brew_session_message(const brew_session *session);
/* Trainers opened over it keep what they need. */
BREW_API void brew_session_destroy(brew_session *session);

/* The device: "cpu", or a GPU's name and its architecture; for the session's
 * life. */
BREW_API const char *brew_session_device(const brew_session *session);

/* Adds a listener; its number is what removing it takes. A number that is none
 * is passed over. */
BREW_API brew_status brew_session_add_listener(brew_session *session,
                                               brew_event_function listener,
                                               void *user, int *number);
BREW_API brew_status brew_session_remove_listener(brew_session *session,
                                                  int number);

/*===-- Parameters -------------------------------------------------------===*/

/* brew_session_initialise: fail (BREW_USAGE) if neither the plan nor a file has
 * weights, instead of leaving them to fillers. */
#define BREW_REQUIRE_WEIGHTS 1

/* All that a session needs before its first run: parameters from the plan, else
 * from fillers; then from the weight files (each name a file or a list
 * separated by commas; without any, the one that the plan names); then what
 * programs derive from parameters. BREW_UNAVAILABLE: a file is not found;
 * BREW_BAD_INPUT: it does not fit, or a plan for inference (it neither trains nor
 * computes a loss) has layers that no file has and the plan has no values for
 * (brew_session_options.allow_missing_weights). */
BREW_API brew_status brew_session_initialise(brew_session *session,
                                             const char *const *weights,
                                             size_t weight_count,
                                             unsigned flags);

/* Loads .caffemodel or HDF5 files over the parameters, by names of layers.
 * Names and errors are those of brew_session_initialise(): a name with commas
 * is a list, and without any name the file that the plan names is loaded, if it
 * names one and has no weights in it. brew_session_prepare() is due afterwards.
 */
BREW_API brew_status brew_session_load_weights(brew_session *session,
                                               const char *const *weights,
                                               size_t weight_count);
/* Writes all parameters as Caffe does: .caffemodel, or HDF5 if the name ends in
 * ".h5". */
BREW_API brew_status brew_session_save_weights(brew_session *session,
                                               const char *path);
/* Computes what programs derive from parameters ahead of runs. Due whenever
 * they have changed; brew_session_initialise() and training see to it. */
BREW_API brew_status brew_session_prepare(brew_session *session);
/* Solver history and state that runs leave to the next ones to zeros. */
BREW_API brew_status brew_session_reset_state(brew_session *session);
/* Begins all random numbers anew, and all sources at their beginning. */
BREW_API brew_status brew_session_set_seed(brew_session *session,
                                           uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
