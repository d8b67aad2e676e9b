/* Classifies images with a net for inference, and prints the best class of
 * each.
 *
 *   brewc net.prototxt --deploy --weights net.caffemodel -o deploy.plan
 *   cc -std=c99 classify.c -lbrew_runtime -o classify
 *   ./classify deploy.plan cat.jpg dog.jpg
 *
 * An argument may also be a folder of images, a database or an IDX file. A plan
 * of brewc --deploy records how images are prepared, and often the names of the
 * classes. With other plans, images are resized to the net's input.
 */
#include <brew/brew.h>

#include <stdio.h>
#include <stdlib.h>

/* The input and the output of a net, of programs that classify one sample after
 * the other. */
typedef struct classifier {
  brew_session *session;
  int program;
  const char *output; /* blob of probabilities */
  brew_input input;
  brew_input_transform transform;
  int has_transform;
  float *batch;  /* values of the input */
  float *scores; /* values of the output */
  int64_t sample_size, score_count, class_count;
} classifier;

static int fail(const char *reason) {
  fprintf(stderr, "classify: %s\n", reason);
  return 1;
}

/* Fills in the sizes and allocates the arrays. Returns 0 on success. */
static int prepare(const brew_plan *plan, classifier *c) {
  const brew_input_transform transform = BREW_STRUCT(brew_input_transform);
  const brew_input input = BREW_STRUCT(brew_input);
  brew_program_info info = BREW_STRUCT(brew_program_info);
  brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
  brew_tensor tensor = BREW_STRUCT(brew_tensor);

  c->transform = transform;
  c->input = input;
  c->program = brew_plan_find_program(plan, "deploy");
  if (c->program < 0)
    return fail("this is no plan for inference");
  if (brew_plan_get_program(plan, c->program, &info) != BREW_OK ||
      !info.output_count)
    return fail("the net has no output");
  c->output = info.outputs[0];
  if (brew_session_get_input(c->session, c->program, 0, &c->input) != BREW_OK ||
      c->input.ndim < 2)
    return fail("the net has no input of samples");
  if (brew_plan_get_input_transform(plan, c->program, c->input.name,
                                    &c->transform,
                                    &c->has_transform) != BREW_OK)
    return fail(brew_plan_message(plan));

  name.kind = BREW_BLOB;
  name.program = c->program;
  name.name = c->output;
  if (brew_session_find(c->session, &name, &tensor) != BREW_OK)
    return fail(brew_session_message(c->session));
  c->score_count = tensor.count;
  /* The first dimension is the batch. */
  c->class_count = tensor.count / (tensor.shape_ndim ? tensor.shape[0] : 1);
  c->sample_size = c->input.count / c->input.dims[0];
  c->batch = calloc((size_t)c->input.count, sizeof *c->batch);
  c->scores = malloc((size_t)c->score_count * sizeof *c->scores);
  return c->batch && c->scores ? 0 : fail("out of memory");
}

/* Runs the net on a sample, as the first one of a batch, and prints its best
 * class. */
static int classify(classifier *c, const brew_record *record) {
  brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
  int64_t i, best = 0;

  for (i = 0; i < c->sample_size; ++i)
    c->batch[i] = record->values[i];
  name.kind = BREW_BLOB;
  name.program = c->program;
  name.name = c->output;
  if (brew_session_set_input(c->session, c->program, c->input.name, BREW_F32,
                             c->batch, c->input.count) != BREW_OK ||
      brew_session_feed_and_run(c->session, c->program) != BREW_OK ||
      brew_session_read(c->session, &name, BREW_F32, c->scores,
                        c->score_count) != BREW_OK)
    return fail(brew_session_message(c->session));
  for (i = 1; i < c->class_count; ++i)
    if (c->scores[i] > c->scores[best])
      best = i;
  if (c->has_transform && (size_t)best < c->transform.label_count)
    printf("%s: %s (%.4f)\n", record->name, c->transform.labels[best],
           c->scores[best]);
  else
    printf("%s: class %d (%.4f)\n", record->name, (int)best, c->scores[best]);
  return 0;
}

/* Classifies all samples of a file or folder. */
static int classify_all(classifier *c, const char *path) {
  brew_records_options options = BREW_STRUCT(brew_records_options);
  brew_record record = BREW_STRUCT(brew_record);
  brew_records *records = NULL;
  int more = 1, failed = 0;
  size_t i;

  options.ndim = c->input.ndim - 1;
  for (i = 0; i < options.ndim; ++i)
    options.dims[i] = c->input.dims[i + 1];
  options.transform = c->has_transform ? &c->transform : NULL;
  if (brew_records_open(path, &options, &records) != BREW_OK)
    failed = fail(brew_records_message(records));
  while (!failed && more) {
    if (brew_records_next(records, &record, &more) != BREW_OK)
      failed = fail(brew_records_message(records));
    else if (more)
      failed = classify(c, &record);
  }
  brew_records_destroy(records);
  return failed;
}

int main(int argc, char **argv) {
  brew_plan *plan = NULL;
  classifier c = {0};
  int failed = 0, i;

  if (argc < 3) {
    fprintf(stderr, "usage: classify DEPLOY.plan IMAGE...\n");
    return BREW_USAGE;
  }
  if (brew_plan_open(argv[1], &plan) != BREW_OK)
    failed = fail(brew_plan_message(plan));
  else if (brew_session_open(plan, NULL, &c.session) != BREW_OK ||
           brew_session_initialise(c.session, NULL, 0, BREW_REQUIRE_WEIGHTS) !=
               BREW_OK)
    failed = fail(brew_session_message(c.session));
  else
    failed = prepare(plan, &c);
  for (i = 2; !failed && i < argc; ++i)
    failed = classify_all(&c, argv[i]);
  free(c.batch);
  free(c.scores);
  brew_session_destroy(c.session);
  brew_plan_destroy(plan);
  return failed;
}
