/*===- options.h - Options of sessions and trainers by name -------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
|* One table defines the options. They are the flags of brew-run, which
|* docs/brew-run.md describes, and the keywords of the Python package:
|*
|*   brew_options *options;
|*   brew_options_create(&options);
|*   brew_options_set(options, "threads", "4");
|*   brew_options_set(options, "check-nan", NULL);
|*   brew_options_set(options, "base-lr", "0.1");
|*   brew_session_options session = BREW_STRUCT(brew_session_options);
|*   session.options = options;
|*   brew_session_open(plan, &session, ...);
|*   brew_trainer_open(session, options, ...);
|*
|* A session uses its options and ignores those of a trainer, and vice versa.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_OPTIONS_H
#define BREW_OPTIONS_H

#include <brew/option.h>
#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The table of options. Callable from any thread. */
BREW_API size_t brew_option_count(void);
/* Fills in row `index`. Returns BREW_USAGE if there is no such row. */
BREW_API brew_status brew_option_get(size_t index, brew_option *option);

/* Creates options with their default values. */
BREW_API brew_status brew_options_create(brew_options **options);
BREW_API void brew_options_destroy(brew_options *options);
BREW_API const char *brew_options_message(const brew_options *options);

/* Sets an option by its name in the table, in which "_" may stand for "-".
 * NULL for `value` sets the option to its implied value. A later value replaces
 * an earlier one, except that lists append. Returns BREW_USAGE, without effect,
 * for an unknown name or an invalid value. */
BREW_API brew_status brew_options_set(brew_options *options, const char *name,
                                      const char *value);

#ifdef __cplusplus
}
#endif

#endif
