/* A plugin with one layer type, "Own", which computes y = 2 x. With NO_LAYERS
   it has no type. */
#include <brew/host_plugin.h>

static brew_status shapes(brew_host_setup *setup) {
  setup->tops[0] = setup->bottoms[0];
  return BREW_OK;
}

static brew_status forward(brew_host_call *call) {
  const float *x = call->bottoms[0].values;
  float *y = call->tops[0].values;
  for (int64_t i = 0; i < call->tops[0].count; ++i)
    y[i] = 2 * x[i];
  return BREW_OK;
}

static brew_status backward(brew_host_call *call) {
  const float *dy = call->tops[0].gradient;
  float *dx = call->bottoms[0].gradient;
  for (int64_t i = 0; i < call->tops[0].count; ++i)
    dx[i] = 2 * dy[i];
  return BREW_OK;
}

const brew_host_layer *brew_host_layers(size_t *count) {
  static brew_host_layer layers[1] = {BREW_STRUCT(brew_host_layer)};
  layers[0].type = "Own";
  layers[0].shapes = shapes;
  layers[0].forward = forward;
  layers[0].backward = backward;
  *count = NO_LAYERS ? 0 : 1;
  return layers;
}
