/*===- brew.h - Brew's runtime as a library -----------------------*- C -*-===*\
|*
|* Runs plans that brewc or the compiler library (compiler.h) made:
|*
|*   brew_plan *plan;
|*   brew_session *session;
|*   if (brew_plan_open("net.plan", &plan) != BREW_OK)
|*     fail(brew_plan_message(plan));
|*   if (brew_session_open(plan, NULL, &session) != BREW_OK ||
|*       brew_session_initialise(session, NULL, 0, 0) != BREW_OK)
|*     fail(brew_session_message(session));
|*   int program = brew_plan_find_program(plan, "deploy");
|*   brew_session_set_input(session, program, "data", BREW_F32, image, count);
|*   brew_session_feed_and_run(session, program);
|*   brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
|*   name.program = program;
|*   name.name = "prob";
|*   brew_session_read(session, &name, BREW_F32, probabilities, classes);
|*   brew_session_destroy(session);
|*   brew_plan_destroy(plan);
|*
|* Failures. A call returns a status; its words are the message of the handle
|* that the call was made on, valid until the next call on that handle. A
|* function that opens something sets its handle also when it fails (to NULL
|* only when memory is gone): read the message, then destroy the handle, on
|* which nothing else can be done. Message functions take NULL ("out of
|* memory") and destroying NULL does nothing. BREW_USAGE stands for calls that
|* make no sense, such as an unknown name, an index out of range or NULL where a
|* value is needed.
|*
|* Ownership. What a caller hands in (names, values, options) is copied unless
|* the function says otherwise. What the library hands out belongs to the handle
|* it came from.
|*
|* Threads. A plan may be used by any number of threads. Every other handle is
|* used by one thread at a time, which may change from call to call; functions
|* marked "any thread" may be called beside another call on their handle.
|* Different handles are independent of each other.
|*
|* Callbacks are called on the thread that is inside a call of the session or
|* trainer, and must not unwind through the library (no exception, no longjmp).
|*
|* Values are row-major in Caffe's order of dimensions unless said otherwise.
|* Text is UTF-8 that ends in a zero. Nothing is printed and nothing exits.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_BREW_H
#define BREW_BREW_H

#include <brew/base.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when a program compiled with an older header could no longer work with
 * the library; functions and fields may be added without that. */
#define BREW_ABI_VERSION 1

/* The library's BREW_ABI_VERSION: compare it with the header's. */
BREW_API int brew_abi_version(void);

/* "0.1.0"; for ever. */
BREW_API const char *brew_version(void);

/* Types of values. Calls that copy values take the first three. */
typedef enum brew_dtype {
  BREW_F32 = 0,
  BREW_F64 = 1,
  BREW_I32 = 2,
  BREW_U8 = 3,
  BREW_BF16 = 4,
  BREW_F16 = 5
} brew_dtype;

/* Most dimensions of a tensor. */
#define BREW_MAX_DIMS 32

typedef struct brew_plan brew_plan;
typedef struct brew_session brew_session;
typedef struct brew_trainer brew_trainer;
typedef struct brew_pool brew_pool;
typedef struct brew_records brew_records;
typedef struct brew_tensor_file brew_tensor_file;

/*===-- Plans ------------------------------------------------------------===*/

/* Opens a plan file and checks it. Its folder is the last in which the files it
 * names are looked up. BREW_MACHINE_LACKS: it cannot be read; BREW_BAD_INPUT:
 * it is damaged, no plan, or of another format. */
BREW_API brew_status brew_plan_open(const char *path, brew_plan **plan);

/* Opens a plan in memory. With `borrow` the bytes are not copied: they must
 * begin at a multiple of 64, and stay as they are until the plan and all that
 * was opened over it are destroyed. Else they are copied. `name` stands for the
 * path in messages and in what is derived from it. */
BREW_API brew_status brew_plan_open_memory(const void *bytes, size_t size,
                                           const char *name, int borrow,
                                           brew_plan **plan);

/* Why it could not be opened; "" if it could. For the plan's life. */
BREW_API const char *brew_plan_message(const brew_plan *plan);

/* Sessions that were opened over it keep what they need. */
BREW_API void brew_plan_destroy(brew_plan *plan);

/* All there is to know about the plan, as JSON: what 'brew-run inspect --json'
 * prints. Valid for the plan's life. */
BREW_API brew_status brew_plan_describe(const brew_plan *plan,
                                        const char **json);

typedef struct brew_plan_info {
  size_t struct_size;
  const char *net;      /* its name; for the plan's life */
  const char *producer; /* what made the plan; likewise */
  int cuda;             /* whether it runs on a GPU, else on the CPU */
  brew_dtype precision; /* that of blobs */
  int embeds_weights;   /* whether its weights are in the plan */
  int trains;           /* whether a trainer can be opened */
} brew_plan_info;

BREW_API brew_status brew_plan_get_info(const brew_plan *plan,
                                        brew_plan_info *info);

typedef struct brew_program_info {
  size_t struct_size;
  const char *name; /* for the plan's life */
  int test_phase;   /* Caffe's TEST, else TRAIN */
  int gradients;    /* whether it has a backward pass */
  size_t step_count;
  /* Names of the blobs that nothing in the net takes; for the plan's life. */
  size_t output_count;
  const char *const *outputs;
} brew_program_info;

/* Programs are named by their number, from 0 on. 0 for a NULL plan. */
BREW_API size_t brew_plan_program_count(const brew_plan *plan);
BREW_API brew_status brew_plan_get_program(const brew_plan *plan, int program,
                                           brew_program_info *info);
/* -1 if there is none of this name. */
BREW_API int brew_plan_find_program(const brew_plan *plan, const char *name);

typedef struct brew_step_info {
  size_t struct_size;
  /* Names of the layers it computes for; for the plan's life. */
  size_t layer_count;
  const char *const *layers;
  int backward; /* whether it belongs to the backward pass */
} brew_step_info;

/* A step of a program, in the order in which they run. */
BREW_API brew_status brew_plan_get_step(const brew_plan *plan, int program,
                                        size_t step, brew_step_info *info);

/*===-- What sessions tell -----------------------------------------------===*/

/* One element of one of a net's outputs. */
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
  BREW_EVENT_SOLVING = 7,          /* name: of the net; text: the rate's policy;
                                    * iteration, max_iteration */
  BREW_EVENT_ITERATION = 8, /* iteration, loss, smoothed_loss, learning_rate
                             * (NaN without an update), seconds since the first
                             * of the call; comes for each */
  BREW_EVENT_DISPLAY = 9,   /* iteration, smoothed_loss, seconds since the last
                             * one shown, rate: iterations per second, number:
                             * the solver's `display`, outputs */
  BREW_EVENT_RATE = 10,     /* iteration, learning_rate; flag: displayed;
                             * number: steps that multistep has now taken, or
                             * -1 */
  BREW_EVENT_CLIPPED = 11,  /* iteration, norm, limit, factor */
  BREW_EVENT_PROGRESS = 12, /* iteration: done, max_iteration, smoothed_loss,
                             * seconds, number: done in this call; flag: last */
  BREW_EVENT_TEST_BEGIN = 13,       /* iteration, net */
  BREW_EVENT_TEST_DONE = 14,        /* iteration, net, outputs (means), loss
                                     * (NaN unless test_compute_loss) */
  BREW_EVENT_TEST_INTERRUPTED = 15, /* iteration, net */
  BREW_EVENT_SNAPSHOT_WRITING = 16, /* file; flag: the state, else weights */
  BREW_EVENT_SNAPSHOT = 17,         /* iteration, file: weights, state_file */
  BREW_EVENT_STARVATION = 18,  /* name: of the layer, number: times, seconds */
  BREW_EVENT_PAUSED = 19,      /* iteration */
  BREW_EVENT_RESUMED = 20,     /* iteration */
  BREW_EVENT_FIELD_SET = 21,   /* iteration: the first with it; name, text */
  BREW_EVENT_FINAL_LOSS = 22,  /* iteration, smoothed_loss */
  BREW_EVENT_SOLVING_DONE = 23 /* iteration: done; flag: stopped by a request */
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
  int net;           /* number of a test net; -1: the training net */
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
BREW_API void brew_log_clear_status(void);

/*===-- Sessions: a plan with its memory ---------------------------------===*/

/* Threads that CPU sessions take turns on, each run on all of them. */
typedef struct brew_pool_options {
  size_t struct_size;
  int threads; /* 0: OMP_NUM_THREADS, else one per core */
} brew_pool_options;

/* `options` may be NULL. */
BREW_API brew_status brew_pool_open(const brew_pool_options *options,
                                    brew_pool **pool);
BREW_API const char *brew_pool_message(const brew_pool *pool);
/* Sessions that use it keep what they need. */
BREW_API void brew_pool_destroy(brew_pool *pool);

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
  brew_pool *pool;
  /* Computes with this session's parameters, in its memory (CPU), whichever of
   * the two is destroyed first; the plans' parameters must lie alike, as those
   * of one net do. Whoever changes parameters (training, loading, writing) must
   * not do so while another of the sessions runs, and must let the others
   * brew_session_prepare() before they run again. NULL: parameters of its own.
   */
  const brew_session *share_parameters;
  /* Of plans for a GPU: the file that keeps which vendor engines were fastest
   * (NULL: none), whether to take the library's first suggestion unmeasured,
   * whether only engines are used whose results repeat to the bit, and how many
   * bytes of scratch a call may use (0: 1 GiB; BREW_NO_WORKSPACE: none). */
  const char *timing_cache;
  int no_tuning;
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
} brew_session_options;

/* Allocates memory, opens kernels and libraries. Parameters are those in the
 * plan, else zeros. `options` may be NULL. BREW_MACHINE_LACKS: this machine is
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

/* Adds a listener; its number is what removing it takes. */
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
 * programs derive from parameters. BREW_MACHINE_LACKS: a file is not found;
 * BREW_BAD_INPUT: it does not fit. */
BREW_API brew_status brew_session_initialise(brew_session *session,
                                             const char *const *weights,
                                             size_t weight_count,
                                             unsigned flags);

/* Loads .caffemodel or HDF5 files over the parameters, by names of layers.
 * brew_session_prepare() is due afterwards. */
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

/*===-- Inputs -----------------------------------------------------------===*/
/*
 * Inputs are the tops of a program's Input and data layers. Those of Input and
 * MemoryData layers wait for the caller's values and are zero without them; the
 * others come from their sources, read ahead on threads, unless the caller
 * takes them over. An input belongs to what took it over last.
 */

typedef struct brew_input {
  size_t struct_size;
  const char *name; /* for the session's life */
  brew_dtype dtype; /* in memory */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  int64_t count;    /* product of dims */
  int needs_values; /* it waits for the caller's values */
} brew_input;

BREW_API size_t brew_session_input_count(brew_session *session, int program);
BREW_API brew_status brew_session_get_input(brew_session *session, int program,
                                            size_t index, brew_input *input);

/* Gives an input values: every feed from now on delivers them. `dtype`:
 * BREW_F32, BREW_F64 or BREW_I32. BREW_BAD_INPUT: there is no such input, or
 * `count` is not its number of values. */
BREW_API brew_status brew_session_set_input(brew_session *session, int program,
                                            const char *input, brew_dtype dtype,
                                            const void *values, int64_t count);

/* What a feed callback fills with one batch of an input. */
typedef struct brew_feed_request {
  const char *input;
  brew_dtype dtype; /* of `values`: BREW_F32 or BREW_F64 */
  size_t ndim;
  const int64_t *dims;
  int64_t count;
  void *values;
} brew_feed_request;

/* Fills all requests of a batch. Anything but BREW_OK ends the call that asked
 * for it with that status. */
typedef brew_status (*brew_feed_function)(const brew_feed_request *requests,
                                          size_t request_count, void *user);

/* Takes over inputs (all of them if `input_count` is 0): `feed` is asked for
 * each batch. */
BREW_API brew_status brew_session_set_feed(brew_session *session, int program,
                                           const char *const *inputs,
                                           size_t input_count,
                                           brew_feed_function feed, void *user);

/* Gives every input made-up values, for measuring: from [0, 1), or zeros where
 * an input has fewer than two dimensions, as labels have. */
BREW_API brew_status brew_session_set_random_inputs(brew_session *session,
                                                    int program, uint64_t seed);

/* Opens a program's sources and begins to read ahead, which the first feed does
 * otherwise. BREW_MACHINE_LACKS: a file or database is not found. */
BREW_API brew_status brew_session_open_sources(brew_session *session,
                                               int program);
/* Closes a program's sources and begins anew with them; inputs taken over stay
 * so. */
BREW_API brew_status brew_session_reset_sources(brew_session *session,
                                                int program, uint64_t seed);

/*===-- Running ----------------------------------------------------------===*/

typedef enum brew_pass {
  BREW_FORWARD = 0,
  BREW_BACKWARD = 1,
  BREW_BOTH = 2
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
 * that the plan keeps are (outputs, brewc --keep). BREW_USAGE: no such layers,
 * or the range would cut a step that computes for several layers at once; the
 * message names them. Data are not checked. */
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
BREW_API brew_status brew_session_announce(brew_session *session, int program);
/* Tells listeners what `debug_info` shows of the last forward pass; nothing if
 * the net was compiled without it. */
BREW_API brew_status brew_session_tell_debug_info(brew_session *session,
                                                  int program);

/*===-- Blobs, parameters and gradients by name --------------------------===*/

typedef enum brew_tensor_kind {
  BREW_BLOB = 0,               /* of a program; in place: its last version */
  BREW_BLOB_GRADIENT = 1,      /* likewise; in place: of its first version */
  BREW_PARAMETER = 2,          /* of a layer */
  BREW_PARAMETER_GRADIENT = 3, /* of a parameter that is learnt */
  BREW_SOLVER_STATE = 4,       /* history of such a parameter */
  BREW_CARRIED = 5             /* what a run leaves to the next (recurrence) */
} brew_tensor_kind;

typedef struct brew_tensor_name {
  size_t struct_size;
  brew_tensor_kind kind;
  int program;      /* of BREW_BLOB and BREW_BLOB_GRADIENT */
  const char *name; /* of the blob or the carried state; else of the layer */
  int index;        /* which blob of the layer: 0 weights, 1 bias, ... */
  int slot;         /* of BREW_SOLVER_STATE: 0; 1 too for AdaDelta and Adam */
} brew_tensor_name;

/* Where a tensor lies and how. */
typedef struct brew_tensor {
  size_t struct_size;
  brew_dtype dtype;
  int on_device; /* `data` is an address of the GPU's memory */
  /* The first element, for the session's life; what is there, until the next
   * run. Writing through it is writing the tensor. */
  void *data;
  /* Caffe's shape, of what there is after a run. */
  size_t shape_ndim;
  int64_t shape[BREW_MAX_DIMS];
  int64_t count; /* product of the shape */
  /* Memory: dimensions and strides in elements. The dimensions are those of the
   * shape, or some of them split to express a layout, with all that there is
   * room for; their row-major order is the shape's. */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  int64_t strides[BREW_MAX_DIMS];
  int64_t capacity; /* product of dims */
  /* The dimension of the shape whose extent the data decide (Filter,
   * DetectionOutput); -1: none. */
  int counted_dim;
} brew_tensor;

/* All names of a kind; of blobs, those of `program`. 0 on failure. */
BREW_API size_t brew_session_tensor_count(brew_session *session,
                                          brew_tensor_kind kind, int program);
/* name->name is valid until the next call on the session that names tensors of
 * another kind or program. */
BREW_API brew_status brew_session_get_tensor_name(brew_session *session,
                                                  brew_tensor_kind kind,
                                                  int program, size_t index,
                                                  brew_tensor_name *name);

/* Finds a tensor; waits for what runs on a device. BREW_USAGE: there is none of
 * this name that can be read (of blobs, the plan keeps its outputs and those of
 * brewc --keep). */
BREW_API brew_status brew_session_find(brew_session *session,
                                       const brew_tensor_name *name,
                                       brew_tensor *tensor);
/* Copies a tensor's values out, as many as tensor->count, converted to `dtype`
 * (BREW_F32, BREW_F64 or BREW_I32). BREW_USAGE: `count` is another number. */
BREW_API brew_status brew_session_read(brew_session *session,
                                       const brew_tensor_name *name,
                                       brew_dtype dtype, void *values,
                                       int64_t count);
/* Copies values in, as many as tensor->capacity, rounded where the tensor
 * cannot hold them. After parameters brew_session_prepare() is due. */
BREW_API brew_status brew_session_write(brew_session *session,
                                        const brew_tensor_name *name,
                                        brew_dtype dtype, const void *values,
                                        int64_t count);

/*===-- Training ---------------------------------------------------------===*/

typedef struct brew_trainer_options {
  size_t struct_size;
  /* Solver fields instead of the plan's: names as in the prototxt, values as
   * text, lists separated by commas. */
  const char *const *field_names;
  const char *const *field_values;
  size_t field_count;
  /* Weight files to start from. */
  const char *const *weights;
  size_t weight_count;
  /* Solver state to resume from, instead of weights; NULL: none. */
  const char *snapshot;
  /* f16: what losses are multiplied by at first; NULL: the plan's or the
   * snapshot's scale. */
  const double *loss_scale;
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
 * snapshots. */
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
 * that the plan takes from it (brewc --seed). Nothing is tested, displayed or
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
/* The rate of the next update. */
BREW_API double brew_trainer_learning_rate(const brew_trainer *trainer);

/* Requests, acted on between two iterations (stop and snapshot also between two
 * batches of a test). Any thread, not from signal handlers. */
BREW_API void brew_trainer_pause(brew_trainer *trainer);
BREW_API void brew_trainer_resume(brew_trainer *trainer);
BREW_API void brew_trainer_stop(brew_trainer *trainer);
BREW_API void brew_trainer_request_snapshot(brew_trainer *trainer);

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

typedef enum brew_action {
  BREW_ACTION_NONE = 0,
  BREW_ACTION_STOP = 1,
  BREW_ACTION_SNAPSHOT = 2
} brew_action;

/* Asked after every iteration and before every batch of a test, on the training
 * thread: for signals. NULL: nobody. */
typedef brew_action (*brew_action_function)(void *user);
BREW_API brew_status brew_trainer_set_action_source(brew_trainer *trainer,
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

/*===-- Records of databases, images and HDF5 files ----------------------===*/

typedef struct brew_records_options {
  size_t struct_size;
  /* What one record becomes: the input's dimensions without its batch. */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  /* The dataset of an HDF5 file: this one, or inputs/ and this. */
  const char *blob;
  /* Subtracted from images: numbers separated by commas, one or one per
   * channel, or the name of a .binaryproto; NULL: nothing. */
  const char *mean;
  /* Factor for images, after the mean; NULL: 1. */
  const double *scale;
} brew_records_options;

/* Opens what `path` is: a folder (LMDB, LevelDB), an HDF5 file (a record per
 * row, as it is), a JPEG or PNG image or an IDX file of images, gzipped or not.
 * Images are resized to the input's height and width. BREW_MACHINE_LACKS: it is
 * not found; BREW_BAD_INPUT: it is none of these or does not fit. */
BREW_API brew_status brew_records_open(const char *path,
                                       const brew_records_options *options,
                                       brew_records **records);
BREW_API const char *brew_records_message(const brew_records *records);
BREW_API void brew_records_destroy(brew_records *records);

typedef struct brew_record {
  size_t struct_size;
  const char *name;    /* until the next call on the records */
  const float *values; /* as many as dims have; likewise */
  int64_t count;
  int has_label;
  int label;
} brew_record;

/* The next record; `*more` is 0 at the end. */
BREW_API brew_status brew_records_next(brew_records *records,
                                       brew_record *record, int *more);

/*===-- HDF5 files of tensors --------------------------------------------===*/

typedef enum brew_file_mode {
  BREW_READ = 0,
  /* Appears under its name when it is committed, not before. */
  BREW_WRITE = 1
} brew_file_mode;

BREW_API brew_status brew_tensor_file_open(const char *path,
                                           brew_file_mode mode,
                                           brew_tensor_file **file);
BREW_API const char *brew_tensor_file_message(const brew_tensor_file *file);
/* What was not committed is lost. */
BREW_API void brew_tensor_file_destroy(brew_tensor_file *file);

/* All datasets below a group, in the order of their names: full paths, valid
 * until the next call on the file. */
BREW_API brew_status brew_tensor_file_list(brew_tensor_file *file,
                                           const char *group,
                                           const char *const **names,
                                           size_t *count);

typedef struct brew_dataset {
  size_t struct_size;
  brew_dtype dtype; /* BREW_F64 if stored so, else BREW_F32 */
  size_t ndim;      /* 0: a scalar */
  int64_t dims[BREW_MAX_DIMS];
  int64_t count;
} brew_dataset;

BREW_API brew_status brew_tensor_file_find(brew_tensor_file *file,
                                           const char *name,
                                           brew_dataset *dataset);
/* All values, converted to `dtype` (BREW_F32 or BREW_F64). BREW_USAGE: `count`
 * is not their number. */
BREW_API brew_status brew_tensor_file_read(brew_tensor_file *file,
                                           const char *name, brew_dtype dtype,
                                           void *values, int64_t count);
/* `dtype`: BREW_F32, BREW_F64 or BREW_I32. Groups are made as needed; a name
 * can be written once. */
BREW_API brew_status brew_tensor_file_write(brew_tensor_file *file,
                                            const char *name, brew_dtype dtype,
                                            const int64_t *dims, size_t ndim,
                                            const void *values);
BREW_API brew_status brew_tensor_file_commit(brew_tensor_file *file);

/*===-- This machine -----------------------------------------------------===*/

typedef void (*brew_property_function)(const char *name, const char *value,
                                       void *user);

/* Describes a GPU by its number, or the processor (-1), property by property.
 * A failure's words go to `message`, which has room for `size` bytes (NULL:
 * nowhere). Any thread. */
BREW_API brew_status brew_device_query(int gpu, brew_property_function property,
                                       void *user, char *message, size_t size);
/* How many GPUs there are. BREW_MACHINE_LACKS: there is no driver. */
BREW_API brew_status brew_gpu_count(int *count, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
