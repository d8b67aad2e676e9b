/*===- option.h - A row of a table of options ---------------------*- C -*-===*\
|*
|* Common to the tables of the compiler (compiler.h) and the runtime
|* (options.h).
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_OPTION_H
#define BREW_OPTION_H

#include <brew/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brew_option_kind {
  BREW_OPTION_FLAG = 0,    /* "true" or "false" */
  BREW_OPTION_TEXT = 1,    /* any text */
  BREW_OPTION_INTEGER = 2, /* 64 bits */
  BREW_OPTION_REAL = 3,
  BREW_OPTION_CHOICE = 4,  /* one of the values */
  BREW_OPTION_LIST = 5,    /* any number of values; setting it appends one */
  BREW_OPTION_INTEGERS = 6 /* integers separated by commas */
} brew_option_kind;

/* A row of a table. Its pointers stay valid. */
typedef struct brew_option {
  size_t struct_size;
  const char *name; /* the tools' flag without dashes: "target" */
  brew_option_kind kind;
  const char *help;       /* one sentence */
  const char *value_name; /* name of the value in usage lines */
  /* The value if the option is not set; "" if there is none. */
  const char *default_value;
  /* The value if the option is set without one; NULL if a value is required. */
  const char *implied_value;
  /* All allowed values, each with its meaning; empty if any value is
   * allowed. */
  size_t value_count;
  const char *const *values;
  const char *const *value_help;
  /* The following fields are set by the runtime's table only. */
  const char *group;    /* heading in the help; "" if there is none */
  const char *commands; /* commands of brew-run that take it, separated by
                         * blanks */
  /* The field of the solver that the option overrides, as in the prototxt; NULL
   * if it is no field. */
  const char *field;
  int while_training; /* whether the field may change between iterations */
} brew_option;

#ifdef __cplusplus
}
#endif

#endif
