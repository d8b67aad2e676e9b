/*===- compiler.h - Brew's compiler as a library ------------------*- C -*-===*\
|*
|* From the text of a Caffe net or solver to the bytes of a plan:
|*
|*   brew_compiler_options *options;
|*   brew_compiler_options_create(&options);
|*   brew_compiler_options_set(options, "target", "cuda");
|*   brew_compilation *compilation;
|*   if (brew_compile_file(options, "net.prototxt", &compilation) == BREW_OK)
|*     brew_compilation_write(compilation, BREW_OUTPUT_PLAN, "net.plan");
|*   else
|*     fputs(brew_compilation_message(compilation), stderr);
|*   brew_compilation_destroy(compilation);
|*   brew_compiler_options_destroy(options);
|*
|* Nothing is printed, nothing exits, and every handle's memory is its own. Any
|* function may be called from any thread; several compilations may run at once,
|* also with the same options while nobody sets them. A compilation is finished
|* when its handle is returned: from then on any number of threads may read it.
|*
|* Files written: those of brew_compilation_write() and of the option
|* "dump-dir", the cache of compiled CUDA kernels ("no-kernel-cache"), temporary
|* ones below $TMPDIR, and, if a CUDA kernel does not compile (BREW_BUG), its
|* text there.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_COMPILER_H
#define BREW_COMPILER_H

#include <brew/base.h>
#include <brew/host_layer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when a program compiled with an older header could no longer work with
 * the library; functions and fields may be added without that. */
#define BREW_COMPILER_ABI_VERSION 1

/* The library's BREW_COMPILER_ABI_VERSION: compare it with the header's. */
BREW_API int brew_compiler_abi_version(void);

/* "0.1.0"; for ever. */
BREW_API const char *brew_compiler_version(void);

/*===-- The table of options ---------------------------------------------===*/

typedef enum brew_option_kind {
  BREW_OPTION_FLAG = 0,    /* "true" or "false" */
  BREW_OPTION_TEXT = 1,    /* any */
  BREW_OPTION_INTEGER = 2, /* of 64 bits */
  BREW_OPTION_REAL = 3,
  BREW_OPTION_CHOICE = 4, /* one of the values */
  BREW_OPTION_LIST = 5    /* each value set is added to those before */
} brew_option_kind;

/* A row of the table. Its pointers are valid for ever. */
typedef struct brew_compiler_option {
  size_t struct_size;
  const char *name; /* as brewc's flag, without dashes: "target" */
  brew_option_kind kind;
  const char *help;       /* one sentence */
  const char *value_name; /* what usage lines show for the value */
  /* The value where the option is not set; "" where there is none. */
  const char *default_value;
  /* The value where it is set without one; NULL where it needs one. */
  const char *implied_value;
  /* All values allowed, each with its meaning; none: not a closed set. */
  size_t value_count;
  const char *const *values;
  const char *const *value_help;
} brew_compiler_option;

BREW_API size_t brew_compiler_option_count(void);

/* Fills in row `index`. BREW_USAGE if there is none. */
BREW_API brew_status brew_compiler_option_get(size_t index,
                                              brew_compiler_option *option);

/*===-- Options of a compilation -----------------------------------------===*/

typedef struct brew_compiler_options brew_compiler_options;

/* `*options` is the caller's, to be destroyed; NULL, with BREW_UNAVAILABLE,
 * only without memory. */
BREW_API brew_status
brew_compiler_options_create(brew_compiler_options **options);
BREW_API void brew_compiler_options_destroy(brew_compiler_options *options);

/* Sets an option of the table; both texts are copied. `value` NULL: the option
 * by its name alone. A later value replaces an earlier one, save in a list,
 * whose values add up. BREW_USAGE, and nothing set, for a name or value that is
 * none; what options mean together is checked when something is compiled. */
BREW_API brew_status brew_compiler_options_set(brew_compiler_options *options,
                                               const char *name,
                                               const char *value);

/* Why the last call that set or added something failed; "" if it did not. Valid
 * until the next one. */
BREW_API const char *
brew_compiler_options_message(const brew_compiler_options *options);

/* Makes a type of layers known that the program computes itself (copied; `user`
 * must stay). Its `shapes` is called by the compiling thread. BREW_USAGE: the
 * type has no name, is one of Brew's own, or was added before. */
BREW_API brew_status
brew_compiler_options_add_host_layer(brew_compiler_options *options,
                                     const brew_host_layer *layer);

typedef enum brew_severity {
  BREW_ERROR = 0,
  BREW_WARNING = 1,
  BREW_NOTE = 2
} brew_severity;

/* A further place that explains a diagnostic. This structure never grows. */
typedef struct brew_note {
  const char *file;    /* "" if there is none */
  int line;            /* from 1; 0 if unknown */
  int column;          /* from 1, in bytes; 0 if unknown */
  const char *message; /* UTF-8 */
} brew_note;

typedef struct brew_diagnostic {
  size_t struct_size;
  brew_severity severity;
  const char *file;    /* "" if it belongs to no file */
  int line;            /* from 1; 0 if unknown */
  int column;          /* from 1, in bytes; 0 if unknown */
  const char *layer;   /* the layer it is about; "" if it is about none */
  const char *message; /* UTF-8; further lines are another compiler's */
  size_t note_count;
  const brew_note *notes;
} brew_diagnostic;

/* `diagnostic` is valid during the call. */
typedef void (*brew_diagnostic_function)(void *user,
                                         const brew_diagnostic *diagnostic);

/* Has `function` told every diagnostic as soon as it is known; NULL: nobody.
 * The handle of the compilation has them all the same. */
BREW_API void
brew_compiler_options_on_diagnostic(brew_compiler_options *options,
                                    brew_diagnostic_function function,
                                    void *user);

/*===-- Compilations -----------------------------------------------------===*/

typedef struct brew_compilation brew_compilation;

/* Compiles a net or solver. `options` may be NULL: all as the table has it.
 * `*compilation` is the caller's, to be destroyed, whether it succeeded or not;
 * it is NULL only without memory (BREW_UNAVAILABLE) or where an argument that
 * must not be NULL is (BREW_USAGE). Returns brew_compilation_status(). */
BREW_API brew_status brew_compile_file(const brew_compiler_options *options,
                                       const char *path,
                                       brew_compilation **compilation);

/* The same for `size` bytes of text, which are copied. Diagnostics call it
 * `name` (NULL: "<text>"). Files that it names are looked for from the working
 * directory and then in `folder` (NULL: nowhere else). */
BREW_API brew_status brew_compile_text(const brew_compiler_options *options,
                                       const char *text, size_t size,
                                       const char *name, const char *folder,
                                       brew_compilation **compilation);

/* The net or solver in today's syntax (BREW_OUTPUT_UPGRADED) instead of a plan.
 * Of `options` only the diagnostic function counts. */
BREW_API brew_status brew_upgrade_file(const brew_compiler_options *options,
                                       const char *path,
                                       brew_compilation **compilation);
BREW_API brew_status brew_upgrade_text(const brew_compiler_options *options,
                                       const char *text, size_t size,
                                       const char *name,
                                       brew_compilation **compilation);

BREW_API void brew_compilation_destroy(brew_compilation *compilation);

/* All that these return belongs to the compilation and is valid until it is
 * destroyed. */

BREW_API brew_status
brew_compilation_status(const brew_compilation *compilation);

/* The first error with its place, "FILE:LINE:COL: error: ..."; "" if there is
 * none. After a failed brew_compilation_write() that one's reason, until the
 * next. */
BREW_API const char *
brew_compilation_message(const brew_compilation *compilation);

BREW_API size_t
brew_compilation_diagnostic_count(const brew_compilation *compilation);

/* Fills in diagnostic `index`, in the order found. BREW_USAGE if there is
 * none. */
BREW_API brew_status
brew_compilation_diagnostic(const brew_compilation *compilation, size_t index,
                            brew_diagnostic *diagnostic);

typedef enum brew_output {
  BREW_OUTPUT_PLAN = 0,    /* the plan file's bytes */
  BREW_OUTPUT_REPORT = 1,  /* of option "report": text, JSON or HTML */
  BREW_OUTPUT_UPGRADED = 2 /* of brew_upgrade_file() or _text() */
} brew_output;

/* Gives bytes, with a 0 behind them, and their number; 0 where the output was
 * not asked for or could not be made. BREW_USAGE if `output` is none. */
BREW_API brew_status brew_compilation_get(const brew_compilation *compilation,
                                          brew_output output,
                                          const char **bytes, size_t *size);

/* Writes an output to a file, which appears whole or not at all. One thread at
 * a time. BREW_USAGE where the output was not asked for or could not be made,
 * BREW_UNAVAILABLE if the file cannot be written, each with a message. */
BREW_API brew_status brew_compilation_write(brew_compilation *compilation,
                                            brew_output output,
                                            const char *path);

/* The texts that option "emit" asks for, if option "dump-dir" does not send
 * them to files. A compilation that fails has those made before. */
BREW_API size_t
brew_compilation_artifact_count(const brew_compilation *compilation);
/* Gives the name of artifact `index` as a file's ("graph.mlir"), its text with a
 * 0 behind it, and the text's size. BREW_USAGE if there is none. */
BREW_API brew_status
brew_compilation_artifact(const brew_compilation *compilation, size_t index,
                          const char **name, const char **text, size_t *size);

/*===-- The whole process ------------------------------------------------===*/

/* Sets MLIR's and LLVM's own options, such as "--mlir-print-ir-after-all" or
 * "--mlir-timing", which print to standard error; values stand behind a "=".
 * They hold for every compilation of the process; call it while none runs.
 * While one of several compilations links its kernels, the others may find
 * LLVM's own defaults instead: compile one at a time where the options matter.
 * BREW_USAGE for options that are none, with the reason in `message` (at most
 * `size` bytes with the final 0; may be NULL); those before stay in force. */
BREW_API brew_status brew_compiler_set_llvm_arguments(
    int count, const char *const *arguments, char *message, size_t size);

/* For programs whose whole work is compiling: a crash prints a stack trace and
 * what to report. Sets signal handlers. The arguments are main()'s and must
 * stay. */
BREW_API void brew_compiler_report_crashes(int count,
                                           const char *const *arguments);

#ifdef __cplusplus
}
#endif

#endif
