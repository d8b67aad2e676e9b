/* Trains a net with a host layer, "Soft": a smooth ReLU whose sharpness is in
 * the prototxt. Both libraries use the same description: the compiler calls it
 * for shapes, the session to compute.
 *
 *   cc host_layer.c -lbrew_compiler -lbrew_runtime -lm -o host_layer
 *   ./host_layer
 */
#include <brew/brew.h>
#include <brew/compiler.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char net[] =
    "layer { name: 'in' type: 'Input' top: 'x' top: 'target'\n"
    "  input_param { shape { dim: 32 dim: 1 } shape { dim: 32 dim: 1 } } }\n"
    "layer { name: 'hidden' type: 'InnerProduct' bottom: 'x' top: 'h'\n"
    "  inner_product_param { num_output: 8 weight_filler { type: 'xavier' }\n"
    "    bias_filler { type: 'uniform' min: -1 max: 1 } } }\n"
    "layer { name: 'soft' type: 'Soft' bottom: 'h' top: 's'\n"
    "  python_param { param_str: '4' } }\n"
    "layer { name: 'out' type: 'InnerProduct' bottom: 's' top: 'y'\n"
    "  inner_product_param { num_output: 1 weight_filler { type: 'xavier' } } "
    "}\n"
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target'\n"
    "  top: 'loss' }\n";

/* The top has the bottom's shape. */
static brew_status shapes(brew_host_setup *setup) {
  if (setup->bottom_count != 1 || setup->top_count != 1) {
    snprintf(setup->message, setup->message_size,
             "takes one bottom and produces one top");
    return BREW_BAD_INPUT;
  }
  setup->tops[0] = setup->bottoms[0];
  return BREW_OK;
}

/* Creates the layer's state between calls: its sharpness. */
static brew_status create(brew_host_setup *setup, void **instance) {
  float *sharpness = malloc(sizeof *sharpness);
  if (!sharpness)
    return BREW_UNAVAILABLE;
  *sharpness = *setup->param_str ? (float)atof(setup->param_str) : 1;
  *instance = sharpness;
  if (*sharpness > 0)
    return BREW_OK;
  snprintf(setup->message, setup->message_size,
           "param_str must be a sharpness above 0");
  return BREW_BAD_INPUT;
}

static void destroy(void *instance, void *user) {
  (void)user;
  free(instance);
}

/* y = log(1 + exp(k x)) / k */
static brew_status forward(brew_host_call *call) {
  const float k = *(const float *)call->instance;
  const float *x = call->bottoms[0].values;
  float *y = call->tops[0].values;
  for (int64_t i = 0; i < call->tops[0].count; ++i)
    y[i] = (fmaxf(k * x[i], 0) + log1pf(expf(-fabsf(k * x[i])))) / k;
  return BREW_OK;
}

static brew_status backward(brew_host_call *call) {
  const float k = *(const float *)call->instance;
  const float *x = call->bottoms[0].values;
  const float *dy = call->tops[0].gradient;
  float *dx = call->bottoms[0].gradient;
  if (!dx)
    return BREW_OK; /* the bottom needs no gradient */
  for (int64_t i = 0; i < call->bottoms[0].count; ++i)
    dx[i] = dy[i] / (1 + expf(-k * x[i]));
  return BREW_OK;
}

/* Provides batches of the function that the net learns. */
static brew_status feed(const brew_feed_request *requests, size_t count,
                        void *user) {
  unsigned *random = user;
  float x[32];
  for (int i = 0; i < 32; ++i) {
    *random = *random * 1664525u + 1013904223u;
    x[i] = (float)(*random >> 8) / (1 << 23) - 1;
  }
  for (size_t r = 0; r < count; ++r) {
    float *values = requests[r].values;
    const int is_input = strcmp(requests[r].input, "x") == 0;
    for (int i = 0; i < 32; ++i)
      values[i] = is_input ? x[i] : fabsf(x[i]);
  }
  return BREW_OK;
}

static int fail(const char *message, brew_status status) {
  fprintf(stderr, "%s\n", message);
  return status ? (int)status : BREW_BUG;
}

int main(void) {
  brew_host_layer soft = BREW_STRUCT(brew_host_layer);
  soft.type = "Soft";
  soft.shapes = shapes;
  soft.create = create;
  soft.destroy = destroy;
  soft.forward = forward;
  soft.backward = backward;

  brew_compiler_options *options;
  brew_compilation *compilation;
  brew_status status = brew_compiler_options_create(&options);
  if (status != BREW_OK)
    return fail("no memory", status);
  status = brew_compiler_options_add_host_layer(options, &soft);
  if (status != BREW_OK)
    return fail(brew_compiler_options_message(options), status);
  status = brew_compile_text(options, net, strlen(net), "soft.prototxt", NULL,
                             &compilation);
  if (status != BREW_OK)
    return fail(brew_compilation_message(compilation), status);
  const char *bytes;
  size_t size;
  brew_compilation_get(compilation, BREW_OUTPUT_PLAN, &bytes, &size);

  brew_plan *plan;
  brew_session *session;
  brew_trainer *trainer;
  status = brew_plan_open_memory(bytes, size, "soft.plan", 0, &plan);
  if (status != BREW_OK)
    return fail(brew_plan_message(plan), status);
  brew_session_options session_options = BREW_STRUCT(brew_session_options);
  session_options.host_layers = &soft;
  session_options.host_layer_count = 1;
  status = brew_session_open(plan, &session_options, &session);
  if (status != BREW_OK)
    return fail(brew_session_message(session), status);

  unsigned random = 1;
  const int program = brew_plan_find_program(plan, "forward_backward");
  status = brew_session_set_feed(session, program, NULL, 0, feed, &random);
  if (status != BREW_OK)
    return fail(brew_session_message(session), status);
  brew_options *trainer_options;
  status = brew_options_create(&trainer_options);
  if (status == BREW_OK)
    status = brew_options_set(trainer_options, "base-lr", "0.05");
  if (status == BREW_OK)
    status = brew_options_set(trainer_options, "momentum", "0.9");
  if (status == BREW_OK)
    status = brew_options_set(trainer_options, "random-seed", "1");
  if (status != BREW_OK)
    return fail(brew_options_message(trainer_options), status);
  status = brew_trainer_open(session, trainer_options, &trainer);
  brew_options_destroy(trainer_options);
  if (status == BREW_OK)
    status = brew_trainer_step(trainer, 500);
  if (status != BREW_OK)
    return fail(brew_trainer_message(trainer), status);
  const double loss = brew_trainer_smoothed_loss(trainer);
  printf("loss after 500 iterations: %.5f\n", loss);

  brew_trainer_destroy(trainer);
  brew_session_destroy(session);
  brew_plan_destroy(plan);
  brew_compilation_destroy(compilation);
  brew_compiler_options_destroy(options);
  return loss < 0.005 ? BREW_OK : BREW_BAD_INPUT;
}
