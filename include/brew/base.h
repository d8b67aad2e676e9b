/*===- base.h - Definitions common to Brew's two C APIs -----------*- C -*-===*\
|*
|* Functions that can fail return a brew_status; the error message belongs to a
|* handle. No exception leaves the libraries, and neither library prints or
|* exits.
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

/* The maximum number of dimensions of a tensor. */
#define BREW_MAX_DIMS 32

/* The result of a call; equal to the exit status of Brew's tools. */
typedef enum brew_status {
  BREW_OK = 0,
  BREW_BAD_INPUT = 1,   /* bad prototxt, weights, plan or data */
  BREW_USAGE = 2,       /* an invalid call or invalid options */
  BREW_UNAVAILABLE = 3, /* a missing file, feature or library; too little memory
                         * or disk space */
  BREW_SHAPES_VARY = 4, /* the net changes shapes while it runs, which no plan
                         * does */
  BREW_BUG = 70         /* a defect of Brew */
} brew_status;

/* Initializes a structure that the library reads or fills in. The size lets
 * later versions add fields:
 * `brew_diagnostic diagnostic = BREW_STRUCT(brew_diagnostic);`. In C++ set
 * struct_size, or use the C++ header. */
#define BREW_STRUCT(type) {.struct_size = sizeof(type)}

#ifdef __cplusplus
}
#endif

#endif
