/*===- tensors.h - Blobs, parameters and gradients by name --------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TENSORS_H
#define BREW_TENSORS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brew_tensor_kind {
  BREW_BLOB = 0,               /* of a program; in place: its last version */
  BREW_BLOB_GRADIENT = 1,      /* in place: of the first version that has one */
  BREW_PARAMETER = 2,          /* of a layer */
  /* Of a parameter that is learnt; what it holds between a forward pass alone
   * and its backward pass is undefined (values lie there meanwhile). */
  BREW_PARAMETER_GRADIENT = 3,
  BREW_SOLVER_STATE = 4,       /* history of such a parameter */
  BREW_PERSISTENT_STATE = 5,            /* what a run leaves to the next (recurrence) */
  /* The gradient of a blob that the caller writes before the backward pass, of
   * a program (brewc --output-gradient). Each backward pass uses it up. */
  BREW_OUTPUT_GRADIENT = 6
} brew_tensor_kind;

typedef struct brew_tensor_name {
  size_t struct_size;
  brew_tensor_kind kind;
  int program;      /* of blobs, their gradients and seeds */
  const char *name; /* of the blob or the carried state; else of the layer */
  int index;        /* which blob of the layer: 0 weights, 1 bias, ... */
  int slot;         /* of BREW_SOLVER_STATE: 0; 1 too for AdaDelta and Adam */
} brew_tensor_name;

/* Where a tensor lies and how. */
typedef struct brew_tensor {
  size_t struct_size;
  brew_dtype dtype;
  int on_device; /* `data` is an address of the GPU's memory */
  /* The first element, for the session's life (or until brew_session_bind_memory());
   * what is there, until the next run. Writing through it is writing the
   * tensor. */
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
  int dynamic_dim;
} brew_tensor;

/* All names of a kind; of what belongs to a program, those of `program`. 0 on
 * failure. */
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
 * brewc --pin). */
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
/* Has a blob of a session on the CPU lie in the caller's memory: `bytes` from
 * `data` on, as many as the blob takes, at a multiple of 64, which outlives the
 * session or the next call of this. Runs read and write it there in place of
 * the session's own memory, to which it returns with NULL. Values are not moved;
 * those of a blob that the plan does not keep are overwritten during a run. An
 * input that lies there and was never set keeps the caller's values. The next
 * run is a little slower. BREW_USAGE: another size or alignment, a session
 * on a GPU, or a blob that is a part of another one's memory. */
BREW_API brew_status brew_session_bind_memory(brew_session *session,
                                        const brew_tensor_name *name,
                                        void *data, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
