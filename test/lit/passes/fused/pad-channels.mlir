// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-pad-channels --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-pad-channels=no-library=conv --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: %brew-opt %s --brew-attach-target=bf16=true --brew-pad-channels --split-input-file | FileCheck %s --check-prefix=PLAIN

// The image and the weights are padded before they are rounded, each once; the weight gradient
// is sliced. Not applied on a CPU, or if nests replace calls.
// PLAIN-NOT: brew.zero_pad
// PLAIN-NOT: brew.subview
// CHECK-LABEL: brew.program @forward_backward
brew.param @conv.0 : tensor<16x3x3x3xf32> {layer = "conv", index = 0 : i64}
brew.program @forward_backward train {
  // CHECK: %[[W:.*]] = brew.param_value @conv.0
  // CHECK-NEXT: %[[W8:.*]] = brew.zero_pad "conv"(%[[W]]) {{.*}}offsets = array<i64: 0, 0, 0, 0>{{.*}} : (tensor<16x3x3x3xf32>) -> tensor<16x8x3x3xf32>
  // CHECK-NEXT: %[[WN:.*]] = brew.cast "conv"(%[[W8]]) : (tensor<16x8x3x3xf32>) -> tensor<16x8x3x3xbf16>
  %w = brew.param_value @conv.0 : tensor<16x3x3x3xf32>
  %wn = brew.cast "conv"(%w) : (tensor<16x3x3x3xf32>) -> tensor<16x3x3x3xbf16>
  // CHECK: %[[X:.*]] = brew.data_input
  // CHECK-NEXT: %[[X8:.*]] = brew.zero_pad "conv"(%[[X]]) {{.*}} : (tensor<4x3x8x8xf32>) -> tensor<4x8x8x8xf32>
  // CHECK-NEXT: %[[XN:.*]] = brew.cast "conv"(%[[X8]])
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x3x8x8xf32>
  %xn = brew.cast "conv"(%x) : (tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xbf16>
  // CHECK: brew.convolution "conv"(%[[XN]], %[[WN]]) {brew.unpadded_channels = 3 : i64, {{.*}} : (tensor<4x8x8x8xbf16>, tensor<16x8x3x3xbf16>) -> tensor<4x16x6x6xbf16>
  %y = brew.convolution "conv"(%xn, %wn) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<4x3x8x8xbf16>, tensor<16x3x3x3xbf16>) -> tensor<4x16x6x6xbf16>
  // CHECK: %[[DW:.*]] = brew.convolution_backward_weights "conv"(%[[XN]], %{{.*}}) {brew.unpadded_channels = 3 : i64, {{.*}} -> tensor<16x8x3x3xbf16>
  // CHECK-NEXT: %[[PART:.*]] = brew.subview "conv"(%[[DW]]) {{.*}} : (tensor<16x8x3x3xbf16>) -> tensor<16x3x3x3xbf16>
  // CHECK-NEXT: brew.cast "conv"(%[[PART]])
  %dw = brew.convolution_backward_weights "conv"(%xn, %y) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x3x8x8xbf16>, tensor<4x16x6x6xbf16>) -> tensor<16x3x3x3xbf16>
  %d = brew.cast "conv"(%dw) : (tensor<16x3x3x3xbf16>) -> tensor<16x3x3x3xf32>
  brew.store_gradient %d, @conv.0 : tensor<16x3x3x3xf32>
}

// -----

// Not applied if the bottom has a gradient, if the output channels are not a multiple of the
// tensor cores', with groups, with enough channels, or in f32.
// CHECK-LABEL: brew.program @others
// CHECK-NOT: brew.zero_pad
// CHECK-NOT: brew.unpadded_channels
brew.program @others test {
  %x, %w, %v, %g, %e = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w", "v", "g", "e"]} : tensor<4x4x8x8xf32>, tensor<16x4x3x3xf32>, tensor<20x4x3x3xf32>, tensor<16x2x3x3xf32>, tensor<4x8x8x8xf32>
  %xn = brew.cast "a"(%x) : (tensor<4x4x8x8xf32>) -> tensor<4x4x8x8xbf16>
  %wn = brew.cast "a"(%w) : (tensor<16x4x3x3xf32>) -> tensor<16x4x3x3xbf16>
  %vn = brew.cast "b"(%v) : (tensor<20x4x3x3xf32>) -> tensor<20x4x3x3xbf16>
  %gn = brew.cast "c"(%g) : (tensor<16x2x3x3xf32>) -> tensor<16x2x3x3xbf16>
  %a = brew.convolution "a"(%xn, %wn) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<4x4x8x8xbf16>, tensor<16x4x3x3xbf16>) -> tensor<4x16x6x6xbf16>
  %dx = brew.convolution_backward_data "a"(%a, %wn) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x16x6x6xbf16>, tensor<16x4x3x3xbf16>) -> tensor<4x4x8x8xbf16>
  %b = brew.convolution "b"(%xn, %vn) {num_output = 20 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["b"]} : (tensor<4x4x8x8xbf16>, tensor<20x4x3x3xbf16>) -> tensor<4x20x6x6xbf16>
  %c = brew.convolution "c"(%xn, %gn) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 2 : i64, tops = ["c"]} : (tensor<4x4x8x8xbf16>, tensor<16x2x3x3xbf16>) -> tensor<4x16x6x6xbf16>
  %d = brew.convolution "d"(%x, %w) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["d"]} : (tensor<4x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<4x16x6x6xf32>
}
