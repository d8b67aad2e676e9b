/* Runs a net on generated inputs and prints its first output.
 *
 *   brewc ../mnist/lenet.prototxt -o lenet.plan
 *   cc -std=c99 inference.c -lbrew_runtime -o inference
 *   ./inference lenet.plan [lenet.caffemodel]
 */
#include <brew/brew.h>

#include <stdio.h>
#include <stdlib.h>

/* Fills every input with values between 0 and 1. */
static int set_inputs(brew_session *session, int program) {
  const size_t count = brew_session_input_count(session, program);
  size_t i;
  for (i = 0; i < count; ++i) {
    brew_input input = BREW_STRUCT(brew_input);
    brew_status status = brew_session_get_input(session, program, i, &input);
    float *values;
    int64_t k;
    if (status != BREW_OK)
      return status;
    values = malloc((size_t)input.count * sizeof *values);
    if (!values)
      return BREW_UNAVAILABLE;
    for (k = 0; k < input.count; ++k)
      values[k] = (float)(k % 17) / 16;
    /* The values are copied. */
    status = brew_session_set_input(session, program, input.name, BREW_F32,
                                    values, input.count);
    free(values);
    if (status != BREW_OK)
      return status;
  }
  return BREW_OK;
}

/* Prints the first row of a blob. */
static int print_first_row(brew_session *session, int program,
                           const char *blob) {
  brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
  brew_tensor tensor = BREW_STRUCT(brew_tensor);
  brew_status status;
  float *values;
  int64_t row, k;
  name.kind = BREW_BLOB;
  name.program = program;
  name.name = blob;
  status = brew_session_find(session, &name, &tensor);
  if (status != BREW_OK)
    return status;
  values = malloc((size_t)tensor.count * sizeof *values);
  if (!values)
    return BREW_UNAVAILABLE;
  status = brew_session_read(session, &name, BREW_F32, values, tensor.count);
  if (status == BREW_OK) {
    row = tensor.shape_ndim ? tensor.count / tensor.shape[0] : 1;
    printf("%s:", blob);
    for (k = 0; k < row; ++k)
      printf(" %.4f", values[k]);
    printf("\n");
  }
  free(values);
  return status;
}

int main(int argc, char **argv) {
  brew_plan *plan = NULL;
  brew_session *session = NULL;
  brew_program_info info = BREW_STRUCT(brew_program_info);
  int program = 0; /* "deploy" in plans for inference */
  int status;

  if (argc < 2) {
    fprintf(stderr, "usage: inference NET.plan [WEIGHTS]\n");
    return BREW_USAGE;
  }
  if (brew_abi_version() != BREW_ABI_VERSION) {
    fprintf(stderr, "this libbrew_runtime is of another version\n");
    return BREW_USAGE;
  }
  status = brew_plan_open(argv[1], &plan);
  if (status != BREW_OK) {
    fprintf(stderr, "%s\n", brew_plan_message(plan));
    brew_plan_destroy(plan);
    return status;
  }
  status = brew_session_open(plan, NULL, &session);
  if (status == BREW_OK)
    status = brew_session_initialise(session, (const char *const *)(argv + 2),
                                     (size_t)(argc - 2), 0);
  if (status == BREW_OK)
    status = set_inputs(session, program);
  if (status == BREW_OK)
    status = brew_session_feed_and_run(session, program);
  if (status == BREW_OK)
    status = brew_plan_get_program(plan, program, &info);
  if (status == BREW_OK && info.output_count)
    status = print_first_row(session, program, info.outputs[0]);
  if (status != BREW_OK)
    fprintf(stderr, "%s\n", brew_session_message(session));
  brew_session_destroy(session);
  brew_plan_destroy(plan);
  return status;
}
