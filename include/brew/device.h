/*===- device.h - The machine that plans run on -------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
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

/* Describes a GPU by its number, or the processor (-1), property by property.
 * A failure's words go to `message`, which has room for `size` bytes (NULL:
 * nowhere). Any thread. */
BREW_API brew_status brew_device_query(int gpu, brew_property_function property,
                                       void *user, char *message, size_t size);
/* How many GPUs there are. BREW_UNAVAILABLE: there is no driver. */
BREW_API brew_status brew_gpu_count(int *count, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
