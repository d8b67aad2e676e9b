/*===- plan.h - Plans: opening and inspecting ---------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_PLAN_H
#define BREW_PLAN_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a plan file and validates it. Files named in the plan are looked up
 * last in the plan's folder. Returns BREW_UNAVAILABLE if the file cannot be
 * read, and BREW_BAD_INPUT if it is damaged, not a plan, or of another format
 * version. */
BREW_API brew_status brew_plan_open(const char *path, brew_plan **plan);
/* Opens a plan in memory. With `borrow` the bytes are not copied: they must
 * start at a multiple of 64 and stay unchanged until the plan and everything
 * opened from it are destroyed. Otherwise they are copied. `name` replaces the
 * path in messages and in names derived from it. */
BREW_API brew_status brew_plan_open_memory(const void *bytes, size_t size,
                                           const char *name, int borrow,
                                           brew_plan **plan);
/* Returns the reason why the plan could not be opened, or "". Valid until the
 * plan is destroyed. */
BREW_API const char *brew_plan_message(const brew_plan *plan);
/* Destroys the plan. Sessions opened from it stay valid. */
BREW_API void brew_plan_destroy(brew_plan *plan);

/* The functions below set no message, since any number of threads may call
 * them. They return BREW_USAGE if the plan is not open, an index is out of
 * range, or the result pointer is NULL. */

/* Describes the complete plan as JSON: the output of 'brew-run inspect --json'.
 * The text is valid until the plan is destroyed. */
BREW_API brew_status brew_plan_describe(const brew_plan *plan,
                                        const char **json);

typedef struct brew_plan_info {
  size_t struct_size;
  const char *net;      /* its name; valid until the plan is destroyed */
  const char *producer; /* the program that wrote the plan; likewise */
  int cuda;             /* not 0: it runs on a GPU; 0: on the CPU */
  brew_dtype precision; /* of blobs */
  int embeds_weights;   /* whether its weights are in the plan */
  int trainable;        /* whether a trainer can be opened */
} brew_plan_info;

BREW_API brew_status brew_plan_get_info(const brew_plan *plan,
                                        brew_plan_info *info);

typedef struct brew_program_info {
  size_t struct_size;
  const char *name; /* valid until the plan is destroyed */
  int test_phase;   /* not 0: Caffe's TEST; 0: TRAIN */
  int has_backward; /* whether it has a backward pass */
  size_t step_count;
  /* Names of the net's outputs: blobs that no layer reads. Valid until the plan
   * is destroyed. */
  size_t output_count;
  const char *const *outputs;
  /* Why the program of a single layer (brewc --stepwise) has no backward pass
   * although its bottoms or parameters need gradients; "" otherwise. Valid
   * until the plan is destroyed. */
  const char *no_backward;
} brew_program_info;

/* Programs are numbered from 0. Returns 0 for a NULL plan. */
BREW_API size_t brew_plan_program_count(const brew_plan *plan);
BREW_API brew_status brew_plan_get_program(const brew_plan *plan, int program,
                                           brew_program_info *info);
/* Returns the number of the program of this name, or -1. */
BREW_API int brew_plan_find_program(const brew_plan *plan, const char *name);

/* How the images of an input are prepared: resized to resize_height x
 * resize_width, cropped at their centre to the input's height and width, minus
 * the mean, times the scale. Channels are in the order B, G, R. */
typedef struct brew_input_transform {
  size_t struct_size;
  /* 0 and 0: the input's own height and width; else at least these, and at
   * most 65536. */
  int resize_height;
  int resize_width;
  double scale;
  /* 0 values, one, one per channel, or one per element of an image. */
  size_t mean_count;
  const float *mean;
  /* Names of the classes; none if they are not known. */
  size_t label_count;
  const char *const *labels;
} brew_input_transform;

/* Sets `*found` to whether the plan records the transform of an input, as
 * plans of brewc --deploy do. If so, fills in `transform`, whose pointers are
 * valid until the plan is destroyed. */
BREW_API brew_status brew_plan_get_input_transform(
    const brew_plan *plan, int program, const char *input,
    brew_input_transform *transform, int *found);

typedef struct brew_step_info {
  size_t struct_size;
  /* Names of the layers it computes; valid until the plan is destroyed. */
  size_t layer_count;
  const char *const *layers;
  int backward; /* whether it belongs to the backward pass */
} brew_step_info;

/* Describes a step of a program; steps are numbered in execution order. */
BREW_API brew_status brew_plan_get_step(const brew_plan *plan, int program,
                                        size_t step, brew_step_info *info);

#ifdef __cplusplus
}
#endif

#endif
