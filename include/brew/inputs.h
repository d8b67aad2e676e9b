/*===- inputs.h - What a net is fed with --------------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_INPUTS_H
#define BREW_INPUTS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  int needs_values; /* it waits for the caller's values, and has none yet */
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

/* Copies what the last feed brought in for an input. Due before the run, which
 * uses that memory again. `dtype`: BREW_F32 or BREW_F64. BREW_BAD_INPUT: there is
 * no such input; BREW_USAGE: `count` is not its number of values. */
BREW_API brew_status brew_session_read_input(brew_session *session, int program,
                                             const char *input,
                                             brew_dtype dtype, void *values,
                                             int64_t count);

/* What a feed callback fills with one batch of an input. Comes in arrays: it
 * never grows. */
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
 * each batch. BREW_BAD_INPUT: there is no such input. */
BREW_API brew_status brew_session_set_feed(brew_session *session, int program,
                                           const char *const *inputs,
                                           size_t input_count,
                                           brew_feed_function feed, void *user);

/* Gives every input made-up values, for measuring: from [0, 1), or zeros where
 * an input has fewer than two dimensions, as labels have. */
BREW_API brew_status brew_session_set_random_inputs(brew_session *session,
                                                    int program, uint64_t seed);

/* Opens a program's sources and begins to read ahead, which the first feed does
 * otherwise. BREW_UNAVAILABLE: a file or database is not found, or there are
 * no more threads; the next feed tries again. */
BREW_API brew_status brew_session_open_sources(brew_session *session,
                                               int program);
/* Closes a program's sources and begins anew with them; inputs taken over stay
 * so. */
BREW_API brew_status brew_session_reset_sources(brew_session *session,
                                                int program, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
