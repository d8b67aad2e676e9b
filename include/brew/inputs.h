/*===- inputs.h - Input data of a net -----------------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_INPUTS_H
#define BREW_INPUTS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Inputs are the tops of a program's Input and data layers. Tops of Input and
 * MemoryData layers expect values from the caller and are zero without them;
 * the others are read ahead from their sources on threads, unless the caller
 * overrides them. The last call that overrides an input wins.
 */

/* If each image has its own size (brewc --image-sizes=any), `dims` are those
 * of the image that the last feed wrote, or of the largest one before. */
typedef struct brew_input {
  size_t struct_size;
  const char *name; /* valid until the session is destroyed */
  brew_dtype dtype; /* in memory */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  int64_t count;    /* product of dims */
  int needs_values; /* expects values from the caller, and none are set */
} brew_input;

BREW_API size_t brew_session_input_count(brew_session *session, int program);
BREW_API brew_status brew_session_get_input(brew_session *session, int program,
                                            size_t index, brew_input *input);

/* Sets the values of an input for every later feed. `dtype` is BREW_F32,
 * BREW_F64 or BREW_I32. Returns BREW_BAD_INPUT if there is no such input or
 * `count` is not its number of values. */
BREW_API brew_status brew_session_set_input(brew_session *session, int program,
                                            const char *input, brew_dtype dtype,
                                            const void *values, int64_t count);

/* Copies the values that the last feed wrote for an input. Call it before the
 * run, which reuses that memory. `dtype` is BREW_F32 or BREW_F64. Returns
 * BREW_BAD_INPUT if there is no such input, and BREW_USAGE if `count` is not
 * its number of values. */
BREW_API brew_status brew_session_read_input(brew_session *session, int program,
                                             const char *input,
                                             brew_dtype dtype, void *values,
                                             int64_t count);

/* One batch of one input, to be filled in by a feed callback. Passed in arrays,
 * so it never grows. */
typedef struct brew_feed_request {
  const char *input;
  brew_dtype dtype; /* of `values`: BREW_F32 or BREW_F64 */
  size_t ndim;
  const int64_t *dims;
  int64_t count;
  void *values;
} brew_feed_request;

/* Fills in all requests of a batch. A status other than BREW_OK ends the call
 * that needed the batch with that status. */
typedef brew_status (*brew_feed_function)(const brew_feed_request *requests,
                                          size_t request_count, void *user);

/* Overrides inputs (all of them if `input_count` is 0): calls `feed` for each
 * batch. Returns BREW_BAD_INPUT if there is no such input. */
BREW_API brew_status brew_session_set_feed(brew_session *session, int program,
                                           const char *const *inputs,
                                           size_t input_count,
                                           brew_feed_function feed, void *user);

/* Sets every input to synthetic values, for benchmarks: random values in
 * [0, 1), or zeros if an input has fewer than two dimensions, as labels do. */
BREW_API brew_status brew_session_set_random_inputs(brew_session *session,
                                                    int program, uint64_t seed);
/* Opens a program's sources and starts to read ahead. Without this call, the
 * first feed does so. Returns BREW_UNAVAILABLE if a file or database is not
 * found or the system cannot create threads; the next feed tries again. */
BREW_API brew_status brew_session_open_sources(brew_session *session,
                                               int program);
/* Closes a program's sources and restarts them with a seed; overridden inputs
 * stay overridden. */
BREW_API brew_status brew_session_reset_sources(brew_session *session,
                                                int program, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
