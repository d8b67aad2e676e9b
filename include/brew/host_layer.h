/*===- host_layer.h - Layers that the host program computes -------*- C -*-===*\
|*
|* A host layer has a layer type that the caller defines: its forward and
|* backward passes are functions of the calling program, which run in the middle
|* of a compiled net. One description serves both libraries: the compiler calls
|* it for the shapes of tops (brew_compiler_options_add_host_layer), a session
|* calls it to compute (brew_session_options.host_layers).
|*
|*   static brew_status forward(brew_host_call *call) {
|*     const float *x = call->bottoms[0].values;
|*     float *y = call->tops[0].values;
|*     for (int64_t i = 0; i < call->tops[0].count; ++i)
|*       y[i] = 2 * x[i];
|*     return BREW_OK;
|*   }
|*   ...
|*   brew_host_layer twice = BREW_STRUCT(brew_host_layer);
|*   twice.type = "Twice";
|*   twice.shapes = shapes;
|*   twice.forward = forward;
|*   twice.backward = backward;
|*
|* A function that fails returns a status other than BREW_OK and may write the
|* reason to its `message`; the library call that needed the layer fails with
|* that status and names the layer. No function may unwind through the library
|* (no exception, no longjmp). Functions run on the thread that is inside a call
|* of the library. Calls for one session never overlap; sessions in several
|* threads call them concurrently. They may use other sessions, but not the
|* session that calls them.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_HOST_LAYER_H
#define BREW_HOST_LAYER_H

#include <brew/base.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This structure never grows. */
typedef struct brew_host_shape {
  size_t ndim; /* 0: a scalar */
  int64_t dims[BREW_MAX_DIMS];
} brew_host_shape;

/* A layer of a net, as passed to `shapes` and `create`. Valid during the
 * call. */
typedef struct brew_host_setup {
  size_t struct_size;
  const char *type;
  const char *layer; /* its name */
  /* The layer's prototxt: text of Caffe's LayerParameter. */
  const char *settings;
  /* python_param.param_str, or "". */
  const char *param_str;
  int test_phase; /* not 0: Caffe's TEST; 0: TRAIN */
  size_t bottom_count;
  const brew_host_shape *bottoms;
  size_t top_count;
  /* Written by `shapes`, with at most BREW_MAX_DIMS dimensions of at least 1;
   * set for `create`. */
  brew_host_shape *tops;
  /* Buffer for an error message. */
  char *message;
  size_t message_size;
  void *user; /* brew_host_layer.user */
} brew_host_setup;

/* A bottom or top in a call. Elements are contiguous and row-major in Caffe's
 * order of dimensions. This structure never grows. */
typedef struct brew_host_blob {
  size_t ndim;
  const int64_t *dims;
  int64_t count; /* product of dims */
  /* Read-only for bottoms. Forward writes the values of tops. */
  void *values;
  /* In backward: read-only for tops; for bottoms, backward writes every
   * element. NULL for a bottom without gradient, and in forward. */
  void *gradient;
} brew_host_blob;

typedef struct brew_host_call {
  size_t struct_size;
  void *instance; /* set by `create`, else NULL */
  int f64;        /* not 0: elements are double (plans of --precision=f64); 0:
                   * float */
  size_t bottom_count;
  brew_host_blob *bottoms;
  size_t top_count;
  brew_host_blob *tops;
  /* Buffer for an error message. */
  char *message;
  size_t message_size;
  void *user; /* brew_host_layer.user */
} brew_host_call;

typedef brew_status (*brew_host_setup_function)(brew_host_setup *setup);
typedef brew_status (*brew_host_create_function)(brew_host_setup *setup,
                                                 void **instance);
typedef void (*brew_host_destroy_function)(void *instance, void *user);
typedef brew_status (*brew_host_call_function)(brew_host_call *call);

typedef struct brew_host_layer {
  size_t struct_size;
  /* The type in the prototxt, which must not be a type that Brew implements;
   * for layers of type "Python", "MODULE.LAYER" of their python_param. */
  const char *type;
  /* Computes the shapes of tops; optional if no such layer is compiled, or if
   * `--input-shape` sets the shapes. */
  brew_host_setup_function shapes;
  /* Creates the instance that a layer of one program of one session keeps
   * between calls, before its first call, and destroys it with the session;
   * both may be NULL. */
  brew_host_create_function create;
  brew_host_destroy_function destroy;
  brew_host_call_function forward;
  /* NULL if the layer has no backward pass. Then no layer below it may need a
   * gradient. */
  brew_host_call_function backward;
  void *user;
} brew_host_layer;

#ifdef __cplusplus
}
#endif

#endif
