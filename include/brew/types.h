/*===- types.h - Versions, types and handles of the runtime -------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_TYPES_H
#define BREW_TYPES_H

#include <brew/base.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a program compiled with an older header no longer works with
 * the library. Adding functions and fields does not increment it. */
#define BREW_ABI_VERSION 3

/* Returns the library's BREW_ABI_VERSION, to compare with the header's. */
BREW_API int brew_abi_version(void);

/* Returns the version, e.g. "0.1.0". The pointer stays valid. */
BREW_API const char *brew_version(void);

/* Types of values. Calls that copy values support the first three. */
typedef enum brew_dtype {
  BREW_F32 = 0,
  BREW_F64 = 1,
  BREW_I32 = 2,
  BREW_U8 = 3,
  BREW_BF16 = 4,
  BREW_F16 = 5
} brew_dtype;

typedef struct brew_options brew_options;
typedef struct brew_plan brew_plan;
typedef struct brew_session brew_session;
typedef struct brew_trainer brew_trainer;
typedef struct brew_thread_pool brew_thread_pool;
typedef struct brew_communicator brew_communicator;
typedef struct brew_records brew_records;
typedef struct brew_tensor_file brew_tensor_file;
typedef struct brew_record_writer brew_record_writer;
typedef struct brew_weights brew_weights;
typedef struct brew_solver_state brew_solver_state;
typedef struct brew_learning_rate brew_learning_rate;
typedef struct brew_environment brew_environment;
typedef struct brew_learner brew_learner;
typedef struct brew_episode_recorder brew_episode_recorder;

#ifdef __cplusplus
}
#endif

#endif
