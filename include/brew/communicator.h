/*===- communicator.h - Training on several ranks -----------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
|* A rank is a process that trains on its share of the data. A launcher (mpirun)
|* starts all ranks with the same arguments. Each rank opens a communicator,
|* then a session with it, then a trainer. Gradients are averaged over the
|* ranks, so every rank computes the same updates. All ranks must make the same
|* calls on their trainers. The plan must be compiled with brewc --distributed.
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
  /* The run ends if a rank neither computes nor answers for this many seconds;
   * 0 means 600. */
  double timeout;
  /* Adds gradients in rank order instead of the transport's order. */
  int deterministic;
} brew_communicator_options;

/* Values to reduce over the ranks, in place. */
typedef struct brew_reduction_buffer {
  float *data;
  size_t count; /* elements */
} brew_reduction_buffer;

/* Returns whether the library finds its MPI plugin and the MPI library that
 * the plugin needs. */
BREW_API int brew_communicator_is_available(void);
/* Returns whether a launcher started this process as one of several ranks. */
BREW_API int brew_communicator_is_launched(void);
/* Joins the run. May be called once per process. `options` may be NULL. Returns
 * BREW_UNAVAILABLE if MPI is missing or fails. */
BREW_API brew_status brew_communicator_open(
    const brew_communicator_options *options, brew_communicator **communicator);
BREW_API const char *
brew_communicator_message(const brew_communicator *communicator);
/* Return this rank's number, the number of ranks, the number of ranks on this
 * machine, and this rank's number among the ranks on this machine. */
BREW_API int brew_communicator_rank(const brew_communicator *communicator);
BREW_API int brew_communicator_ranks(const brew_communicator *communicator);
BREW_API int
brew_communicator_local_ranks(const brew_communicator *communicator);
BREW_API int
brew_communicator_local_rank(const brew_communicator *communicator);
/* Returns whether the last error of a trainer is a collective error, which
 * occurred on all ranks: rank 0 reports it, and each rank leaves the run with
 * brew_communicator_close(). */
BREW_API int
brew_communicator_has_collective_error(const brew_communicator *communicator);

/* Collective operations without a trainer. Every rank must make the same calls
 * in the same order, from one thread, and not while a trainer that uses this
 * communicator runs. They return BREW_UNAVAILABLE if a rank is missing; the
 * message contains its number. */

/* Sends the bytes of rank 0 to all ranks. */
BREW_API brew_status brew_communicator_broadcast(
    brew_communicator *communicator, void *data, size_t bytes);
/* Starts to sum the buffers over the ranks, concurrently with the caller, which
 * must not use the buffers until brew_communicator_wait_all_reduce() returns.
 * `number` identifies the operation and must be the same on all ranks.
 * Returns BREW_USAGE if a pending operation has this number. */
BREW_API brew_status brew_communicator_start_all_reduce(
    brew_communicator *communicator, uint32_t number,
    const brew_reduction_buffer *buffers, size_t buffer_count);
/* Waits for an all-reduce. Returns BREW_USAGE if no operation of this number
 * was started. */
BREW_API brew_status brew_communicator_wait_all_reduce(
    brew_communicator *communicator, uint32_t number);
/* Fails with BREW_BAD_INPUT on all ranks unless every rank passes the same
 * `value` as rank 0. `value_name`, e.g. "plan", names the value in the message.
 */
BREW_API brew_status brew_communicator_check_all_equal(
    brew_communicator *communicator, const char *value_name, const char *value);

/* Leaves the run at its end. All ranks must call this function. */
BREW_API brew_status brew_communicator_close(brew_communicator *communicator);
/* Ends the processes of all ranks, including this one, with an exit status. For
 * use by a rank that cannot continue. Does not return. */
BREW_API void brew_communicator_abort(brew_communicator *communicator,
                                      int status);
/* Destroys the communicator. The sessions that use it must be destroyed first.
 * Ends all ranks unless the communicator was closed. */
BREW_API void brew_communicator_destroy(brew_communicator *communicator);

#ifdef __cplusplus
}
#endif

#endif
