/* Compiles a net in memory, runs it on a batch and reads its output.
 *
 *   cc -std=c99 infer.c -lbrew_compiler -lbrew_runtime -o infer
 */
#include <brew/brew.h>
#include <brew/compiler.h>

#include <stdio.h>
#include <string.h>

/* Sums the three values of each item. */
static const char net[] =
    "name: 'sums'\n"
    "layer { name: 'in' type: 'Input' top: 'x'\n"
    "  input_param { shape { dim: 2 dim: 3 } } }\n"
    "layer { name: 'sum' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
    "  inner_product_param { num_output: 1 bias_term: false\n"
    "    weight_filler { type: 'constant' value: 1 } } }\n";

static int fail(const char *action, const char *reason) {
  fprintf(stderr, "infer: %s: %s\n", action, reason);
  return 1;
}

static int infer(const brew_plan *plan, brew_session *session) {
  const float batch[] = {1, 2, 3, 4, 5, 6};
  float sums[2];
  brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
  const int program = brew_plan_find_program(plan, "deploy");

  name.kind = BREW_BLOB;
  name.program = program;
  name.name = "y";
  if (brew_session_initialise(session, NULL, 0, 0) != BREW_OK ||
      brew_session_set_input(session, program, "x", BREW_F32, batch, 6) !=
          BREW_OK ||
      brew_session_feed_and_run(session, program) != BREW_OK ||
      brew_session_read(session, &name, BREW_F32, sums, 2) != BREW_OK)
    return fail("running", brew_session_message(session));
  printf("sums: %g %g\n", sums[0], sums[1]);
  return 0;
}

int main(void) {
  brew_compilation *compilation;
  brew_plan *plan;
  brew_session *session;
  const char *bytes;
  size_t size;
  int failed;

  if (brew_compile_text(NULL, net, strlen(net), "sums.prototxt", NULL,
                        &compilation) != BREW_OK)
    return fail("compiling", brew_compilation_message(compilation));
  brew_compilation_get(compilation, BREW_OUTPUT_PLAN, &bytes, &size);
  /* The plan has a copy of the bytes. */
  if (brew_plan_open_memory(bytes, size, "sums", 0, &plan) != BREW_OK)
    return fail("opening the plan", brew_plan_message(plan));
  brew_compilation_destroy(compilation);

  if (brew_session_open(plan, NULL, &session) != BREW_OK)
    return fail("opening a session", brew_session_message(session));
  failed = infer(plan, session);
  brew_session_destroy(session);
  brew_plan_destroy(plan);
  return failed;
}
