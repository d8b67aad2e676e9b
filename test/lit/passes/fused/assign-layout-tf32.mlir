// RUN: %brew-opt %s --brew-assign-layout='layout=nhwc precision=tf32' --split-input-file | FileCheck %s

// Weights are channels-last like their blobs, unless something else reads them.
// CHECK: brew.param @c.0 : tensor<8x4x3x3xf32, #brew.layout<0, 2, 3, 1>>
// CHECK: brew.param @tied.0 : tensor<4x4x1x1xf32> {
// CHECK: brew.param_value @c.0 : tensor<8x4x3x3xf32, #brew.layout<0, 2, 3, 1>>
// CHECK: brew.param_value @tied.0 : tensor<4x4x1x1xf32>
brew.param @c.0 : tensor<8x4x3x3xf32> {layer = "c", index = 0 : i64}
brew.param @tied.0 : tensor<4x4x1x1xf32> {layer = "tied", index = 0 : i64}
brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4x8x8xf32>
  %w = brew.param_value @c.0 : tensor<8x4x3x3xf32>
  %t = brew.param_value @tied.0 : tensor<4x4x1x1xf32>
  %a = brew.convolution "tied"(%x, %t) {num_output = 4 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<2x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x8x8xf32>
  %y = brew.convolution "c"(%a, %w) {num_output = 8 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<2x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x6x6xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x8x6x6xf32>
  brew.pin data "t", %t : tensor<4x4x1x1xf32>
}

// -----

// A parameter that `prepare` stores has the layout in which it is computed.
// CHECK: brew.param @c.0.folded : tensor<8x4x3x3xf32> {
brew.param @c.0 : tensor<8x4x3x3xf32> {layer = "c", index = 0 : i64}
brew.param @c.0.folded : tensor<8x4x3x3xf32> {brew.derived, layer = "c", index = 0 : i64}
brew.program @prepare test role prepare {
  %w = brew.param_value @c.0 : tensor<8x4x3x3xf32>
  %e = tensor.empty() : tensor<8x4x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<8x4x3x3xf32>) outs(%e : tensor<8x4x3x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<8x4x3x3xf32>
  brew.store_param %r, @c.0.folded : tensor<8x4x3x3xf32>
}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4x8x8xf32>
  %w = brew.param_value @c.0.folded : tensor<8x4x3x3xf32>
  %y = brew.convolution "c"(%x, %w) {num_output = 8 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<2x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x6x6xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x8x6x6xf32>
}
