/*===- communicator.h - Training on several ranks -----------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
|* A rank is a process that trains on its share of the data; a launcher
|* (mpirun) starts all of them with the same arguments. Each opens a
|* communicator, then a session with it, then a trainer: gradients are added up
|* over the ranks and divided by their number, and every rank does the same
|* updates. All ranks make the same calls on their trainers. Plans are those of
|* brewc --distributed.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_COMMUNICATOR_H
#define BREW_COMMUNICATOR_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brew_communicator_options {
  size_t struct_size;
  /* Seconds that a rank waits for another one that neither computes nor answers
   * before the run ends; 0: 600. */
  double timeout;
  /* Gradients are added up in the order of ranks; else in the transport's. */
  int deterministic;
} brew_communicator_options;

/* Numbers that are added up over the ranks, in place. */
typedef struct brew_reduction_buffer {
  float *data;
  size_t count; /* elements */
} brew_reduction_buffer;

/* Whether this library finds what connects ranks: its plugin for MPI, and that
 * MPI. */
BREW_API int brew_communicator_is_available(void);
/* Whether a launcher has started this process as a rank of several. */
BREW_API int brew_communicator_is_launched(void);
/* Joins the run; once in a process. `options` may be NULL. BREW_UNAVAILABLE:
 * there is no MPI, or it fails. */
BREW_API brew_status brew_communicator_open(
    const brew_communicator_options *options, brew_communicator **communicator);
BREW_API const char *
brew_communicator_message(const brew_communicator *communicator);
/* Number of this rank, of all ranks, of those on this machine, and of this rank
 * among these. */
BREW_API int brew_communicator_rank(const brew_communicator *communicator);
BREW_API int brew_communicator_ranks(const brew_communicator *communicator);
BREW_API int
brew_communicator_local_ranks(const brew_communicator *communicator);
BREW_API int
brew_communicator_local_rank(const brew_communicator *communicator);
/* Whether the last error of a trainer is one that all ranks have: rank 0 tells
 * it, and the run is left with brew_communicator_close(). */
BREW_API int
brew_communicator_has_collective_error(const brew_communicator *communicator);

/* What ranks do together without a trainer. Every rank makes the same calls in
 * the same order, from one thread, and none while a trainer over this
 * communicator runs. BREW_UNAVAILABLE: a rank is missing, whose number the
 * message has. */

/* Gives all ranks the bytes of rank 0. */
BREW_API brew_status brew_communicator_broadcast(
    brew_communicator *communicator, void *data, size_t bytes);
/* Begins to add the pieces up over the ranks, beside what the caller goes on
 * with: they belong to the sum until it is awaited. `number` tells it from
 * others on their way (BREW_USAGE: one has it), and is the same on all ranks.
 */
BREW_API brew_status
brew_communicator_start_all_reduce(brew_communicator *communicator, uint32_t number,
                            const brew_reduction_buffer *pieces, size_t piece_count);
/* Waits for a sum; BREW_USAGE if none of this number was started. */
BREW_API brew_status
brew_communicator_wait_all_reduce(brew_communicator *communicator, uint32_t number);
/* BREW_BAD_INPUT on all ranks unless every rank has rank 0's value of what the
 * message will call `what` ("plan"). */
BREW_API brew_status brew_communicator_check_all_equal(brew_communicator *communicator,
                                             const char *what,
                                             const char *value);

/* Leaves the run, when all ranks do, at the end of it. */
BREW_API brew_status brew_communicator_close(brew_communicator *communicator);
/* Ends the processes of all ranks, this one's too, with an exit status: for a
 * rank that cannot go on. Does not return. */
BREW_API void brew_communicator_abort(brew_communicator *communicator,
                                      int status);
/* After the sessions that use it. Ends all ranks unless it was closed. */
BREW_API void brew_communicator_destroy(brew_communicator *communicator);

#ifdef __cplusplus
}
#endif

#endif
