/*===- plan.h - Plans, opened and described -----------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_PLAN_H
#define BREW_PLAN_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a plan file and checks it. Its folder is the last in which the files it
 * names are looked up. BREW_UNAVAILABLE: it cannot be read; BREW_BAD_INPUT:
 * it is damaged, no plan, or of another format. */
BREW_API brew_status brew_plan_open(const char *path, brew_plan **plan);

/* Opens a plan in memory. With `borrow` the bytes are not copied: they must
 * begin at a multiple of 64, and stay as they are until the plan and all that
 * was opened over it are destroyed. Else they are copied. `name` stands for the
 * path in messages and in what is derived from it. */
BREW_API brew_status brew_plan_open_memory(const void *bytes, size_t size,
                                           const char *name, int borrow,
                                           brew_plan **plan);

/* Why it could not be opened; "" if it could. For the plan's life. */
BREW_API const char *brew_plan_message(const brew_plan *plan);

/* Sessions that were opened over it keep what they need. */
BREW_API void brew_plan_destroy(brew_plan *plan);

/* The calls below leave no words, as any number of threads may make them:
 * BREW_USAGE says that the plan is not open, that there is nothing of that
 * number, or that there is no place for what was asked. */

/* All there is to know about the plan, as JSON: what 'brew-run inspect --json'
 * prints. Valid for the plan's life. */
BREW_API brew_status brew_plan_describe(const brew_plan *plan,
                                        const char **json);

typedef struct brew_plan_info {
  size_t struct_size;
  const char *net;      /* its name; for the plan's life */
  const char *producer; /* what made the plan; likewise */
  int cuda;             /* whether it runs on a GPU, else on the CPU */
  brew_dtype precision; /* that of blobs */
  int embeds_weights;   /* whether its weights are in the plan */
  int trainable;           /* whether a trainer can be opened */
} brew_plan_info;

BREW_API brew_status brew_plan_get_info(const brew_plan *plan,
                                        brew_plan_info *info);

typedef struct brew_program_info {
  size_t struct_size;
  const char *name; /* for the plan's life */
  int test_phase;   /* Caffe's TEST, else TRAIN */
  int has_backward;    /* whether it has a backward pass */
  size_t step_count;
  /* Names of the blobs that nothing in the net takes; for the plan's life. */
  size_t output_count;
  const char *const *outputs;
} brew_program_info;

/* Programs are named by their number, from 0 on. 0 for a NULL plan. */
BREW_API size_t brew_plan_program_count(const brew_plan *plan);
BREW_API brew_status brew_plan_get_program(const brew_plan *plan, int program,
                                           brew_program_info *info);
/* -1 if there is none of this name. */
BREW_API int brew_plan_find_program(const brew_plan *plan, const char *name);

typedef struct brew_step_info {
  size_t struct_size;
  /* Names of the layers it computes for; for the plan's life. */
  size_t layer_count;
  const char *const *layers;
  int backward; /* whether it belongs to the backward pass */
} brew_step_info;

/* A step of a program, in the order in which they run. */
BREW_API brew_status brew_plan_get_step(const brew_plan *plan, int program,
                                        size_t step, brew_step_info *info);

#ifdef __cplusplus
}
#endif

#endif
