/*===- base.h - What Brew's two C APIs share ----------------------*- C -*-===*\
|*
|* Calls that can fail return a brew_status; its words belong to a handle. No
|* exception leaves the libraries, and neither prints or exits.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_BASE_H
#define BREW_BASE_H

#include <stddef.h>

#if defined(__GNUC__)
#define BREW_API __attribute__((visibility("default")))
#else
#define BREW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Most dimensions of a tensor. */
#define BREW_MAX_DIMS 32

/* How a call ended; the exit statuses of Brew's tools. */
typedef enum brew_status {
  BREW_OK = 0,
  BREW_BAD_INPUT = 1,     /* prototxt, weights, plan, data */
  BREW_USAGE = 2,         /* the call or its options make no sense */
  BREW_UNAVAILABLE = 3, /* a file, feature, library, memory or disk space */
  BREW_BUG = 70           /* a defect of Brew */
} brew_status;

/* Initialises a structure that the library fills in or reads, so that it can
 * grow: `brew_diagnostic diagnostic = BREW_STRUCT(brew_diagnostic);`. In C++
 * set struct_size, or use the C++ header. */
#define BREW_STRUCT(type) {.struct_size = sizeof(type)}

#ifdef __cplusplus
}
#endif

#endif
