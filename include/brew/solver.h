/*===- solver.h - Learning rates and solver states ----------------*- C -*-===*\
|*
|* Computes learning rates, and reads and writes Caffe's solver states, without
|* a plan. Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_SOLVER_H
#define BREW_SOLVER_H

#include <brew/types.h>
#include <brew/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state of a learning rate; all zeros before the first iteration. */
typedef struct brew_rate_state {
  size_t struct_size;
  int step; /* the number of steps done */
  /* The minimum loss, if policy plateau has one. */
  int has_minimum_loss;
  float minimum_loss;
  int last_event; /* iteration of the last new minimum, step or restart */
} brew_rate_state;

/* Creates the learning rate of a solver: an encoded SolverParameter of `size`
 * bytes. Returns BREW_BAD_INPUT if fields of the solver contradict each other,
 * such as momentum and type AdaGrad. */
BREW_API brew_status brew_learning_rate_create(const void *solver, size_t size,
                                               brew_learning_rate **rate);
BREW_API const char *brew_learning_rate_message(const brew_learning_rate *rate);
BREW_API void brew_learning_rate_destroy(brew_learning_rate *rate);

/* Computes the learning rate of an iteration by the policy of the solver, and
 * updates `state`. As in Caffe, policy multistep makes at most one step per
 * call. Only policy plateau reads the `loss`, the displayed one of the
 * iteration. Returns BREW_BAD_INPUT if the policy is unknown, or if a field
 * that it needs is missing or out of range. */
BREW_API brew_status brew_learning_rate_at(brew_learning_rate *rate,
                                           int iteration, double loss,
                                           brew_rate_state *state,
                                           double *value);

/* A brew_solver_state is read from a file, or created for the history of a
 * solver: arrays of the caller, which must stay valid until it is destroyed. */

/* Reads a state of either format. Returns BREW_UNAVAILABLE if the file is not
 * found or not readable, and BREW_BAD_INPUT if it is damaged; the states that
 * Brew's trainer writes have checksums. */
BREW_API brew_status brew_solver_state_read(const char *path,
                                            brew_solver_state **state);
/* Creates a state without history after `iteration` updates. `weights` is the
 * weight file that belongs to it, "" for none; `rate` may be NULL. */
BREW_API brew_status brew_solver_state_create(int iteration,
                                              const char *weights,
                                              const brew_rate_state *rate,
                                              brew_solver_state **state);
BREW_API const char *brew_solver_state_message(const brew_solver_state *state);
BREW_API void brew_solver_state_destroy(brew_solver_state *state);

/* Returns the number of updates done. */
BREW_API int brew_solver_state_iteration(const brew_solver_state *state);
BREW_API brew_status brew_solver_state_rate(brew_solver_state *state,
                                            brew_rate_state *rate);
/* Finds the weight file that belongs to a state that was read: the path in the
 * state, from the working directory or the folder of the state, or a file of
 * that name beside the state. `*path` is valid until the next call on the
 * state, and NULL if the state names no file. Returns BREW_UNAVAILABLE if the
 * file is not found, BREW_BAD_INPUT if the state has the checksum of another
 * file. */
BREW_API brew_status brew_solver_state_find_weights(brew_solver_state *state,
                                                    const char **path);

/* Returns the number of history tensors. */
BREW_API size_t brew_solver_state_tensors(const brew_solver_state *state);
/* The pointer to the values is valid as long as the state. */
BREW_API brew_status brew_solver_state_history(brew_solver_state *state,
                                               size_t index,
                                               brew_snapshot_blob *tensor);
/* Adds a tensor to a state that was created. Caffe's order is one tensor per
 * parameter, followed for AdaDelta and Adam by a second one per parameter.
 * `parameter` names it in messages ("conv1/0"). Does not copy the values. */
BREW_API brew_status
brew_solver_state_add_history(brew_solver_state *state, const char *parameter,
                              const brew_snapshot_blob *tensor);

/* Copies the history `from` a file `to` a state that was created. Returns
 * BREW_BAD_INPUT and changes nothing if the numbers or the shapes of tensors
 * differ; the message of `to` lists the differences. */
BREW_API brew_status brew_solver_state_copy_history(
    const brew_solver_state *from, brew_solver_state *to);

/* Writes a state that was created, as brew_weights_write() does. */
BREW_API brew_status brew_solver_state_write(brew_solver_state *state,
                                             const char *path,
                                             brew_snapshot_format format);

#ifdef __cplusplus
}
#endif

#endif
