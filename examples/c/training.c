/* Trains a net on batches that the program generates: y = 2 a - 3 b + 1.
 *
 *   brewc line_solver.prototxt -o line.plan
 *   cc -std=c99 training.c -lbrew_runtime -o training
 *   ./training line.plan line.caffemodel
 */
#include <brew/brew.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* State of the feed between batches. */
struct random_numbers {
  unsigned state;
};

static double draw(struct random_numbers *random_numbers) {
  random_numbers->state = random_numbers->state * 1664525u + 1013904223u;
  return (double)(random_numbers->state >> 8) / (1 << 24) * 2 - 1;
}

/* Called for each batch, with both inputs. */
static brew_status feed(const brew_feed_request *requests, size_t count,
                        void *user) {
  struct random_numbers *random_numbers = user;
  float *x = NULL, *y = NULL;
  int64_t rows = 0, row;
  size_t i;
  for (i = 0; i < count; ++i) {
    if (strcmp(requests[i].input, "x") == 0) {
      x = requests[i].values; /* BREW_F32: the plan's precision */
      rows = requests[i].dims[0];
    } else {
      y = requests[i].values;
    }
  }
  if (!x || !y)
    return BREW_USAGE;
  for (row = 0; row < rows; ++row) {
    const double a = draw(random_numbers), b = draw(random_numbers);
    x[2 * row] = (float)a;
    x[2 * row + 1] = (float)b;
    y[row] = (float)(2 * a - 3 * b + 1);
  }
  return BREW_OK;
}

static void listen(const brew_event *event, void *user) {
  (void)user;
  if (event->kind == BREW_EVENT_ITERATION && event->iteration % 50 == 0)
    printf("iteration %d: loss %.6f\n", event->iteration, event->loss);
}

static int read_parameter(brew_session *session, int index, float *values,
                          int64_t count) {
  brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
  name.kind = BREW_PARAMETER;
  name.name = "line";
  name.index = index;
  return brew_session_read(session, &name, BREW_F32, values, count);
}

int main(int argc, char **argv) {
  brew_plan *plan = NULL;
  brew_session *session = NULL;
  brew_trainer *trainer = NULL;
  brew_session_options options = BREW_STRUCT(brew_session_options);
  struct random_numbers random_numbers = {1};
  float weights[2] = {0, 0}, bias = 0;
  int status;

  if (argc != 3) {
    fprintf(stderr, "usage: training LINE.plan OUT.caffemodel\n");
    return BREW_USAGE;
  }
  options.listener = listen;

  status = brew_plan_open(argv[1], &plan);
  if (status != BREW_OK)
    fprintf(stderr, "%s\n", brew_plan_message(plan));
  if (status == BREW_OK) {
    status = brew_session_open(plan, &options, &session);
    /* Set the feed first: brew_trainer_open opens the sources of all other
     * inputs. */
    if (status == BREW_OK)
      status = brew_session_set_feed(
          session, brew_plan_find_program(plan, "forward_backward"), NULL, 0,
          feed, &random_numbers);
    if (status != BREW_OK)
      fprintf(stderr, "%s\n", brew_session_message(session));
  }
  if (status == BREW_OK) {
    status = brew_trainer_open(session, NULL, &trainer);
    if (status == BREW_OK)
      status = brew_trainer_step(trainer, 150);
    /* Another thread may do this during training. */
    if (status == BREW_OK)
      status = brew_trainer_set_field(trainer, "base_lr", "0.02", NULL, 0);
    if (status == BREW_OK)
      status = brew_trainer_step(trainer, 50);
    if (status != BREW_OK)
      fprintf(stderr, "%s\n", brew_trainer_message(trainer));
  }
  if (status == BREW_OK) {
    status = read_parameter(session, 0, weights, 2);
    if (status == BREW_OK)
      status = read_parameter(session, 1, &bias, 1);
    if (status == BREW_OK)
      status = brew_session_save_weights(session, argv[2]);
    if (status != BREW_OK)
      fprintf(stderr, "%s\n", brew_session_message(session));
    else
      printf("y = %.2f a + %.2f b + %.2f\n", weights[0], weights[1], bias);
  }
  brew_trainer_destroy(trainer);
  brew_session_destroy(session);
  brew_plan_destroy(plan);
  if (status == BREW_OK &&
      fabs(weights[0] - 2) + fabs(weights[1] + 3) + fabs(bias - 1) > 0.05)
    return BREW_BAD_INPUT;
  return status;
}
