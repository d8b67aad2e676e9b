/* Compiles a net from its text, and prints the errors of an invalid one.
 *
 *   cc -std=c99 compile.c -lbrew_compiler -o compile
 *   ./compile relu.plan && brew-run inspect relu.plan
 */
#include <brew/compiler.h>

#include <stdio.h>
#include <string.h>

static const char net[] =
    "name: 'relu'\n"
    "layer { name: 'in' type: 'Input' top: 'x'\n"
    "  input_param { shape { dim: 2 dim: 3 } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
    "  inner_product_param { num_output: 4 } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'z' }\n";

static void print_diagnostics(const brew_compilation *compilation) {
  brew_diagnostic diagnostic = BREW_STRUCT(brew_diagnostic);
  size_t i, n;
  for (i = 0;
       brew_compilation_diagnostic(compilation, i, &diagnostic) == BREW_OK;
       ++i) {
    printf("%s:%d:%d: %s (about layer '%s')\n", diagnostic.file,
           diagnostic.line, diagnostic.column, diagnostic.message,
           diagnostic.layer);
    for (n = 0; n < diagnostic.note_count; ++n)
      printf("  %s:%d: %s\n", diagnostic.notes[n].file,
             diagnostic.notes[n].line, diagnostic.notes[n].message);
  }
}

/* Compiles the net without its first layer: the bottom of 'ip' is unknown. */
static int compile_wrong_net(void) {
  const char *net_without_input = strstr(net, "layer { name: 'ip'");
  brew_compilation *compilation;
  const brew_status status =
      brew_compile_text(NULL, net_without_input, strlen(net_without_input),
                        "wrong.prototxt", NULL, &compilation);
  print_diagnostics(compilation);
  brew_compilation_destroy(compilation);
  return status == BREW_BAD_INPUT;
}

int main(int argc, char **argv) {
  brew_compiler_options *options;
  brew_compilation *compilation;
  brew_status status;
  const char *plan, *report;
  size_t size;

  if (argc != 2) {
    fprintf(stderr, "usage: compile FILE.plan\n");
    return BREW_USAGE;
  }
  if (brew_compiler_abi_version() != BREW_COMPILER_ABI_VERSION) {
    fprintf(stderr, "this libbrew_compiler is of another version\n");
    return BREW_USAGE;
  }
  if (brew_compiler_options_create(&options) != BREW_OK)
    return BREW_UNAVAILABLE;
  if (brew_compiler_options_set(options, "report", "text") != BREW_OK) {
    fprintf(stderr, "%s\n", brew_compiler_options_message(options));
    return BREW_USAGE;
  }

  status = brew_compile_text(options, net, strlen(net), "net.prototxt", NULL,
                             &compilation);
  if (status == BREW_OK)
    status = brew_compilation_write(compilation, BREW_OUTPUT_PLAN, argv[1]);
  if (status == BREW_OK) {
    brew_compilation_get(compilation, BREW_OUTPUT_PLAN, &plan, &size);
    printf("%lu bytes of plan\n", (unsigned long)size);
    brew_compilation_get(compilation, BREW_OUTPUT_REPORT, &report, &size);
    fputs(report, stdout);
  } else {
    fprintf(stderr, "%s\n", brew_compilation_message(compilation));
  }
  brew_compilation_destroy(compilation);
  brew_compiler_options_destroy(options);
  if (status != BREW_OK)
    return status;
  return compile_wrong_net() ? 0 : BREW_BUG;
}
