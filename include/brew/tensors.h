/*===- tensors.h - Blobs, parameters and gradients by name --------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TENSORS_H
#define BREW_TENSORS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brew_tensor_kind {
  BREW_BLOB = 0, /* of a program; computed in place: its last version */
  BREW_BLOB_GRADIENT = 1, /* computed in place: of the first version that has a
                           * gradient */
  BREW_PARAMETER = 2,     /* of a layer */
  /* Of a learnable parameter. Undefined after a forward pass until the backward
   * pass: the memory is reused in between. */
  BREW_PARAMETER_GRADIENT = 3,
  BREW_SOLVER_STATE = 4,     /* history of a learnable parameter */
  BREW_PERSISTENT_STATE = 5, /* state kept from run to run (recurrence) */
  /* The gradient of a blob of a program that the caller writes before the
   * backward pass (brewc --output-gradient). Each backward pass consumes it. */
  BREW_OUTPUT_GRADIENT = 6
} brew_tensor_kind;

typedef struct brew_tensor_name {
  size_t struct_size;
  brew_tensor_kind kind;
  int program;      /* of blobs, their gradients and output gradients */
  const char *name; /* of the blob or the persistent state; else of the layer */
  int index;        /* which blob of the layer: 0 weights, 1 bias, ... */
  int slot;         /* of BREW_SOLVER_STATE: 0; also 1 for AdaDelta and Adam */
} brew_tensor_name;

/* The memory and layout of a tensor. */
typedef struct brew_tensor {
  size_t struct_size;
  brew_dtype dtype;
  int on_device; /* `data` is an address in GPU memory */
  /* The first element. The address is valid until the session is destroyed (or
   * until brew_session_bind_memory()), the values until the next run. Writes
   * through it change the tensor. */
  void *data;
  /* Caffe's shape, of the values that exist after a run. */
  size_t shape_ndim;
  int64_t shape[BREW_MAX_DIMS];
  int64_t count; /* product of the shape */
  /* The layout: dimensions and strides in elements. The dimensions are those of
   * the shape at full capacity, but some may be split to express a layout. In
   * row-major order they enumerate the elements as the shape does. */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  int64_t strides[BREW_MAX_DIMS];
  int64_t capacity; /* product of dims */
  /* The dimension of the shape whose extent depends on the data (Filter,
   * DetectionOutput), or -1. Images with several sizes (brewc
   * --image-sizes=any): 1, and the later dimensions depend on the data too. */
  int dynamic_dim;
} brew_tensor;

/* Returns the number of tensors of a kind, or 0 on failure. For kinds that
 * belong to a program, counts the tensors of `program`. */
BREW_API size_t brew_session_tensor_count(brew_session *session,
                                          brew_tensor_kind kind, int program);
/* Returns the name of a tensor of a kind. name->name is valid until the next
 * call on the session that names tensors of another kind or program. */
BREW_API brew_status brew_session_get_tensor_name(brew_session *session,
                                                  brew_tensor_kind kind,
                                                  int program, size_t index,
                                                  brew_tensor_name *name);

/* Finds a tensor; waits for all work on the device. Returns BREW_USAGE if there
 * is no readable tensor of this name (readable blobs are outputs and the blobs
 * of brewc --keep). */
BREW_API brew_status brew_session_find(brew_session *session,
                                       const brew_tensor_name *name,
                                       brew_tensor *tensor);
/* Copies tensor->count values out, converted to `dtype` (BREW_F32, BREW_F64 or
 * BREW_I32). Returns BREW_USAGE if `count` is another number. */
BREW_API brew_status brew_session_read(brew_session *session,
                                       const brew_tensor_name *name,
                                       brew_dtype dtype, void *values,
                                       int64_t count);
/* Copies tensor->capacity values in, rounded to the tensor's type. Call
 * brew_session_prepare() after writing parameters. */
BREW_API brew_status brew_session_write(brew_session *session,
                                        const brew_tensor_name *name,
                                        brew_dtype dtype, const void *values,
                                        int64_t count);

/* The caller's memory for a tensor. */
typedef struct brew_binding {
  size_t struct_size;
  brew_tensor_name name;
  void *data;    /* NULL: the session's own memory */
  int64_t bytes; /* the size of the tensor */
} brew_binding;

/* Binds tensors of a CPU session, of any kind but persistent state, to the
 * caller's memory. All are bound, or none if the call fails. Addresses must be
 * multiples of 64. The memory must remain valid until the session is destroyed
 * or the tensor is bound again. Runs read and write this memory instead of the
 * session's own. Values are not copied; a run overwrites the values of a blob
 * that is not pinned. A bound input that was never set keeps the caller's
 * values. The call prepares the steps that use the tensors again, which takes
 * as long as a part of opening the session; runs are as fast as before. Returns
 * BREW_USAGE for another size or alignment, a session on a GPU, or a tensor
 * that is a view of another one's memory, such as most blobs of programs that
 * are not of a single layer (brewc --stepwise); BREW_UNAVAILABLE without enough
 * memory. */
BREW_API brew_status brew_session_bind_memory(brew_session *session,
                                              const brew_binding *bindings,
                                              size_t count);

/* Writes the values of a filler to an array of the shape `dims`. `filler` is
 * Caffe's FillerParameter in the syntax of prototxts, "" its defaults. The
 * random numbers depend only on `seed` and `name`, which is part of error
 * messages too. Writes the error message to `message`, which has room for
 * `size` bytes (NULL: discards it). Callable from any thread. Returns
 * BREW_BAD_INPUT if there is no such filler or it does not suit the shape. */
BREW_API brew_status brew_fill(const char *filler, const int64_t *dims,
                               size_t ndim, uint64_t seed, const char *name,
                               float *values, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
