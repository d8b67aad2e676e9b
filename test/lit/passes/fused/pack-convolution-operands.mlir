// RUN: %brew-opt %s --brew-attach-target --brew-pack-convolution-operands=no-library=conv --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target --brew-pack-convolution-operands --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-pack-convolution-operands=no-library=conv --split-input-file | FileCheck %s --check-prefix=PLAIN

// Bottoms are padded, weights of more than 64 outputs are divided into blocks of them. Calls and
// programs for GPUs keep their operands.
// PLAIN-NOT: brew.zero_pad
// PLAIN-NOT: linalg.generic
// CHECK: #[[BLOCKS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 48 + d1, d2, d3, d4)>
// CHECK: #[[CHANNELS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @stride_1
brew.program @stride_1 train {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<4x16x8x8xf32>, tensor<96x16x3x3xf32>
  // CHECK: %[[X:.*]]:2 = brew.data_input
  // CHECK: %[[PADDED:.*]] = brew.zero_pad "conv"(%[[X]]#0) {{.*}}offsets = array<i64: 0, 0, 1, 1>{{.*}} : (tensor<4x16x8x8xf32>) -> tensor<4x16x10x10xf32>
  // CHECK: %[[PACKED:.*]] = linalg.generic {indexing_maps = [#[[BLOCKS]], {{.*}} ins(%[[X]]#1 : tensor<96x16x3x3xf32>) outs(%{{.*}} : tensor<2x48x16x3x3xf32, #brew.layout<0, 3, 4, 2, 1>>)
  // CHECK: brew.convolution "conv"(%[[PADDED]], %[[PACKED]]) {{.*}}pad = array<i64: 0, 0>
  %y = brew.convolution "conv"(%x, %w) {num_output = 96 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<4x16x8x8xf32>, tensor<96x16x3x3xf32>) -> tensor<4x96x8x8xf32>
  // CHECK: %[[BOTTOM:.*]] = brew.zero_pad "conv"(%[[X]]#0) {{.*}} -> tensor<4x16x10x10xf32>
  // CHECK: brew.convolution_backward_weights "conv"(%[[BOTTOM]], %{{.*}}) {{.*}}pad = array<i64: 0, 0>
  %dw = brew.convolution_backward_weights "conv"(%x, %y) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x16x8x8xf32>, tensor<4x96x8x8xf32>) -> tensor<96x16x3x3xf32>
  // All taps have an element of the padded gradient: the padding is the kernel without its center.
  // The 16 channels are a block.
  // CHECK: %[[ORDERED:.*]] = linalg.generic {indexing_maps = [#[[CHANNELS]], #[[CHANNELS]]], {{.*}} outs(%{{.*}} : tensor<96x16x3x3xf32, #brew.layout<2, 3, 0, 1>>)
  // CHECK: %[[GRADIENT:.*]] = brew.zero_pad "conv"({{.*}}offsets = array<i64: 0, 0, 1, 1>{{.*}} -> tensor<4x96x10x10xf32>
  // CHECK: brew.convolution_backward_data "conv"(%[[GRADIENT]], %[[ORDERED]]) {{.*}}pad = array<i64: 2, 2>
  %dx = brew.convolution_backward_data "conv"(%y, %w) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x96x8x8xf32>, tensor<96x16x3x3xf32>) -> tensor<4x16x8x8xf32>
  // A deconvolution is such a gradient.
  // CHECK: %[[BLOB:.*]] = brew.zero_pad "up"({{.*}} -> tensor<4x96x10x10xf32>
  // CHECK: brew.deconvolution "up"(%[[BLOB]], %{{.*}}) {{.*}}pad = array<i64: 2, 2>
  %u = brew.deconvolution "up"(%y, %w) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["u"]} : (tensor<4x96x8x8xf32>, tensor<96x16x3x3xf32>) -> tensor<4x16x8x8xf32>
}

// -----

// With a stride, the bottom ends where the last window ends. Its gradient keeps the bounds of its
// loops, because windows leave out pixels; only the weights change, with blocks of channels.
// CHECK-LABEL: brew.program @stride_2
brew.program @stride_2 train {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<4x128x8x8xf32>, tensor<16x128x3x3xf32>
  // CHECK: brew.zero_pad "conv"{{.*}} -> tensor<4x128x9x9xf32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<16x128x3x3xf32, #brew.layout<2, 3, 1, 0>>)
  // CHECK: brew.convolution "conv"
  %y = brew.convolution "conv"(%x, %w) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<4x128x8x8xf32>, tensor<16x128x3x3xf32>) -> tensor<4x16x4x4xf32>
  // CHECK: %[[PACKED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x2x64x3x3xf32, #brew.layout<1, 3, 4, 0, 2>>)
  // CHECK: brew.convolution_backward_data "conv"(%{{.*}}, %[[PACKED]]) {{.*}}pad = array<i64: 1, 1>
  %dx = brew.convolution_backward_data "conv"(%y, %w) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x16x4x4xf32>, tensor<16x128x3x3xf32>) -> tensor<4x128x8x8xf32>
}

// -----

// Depthwise convolutions and convolutions of other than two dimensions keep their operands; 5
// outputs of a group have no blocks.
// CHECK-LABEL: brew.program @others
brew.program @others train {
  %x, %w, %v, %s, %u, %r = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w", "v", "s", "u", "r"]} : tensor<4x16x8x8xf32>, tensor<16x1x3x3xf32>, tensor<10x8x1x1xf32>, tensor<4x16x9xf32>, tensor<5x16x3xf32>, tensor<96x8x3xf32>
  // CHECK-NOT: brew.zero_pad
  // CHECK-NOT: linalg.generic
  // CHECK: brew.convolution "depthwise"
  %a = brew.convolution "depthwise"(%x, %w) {num_output = 16 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 16 : i64, tops = ["a"]} : (tensor<4x16x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<4x16x8x8xf32>
  // CHECK: brew.convolution "sequence"
  %b = brew.convolution "sequence"(%s, %u) {num_output = 5 : i64, kernel = array<i64: 3>, stride = array<i64: 1>, pad = array<i64: 1>, dilation = array<i64: 1>, group = 1 : i64, tops = ["b"]} : (tensor<4x16x9xf32>, tensor<5x16x3xf32>) -> tensor<4x5x9xf32>
  // CHECK: brew.convolution "rows"
  %d = brew.convolution "rows"(%x, %r) {num_output = 96 : i64, kernel = array<i64: 3>, stride = array<i64: 1>, pad = array<i64: 1>, dilation = array<i64: 1>, group = 1 : i64, axis = 2 : i64, tops = ["d"]} : (tensor<4x16x8x8xf32>, tensor<96x8x3xf32>) -> tensor<4x16x96x8xf32>
  // CHECK: %[[ORDERED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<10x8x1x1xf32, #brew.layout<2, 3, 1, 0>>)
  // CHECK: brew.convolution "groups"(%{{.*}}, %[[ORDERED]])
  %c = brew.convolution "groups"(%x, %v) {num_output = 10 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 2 : i64, tops = ["c"]} : (tensor<4x16x8x8xf32>, tensor<10x8x1x1xf32>) -> tensor<4x10x8x8xf32>
}
