/*===- host_layer.h - Layers that the host program computes -------*- C -*-===*\
|*
|* A host layer is a layer whose type is the caller's own: its forward and
|* backward passes are functions of the program, called in the middle of a
|* compiled net. One description serves both libraries: the compiler asks it for
|* the shapes of tops (brew_compiler_options_add_host_layer), a session calls it
|* to compute (brew_session_options.host_layers).
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
|* A function that fails returns another status and may write why into its
|* `message`; the call of the library that needed it fails with that status and
|* names the layer. No function may unwind through the library (no exception, no
|* longjmp). They are called on the thread that is inside a call of the library,
|* those of one session never at the same time; sessions in several threads call
|* them side by side. They may use other sessions, not the one that calls them.
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

/* A layer of a net, as its functions get to know it. All of it is valid during
 * the call. */
typedef struct brew_host_setup {
  size_t struct_size;
  const char *type;
  const char *layer; /* its name */
  /* The layer as the prototxt has it: text of Caffe's LayerParameter. */
  const char *settings;
  /* python_param.param_str; "" where there is none. */
  const char *param_str;
  int test_phase; /* Caffe's TEST, else TRAIN */
  size_t bottom_count;
  const brew_host_shape *bottoms;
  size_t top_count;
  /* To be filled in by `shapes`, with at most BREW_MAX_DIMS dimensions of at
   * least 1; known to `create`. */
  brew_host_shape *tops;
  /* Room for why it failed. */
  char *message;
  size_t message_size;
  void *user; /* brew_host_layer.user */
} brew_host_setup;

/* A bottom or top in a call. Elements lie one behind the other, row-major in
 * Caffe's order of dimensions. This structure never grows. */
typedef struct brew_host_blob {
  size_t ndim;
  const int64_t *dims;
  int64_t count; /* product of dims */
  /* Of bottoms to be read, of tops to be written by forward. */
  void *values;
  /* In backward: of tops to be read, of bottoms to be written (every element);
   * NULL for a bottom that gets no gradient, and in forward. */
  void *gradient;
} brew_host_blob;

typedef struct brew_host_call {
  size_t struct_size;
  void *instance; /* what `create` made, else NULL */
  int f64;        /* elements are double, as in plans of --precision=f64; else
                   * float */
  size_t bottom_count;
  brew_host_blob *bottoms;
  size_t top_count;
  brew_host_blob *tops;
  /* Room for why it failed. */
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
  /* The type in the prototxt, one that Brew does not have; of layers of type
   * "Python", "MODULE.LAYER" of their python_param. */
  const char *type;
  /* Gives the shapes of tops; not needed where no such layer is compiled, or
   * where `--input-shape` gives them. */
  brew_host_setup_function shapes;
  /* Makes what a layer of one program of one session keeps between calls,
   * before its first one, and takes it back when the session is destroyed; both
   * may be NULL. */
  brew_host_create_function create;
  brew_host_destroy_function destroy;
  brew_host_call_function forward;
  /* NULL: no gradient passes the layer, which must then not be needed. */
  brew_host_call_function backward;
  void *user;
} brew_host_layer;

#ifdef __cplusplus
}
#endif

#endif
