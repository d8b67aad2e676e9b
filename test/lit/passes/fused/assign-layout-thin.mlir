// RUN: %brew-opt %s --brew-assign-layout --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-assign-layout='order-weights=false' --split-input-file | FileCheck %s --check-prefix=FILES
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-assign-layout='layout=nhwc' --split-input-file | FileCheck %s --check-prefix=FILES

// On a CPU, weights of few channels have the outputs innermost, and so have their 16-bit copies
// and their gradients. Weights of more channels, and weights with other readers, keep the
// layout of files.
// CHECK: brew.param @dw.0 : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>
// CHECK: brew.param @wide.0 : tensor<8x32x3x3xf32> {
// CHECK: brew.param @kept.0 : tensor<32x1x3x3xf32> {
// FILES: brew.param @dw.0 : tensor<32x1x3x3xf32> {
brew.param @dw.0 : tensor<32x1x3x3xf32> {layer = "dw", index = 0 : i64}
brew.param @wide.0 : tensor<8x32x3x3xf32> {layer = "wide", index = 0 : i64}
brew.param @kept.0 : tensor<32x1x3x3xf32> {layer = "kept", index = 0 : i64}
brew.program @main train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x32x8x8xbf16>
  // CHECK: %[[W:.*]] = brew.param_value @dw.0 : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>
  // CHECK: brew.cast "c"(%[[W]]){{.*}} -> tensor<32x1x3x3xbf16, #brew.layout<1, 2, 3, 0>>
  %w = brew.param_value @dw.0 : tensor<32x1x3x3xf32>
  %n = brew.cast "c"(%w) : (tensor<32x1x3x3xf32>) -> tensor<32x1x3x3xbf16>
  %y = brew.convolution "dw"(%x, %n) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["y"]} : (tensor<2x32x8x8xbf16>, tensor<32x1x3x3xbf16>) -> tensor<2x32x8x8xbf16>
  // CHECK: brew.convolution_backward_weights "dw"{{.*}} -> tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>
  // CHECK: brew.store_gradient %{{.*}}, @dw.0 : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>
  %dw = brew.convolution_backward_weights "dw"(%x, %y) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64} : (tensor<2x32x8x8xbf16>, tensor<2x32x8x8xbf16>) -> tensor<32x1x3x3xf32>
  brew.store_gradient %dw, @dw.0 : tensor<32x1x3x3xf32>
  %v = brew.param_value @wide.0 : tensor<8x32x3x3xf32>
  %m = brew.cast "c"(%v) : (tensor<8x32x3x3xf32>) -> tensor<8x32x3x3xbf16>
  %z = brew.convolution "wide"(%y, %m) {num_output = 8 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["z"]} : (tensor<2x32x8x8xbf16>, tensor<8x32x3x3xbf16>) -> tensor<2x8x8x8xbf16>
  %k = brew.param_value @kept.0 : tensor<32x1x3x3xf32>
  %kn = brew.cast "c"(%k) : (tensor<32x1x3x3xf32>) -> tensor<32x1x3x3xbf16>
  %u = brew.convolution "kept"(%x, %kn) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["u"]} : (tensor<2x32x8x8xbf16>, tensor<32x1x3x3xbf16>) -> tensor<2x32x8x8xbf16>
  brew.pin data "k", %k : tensor<32x1x3x3xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<2x8x8x8xbf16>
  brew.output %u "u" loss_weight 0.0 : tensor<2x32x8x8xbf16>
}

// -----

// A parameter that `prepare` computes is stored in the layout in which it is read.
// CHECK: brew.param @dw.0 : tensor<32x1x3x3xf32> {
// CHECK: brew.param @dw.0.folded : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>
// FILES: brew.param @dw.0.folded : tensor<32x1x3x3xf32> {
brew.param @dw.0 : tensor<32x1x3x3xf32> {layer = "dw", index = 0 : i64}
brew.param @dw.0.folded : tensor<32x1x3x3xf32> {brew.derived, layer = "dw", index = 0 : i64}
brew.program @prepare test role prepare {
  %w = brew.param_value @dw.0 : tensor<32x1x3x3xf32>
  %e = tensor.empty() : tensor<32x1x3x3xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x1x3x3xf32>) outs(%{{.*}} : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>)
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<32x1x3x3xf32>) outs(%e : tensor<32x1x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %in, %in : f32
    linalg.yield %2 : f32
  } -> tensor<32x1x3x3xf32>
  brew.store_param %r, @dw.0.folded : tensor<32x1x3x3xf32>
}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x32x8x8xf32>
  %w = brew.param_value @dw.0.folded : tensor<32x1x3x3xf32>
  %y = brew.convolution "dw"(%x, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["y"]} : (tensor<2x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<2x32x8x8xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x32x8x8xf32>
}
