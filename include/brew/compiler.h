/*===- compiler.h - Brew's compiler as a library ------------------*- C -*-===*\
|*
|* Compiles the text of a Caffe net or solver to the bytes of a plan:
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
|* No function prints or exits, and every handle owns its memory. Any function
|* may be called from any thread. Several compilations may run at once, also
|* with the same options as long as no thread sets them. A compilation is
|* finished when its handle is returned: then any number of threads may read it.
|*
|* The library writes only these files: outputs of brew_compilation_write(), the
|* files of option "dump-dir", the cache of compiled CUDA kernels
|* ("no-kernel-cache"), temporary files in $TMPDIR, and, if a CUDA kernel does
|* not compile (BREW_BUG), its source there.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_COMPILER_H
#define BREW_COMPILER_H

#include <brew/base.h>
#include <brew/host_layer.h>
#include <brew/option.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when programs compiled with an older header no longer work with
 * the library. Functions and fields may be added without a new version. */
#define BREW_COMPILER_ABI_VERSION 2

/* Returns the library's BREW_COMPILER_ABI_VERSION, to compare with the
 * header's. */
BREW_API int brew_compiler_abi_version(void);

/* Returns the version, such as "0.1.0". The pointer stays valid. */
BREW_API const char *brew_compiler_version(void);

/*===-- The table of options ---------------------------------------------===*/

BREW_API size_t brew_compiler_option_count(void);

/* Fills in row `index`. Returns BREW_USAGE if there is no such row. */
BREW_API brew_status brew_compiler_option_get(size_t index,
                                              brew_option *option);

/*===-- Options of a compilation -----------------------------------------===*/

typedef struct brew_compiler_options brew_compiler_options;

/* Creates options, which the caller destroys. If memory runs out, returns
 * BREW_UNAVAILABLE and sets `*options` to NULL. */
BREW_API brew_status
brew_compiler_options_create(brew_compiler_options **options);
BREW_API void brew_compiler_options_destroy(brew_compiler_options *options);

/* Sets an option of the table; both texts are copied. NULL for `value` sets the
 * option to its implied value. A later value replaces an earlier one, except
 * that lists append. Returns BREW_USAGE, without effect, for an unknown name or
 * an invalid value. The compilation checks combinations of options. */
BREW_API brew_status brew_compiler_options_set(brew_compiler_options *options,
                                               const char *name,
                                               const char *value);

/* Returns the reason why the last call that set or added something failed; ""
 * if it succeeded. Valid until the next such call. */
BREW_API const char *
brew_compiler_options_message(const brew_compiler_options *options);

/* Adds a host layer type: layers that the program computes (the structure is
 * copied; `user` must stay valid). The compiling thread calls its `shapes`.
 * Returns BREW_USAGE if the type has no name, is one of Brew's own, or was
 * added before. */
BREW_API brew_status brew_compiler_options_add_host_layer(
    brew_compiler_options *options, const brew_host_layer *layer);

/* Sets the number of parameters of a layer that the program computes, for
 * brew_describe_net(). Returns BREW_USAGE for a negative number. */
BREW_API brew_status brew_compiler_options_set_param_count(
    brew_compiler_options *options, const char *layer, int count);

typedef enum brew_severity {
  BREW_ERROR = 0,
  BREW_WARNING = 1,
  BREW_NOTE = 2
} brew_severity;

/* A further location that explains a diagnostic. This structure never grows. */
typedef struct brew_note {
  const char *file;    /* "" if unknown */
  int line;            /* from 1; 0 if unknown */
  int column;          /* from 1, in bytes; 0 if unknown */
  const char *message; /* UTF-8 */
} brew_note;

typedef struct brew_diagnostic {
  size_t struct_size;
  brew_severity severity;
  const char *file;    /* "" if no file is concerned */
  int line;            /* from 1; 0 if unknown */
  int column;          /* from 1, in bytes; 0 if unknown */
  const char *layer;   /* the layer concerned; "" if none */
  const char *message; /* UTF-8; further lines come from another compiler */
  size_t note_count;
  const brew_note *notes;
} brew_diagnostic;

/* `diagnostic` is valid during the call. */
typedef void (*brew_diagnostic_function)(void *user,
                                         const brew_diagnostic *diagnostic);

/* Sets the function that receives every diagnostic immediately; NULL removes
 * it. The compilation stores the diagnostics in either case. */
BREW_API void
brew_compiler_options_on_diagnostic(brew_compiler_options *options,
                                    brew_diagnostic_function function,
                                    void *user);

/*===-- Compilations -----------------------------------------------------===*/

typedef struct brew_compilation brew_compilation;

/* Compiles a net or solver. NULL for `options` means all defaults. Sets
 * `*compilation`, which the caller destroys, on success and on failure. Sets it
 * to NULL only if memory runs out (BREW_UNAVAILABLE) or a required argument is
 * NULL (BREW_USAGE). Returns brew_compilation_status(). */
BREW_API brew_status brew_compile_file(const brew_compiler_options *options,
                                       const char *path,
                                       brew_compilation **compilation);

/* Compiles `size` bytes of text, which are copied. Diagnostics call the text
 * `name` (NULL: "<text>"). Files named in the text are looked up in the
 * working directory and then in `folder`, unless it is NULL. */
BREW_API brew_status brew_compile_text(const brew_compiler_options *options,
                                       const char *text, size_t size,
                                       const char *name, const char *folder,
                                       brew_compilation **compilation);

/* Converts a net or solver to current syntax (BREW_OUTPUT_UPGRADED) instead of
 * compiling it. Uses only the diagnostic function of `options`. */
BREW_API brew_status brew_upgrade_file(const brew_compiler_options *options,
                                       const char *path,
                                       brew_compilation **compilation);
BREW_API brew_status brew_upgrade_text(const brew_compiler_options *options,
                                       const char *text, size_t size,
                                       const char *name,
                                       brew_compilation **compilation);

/* Describes a net as Caffe sets it up, instead of compiling it: an encoded
 * NetParameter of `size` bytes in current syntax. Diagnostics call it `name`
 * (NULL: "<net>"). Uses the options "phase", which is required, "level" and
 * "stage", the host layers and the parameter counts of `options`; a Python
 * layer without a count has as many parameters as it has `param`. A loss
 * without tops gets the top "(automatic) NAME", since Caffe adds one, too.
 * Reads no files, and checks no settings of single layers.
 *
 * BREW_OUTPUT_NET is an encoded NetParameter with the layers that the state
 * includes; it is available even if the net has errors. BREW_OUTPUT_SPLIT_NET
 * is this net with the Split layers that Caffe inserts after blobs with several
 * readers. BREW_OUTPUT_REPORT is JSON:
 *
 *   {"layers": [                    for each layer of BREW_OUTPUT_SPLIT_NET:
 *      {"loss_weights": [1],        of each top
 *       "needs_backward": true,     whether the backward pass runs the layer
 *       "bottom_gradients": [true], whether it computes each bottom's gradient
 *       "params": [                 for each parameter:
 *         {"number": 0,             its number; layers that share it agree
 *          "is_statistic": false,   whether the layer itself computes it
 *          "has_gradient": true}]}],
 *    "params": [                    for each number:
 *      {"lr_mult": 1, "decay_mult": 1}]}
 *
 * Numbers that are not finite are the texts "nan", "inf" and "-inf". */
BREW_API brew_status brew_describe_net(const brew_compiler_options *options,
                                       const void *net, size_t size,
                                       const char *name,
                                       brew_compilation **compilation);

BREW_API void brew_compilation_destroy(brew_compilation *compilation);

/* Pointers returned by the following functions are valid until the compilation
 * is destroyed. */

BREW_API brew_status
brew_compilation_status(const brew_compilation *compilation);

/* Returns the first error with its location, "FILE:LINE:COL: error: ..."; "" if
 * there is none. After a failed brew_compilation_write(), returns the reason of
 * the failure until the next write. */
BREW_API const char *
brew_compilation_message(const brew_compilation *compilation);

BREW_API size_t
brew_compilation_diagnostic_count(const brew_compilation *compilation);

/* Fills in diagnostic `index`, in the order reported. Returns BREW_USAGE if
 * there is no such diagnostic. */
BREW_API brew_status
brew_compilation_diagnostic(const brew_compilation *compilation, size_t index,
                            brew_diagnostic *diagnostic);

typedef enum brew_output {
  BREW_OUTPUT_PLAN = 0,     /* the plan file's bytes */
  BREW_OUTPUT_REPORT = 1,   /* of option "report": text, JSON or HTML */
  BREW_OUTPUT_UPGRADED = 2, /* of brew_upgrade_file() or _text() */
  BREW_OUTPUT_NET = 3,      /* of brew_describe_net() */
  BREW_OUTPUT_SPLIT_NET = 4 /* of brew_describe_net() */
} brew_output;

/* Sets `*bytes` to the output, followed by a 0, and `*size` to its size; to an
 * empty text if the output was not requested or could not be produced. Returns
 * BREW_USAGE if `output` is invalid. */
BREW_API brew_status brew_compilation_get(const brew_compilation *compilation,
                                          brew_output output,
                                          const char **bytes, size_t *size);

/* Writes an output to a file atomically. Only one thread at a time may call
 * this function for a compilation. Returns, with a message, BREW_USAGE if the
 * output was not requested or could not be produced, and BREW_UNAVAILABLE if
 * the file cannot be written. */
BREW_API brew_status brew_compilation_write(brew_compilation *compilation,
                                            brew_output output,
                                            const char *path);

/* Returns the number of texts requested by option "emit", unless option
 * "dump-dir" sends them to files. A failed compilation has the texts that
 * were completed before the failure. */
BREW_API size_t
brew_compilation_artifact_count(const brew_compilation *compilation);
/* Returns the file name of artifact `index` ("graph.mlir"), its text followed
 * by a 0, and the text's size. Returns BREW_USAGE if there is no such artifact.
 */
BREW_API brew_status
brew_compilation_artifact(const brew_compilation *compilation, size_t index,
                          const char **name, const char **text, size_t *size);

/*===-- Settings of the process ------------------------------------------===*/

/* Sets MLIR's and LLVM's own options, such as "--mlir-print-ir-after-all" or
 * "--mlir-timing", which print to standard error. Values follow a "=". The
 * options apply to every compilation of the process; call this function while
 * no compilation runs. While one of several compilations links its kernels, the
 * others may see LLVM's defaults instead: compile one at a time if the options
 * matter. Returns BREW_USAGE for unknown options, with the reason in `message`
 * (at most `size` bytes including the final 0; may be NULL); the previous
 * options stay in force. */
BREW_API brew_status brew_compiler_set_llvm_arguments(
    int count, const char *const *arguments, char *message, size_t size);

/* For programs that only compile: a crash prints a stack trace and how to
 * report it, and a lack of memory ends the program with status 3. Installs
 * signal handlers. The arguments are main()'s and must stay valid. */
BREW_API void brew_compiler_report_crashes(int count,
                                           const char *const *arguments);

#ifdef __cplusplus
}
#endif

#endif
