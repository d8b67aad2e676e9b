/*===- device.h - The machine that plans run on -------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_DEVICE_H
#define BREW_DEVICE_H

#include <brew/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*brew_property_function)(const char *name, const char *value,
                                       void *user);

/* Describes a GPU, or the CPU (-1): calls `property` for each property. Writes
 * the error message to `message`, which has room for `size` bytes (NULL:
 * discards it). Callable from any thread. */
BREW_API brew_status brew_device_query(int gpu, brew_property_function property,
                                       void *user, char *message, size_t size);
/* Counts the GPUs. Returns BREW_UNAVAILABLE if there is no driver. */
BREW_API brew_status brew_gpu_count(int *count, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
