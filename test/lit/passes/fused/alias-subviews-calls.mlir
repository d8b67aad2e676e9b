// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-alias-subviews --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-alias-subviews --split-input-file | FileCheck %s --check-prefix=CPU

// On a GPU, convolutions and their gradients write and read slices of concatenated blobs whose
// start and size are multiples of 16 bytes. On a CPU all of these slices are copied.

#last = #brew.layout<0, 2, 3, 1>
// CHECK-LABEL: brew.program @aligned
// CHECK-NOT: linalg.generic
// CPU-LABEL: brew.program @aligned
// CPU: brew.convolution "a"({{.*}} -> tensor<2x8x4x4xbf16, #{{.*}}>
// CPU: linalg.generic
// CPU: brew.convolution "b"({{.*}} -> tensor<2x8x4x4xbf16, #{{.*}}>
// CPU: linalg.generic
// CPU: brew.convolution_backward_data "c"({{.*}} -> tensor<2x8x4x4xbf16, #{{.*}}>
// CPU: linalg.generic
// CPU: brew.concat_view
brew.program @aligned train {
  %x, %dj, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dj", "w"]} : tensor<2x8x4x4xbf16, #last>, tensor<2x24x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>
  // CHECK: %[[A:.*]] = brew.convolution "a"({{.*}} -> tensor<2x8x4x4xbf16, {strides = array<i64: 384, 1, 96, 24>}>
  %a = brew.convolution "a"(%x, %w) {num_output = 8 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<2x8x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  // CHECK: %[[B:.*]] = brew.convolution "b"(%[[A]], {{.*}} : (tensor<2x8x4x4xbf16, {strides = array<i64: 384, 1, 96, 24>}>, {{.*}} -> tensor<2x8x4x4xbf16, {strides = array<i64: 384, 1, 96, 24>}>
  %b = brew.convolution "b"(%a, %w) {num_output = 8 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["b"]} : (tensor<2x8x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  // CHECK: %[[C:.*]] = brew.convolution_backward_data "c"({{.*}} -> tensor<2x8x4x4xbf16, {strides = array<i64: 384, 1, 96, 24>}>
  %c = brew.convolution_backward_data "c"(%x, %w) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  // CHECK: brew.concat_view "j"(%[[A]], %[[B]], %[[C]])
  %j = brew.concat_view "j"(%a, %b, %c) {axis = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<2x24x4x4xbf16, #last>
  brew.output %j "j" loss_weight 0.0 : tensor<2x24x4x4xbf16, #last>
}
// CHECK-LABEL: brew.program @gradients
// CHECK-NOT: linalg.generic
// CHECK: %[[DA:.*]] = brew.subview
// CHECK: brew.convolution_backward_weights "a"(%{{.*}}, %[[DA]])
// CHECK: brew.convolution_backward_data "a"(%[[DA]],
// CPU-LABEL: brew.program @gradients
// CPU: %[[COPY:.*]] = linalg.generic
// CPU: brew.convolution_backward_weights "a"(%{{.*}}, %[[COPY]])
// CPU: brew.convolution_backward_data "a"(%[[COPY]],
brew.program @gradients train {
  %x, %dj, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dj", "w"]} : tensor<2x8x4x4xbf16, #last>, tensor<2x24x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>
  %da = brew.subview "j"(%dj) {offsets = array<i64: 0, 16, 0, 0>} : (tensor<2x24x4x4xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  %dw = brew.convolution_backward_weights "a"(%x, %da) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<8x8x1x1xf32>
  %dx = brew.convolution_backward_data "a"(%da, %w) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  brew.output %dw "dw" loss_weight 0.0 : tensor<8x8x1x1xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<2x8x4x4xbf16, #last>
}

// -----

// Not applied if the slice is not aligned, or if the call accumulates into another value.

#last = #brew.layout<0, 2, 3, 1>
// CHECK-LABEL: brew.program @others
// CHECK: linalg.generic
// CHECK: brew.convolution_backward_weights "a"
// CHECK: linalg.generic
// CHECK: brew.convolution_backward_weights "b"
// CHECK: linalg.generic
// CHECK: brew.convolution_backward_weights "c"
// CHECK: brew.convolution_backward_data "d"({{.*}} -> tensor<2x8x4x4xbf16, #{{.*}}>
// CHECK: linalg.generic
// CHECK: brew.concat_view
brew.program @others train {
  %x, %dj, %dk, %w, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dj", "dk", "w", "s"]} : tensor<2x8x4x4xbf16, #last>, tensor<2x24x4x4xbf16, #last>, tensor<2x20x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>, tensor<2x8x4x4xbf16, #last>
  %begin = brew.subview "j"(%dj) {offsets = array<i64: 0, 4, 0, 0>} : (tensor<2x24x4x4xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  %a = brew.convolution_backward_weights "a"(%x, %begin) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<8x8x1x1xf32>
  %few = brew.subview "j"(%dj) {offsets = array<i64: 0, 8, 0, 0>} : (tensor<2x24x4x4xbf16, #last>) -> tensor<2x4x4x4xbf16, #last>
  %b = brew.convolution_backward_weights "b"(%x, %few) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x4x4x4xbf16, #last>) -> tensor<4x8x1x1xf32>
  %pixels = brew.subview "k"(%dk) {offsets = array<i64: 0, 8, 0, 0>} : (tensor<2x20x4x4xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  %c = brew.convolution_backward_weights "c"(%x, %pixels) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<8x8x1x1xf32>
  %d = brew.convolution_backward_data "d"(%x, %w, %s) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  %j = brew.concat_view "k"(%d, %d) {axis = 1 : i64} : (tensor<2x8x4x4xbf16, #last>, tensor<2x8x4x4xbf16, #last>) -> tensor<2x16x4x4xbf16, #last>
  brew.output %a "a" loss_weight 0.0 : tensor<8x8x1x1xf32>
  brew.output %b "b" loss_weight 0.0 : tensor<4x8x1x1xf32>
  brew.output %c "c" loss_weight 0.0 : tensor<8x8x1x1xf32>
  brew.output %j "d" loss_weight 0.0 : tensor<2x16x4x4xbf16, #last>
}

// -----

// On a CPU, 1x1 products and Winograd algorithms, both in f32, write slices; gradients and
// operands are copied.

#last = #brew.layout<0, 2, 3, 1>
// CPU-LABEL: brew.program @cpu
// CPU: brew.convolution "a"({{.*}} -> tensor<2x64x32x32xf32, {strides = array<i64: 262144, 1, 8192, 256>}>
// CPU: brew.convolution "b"({{.*}} -> tensor<2x64x32x32xf32, {strides = array<i64: 262144, 1, 8192, 256>}>
// CPU: brew.convolution "c"({{.*}} -> tensor<2x64x32x32xf32, #{{.*}}>
// CPU: linalg.generic
// CPU: brew.convolution "d"({{.*}} -> tensor<2x64x32x32xf32, #{{.*}}>
// CPU: linalg.generic
brew.program @cpu train {
  %x, %w, %v, %u = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w", "v", "u"]} : tensor<2x64x32x32xf32, #last>, tensor<64x64x1x1xf32>, tensor<64x64x3x3xf32>, tensor<64x64x5x5xf32>
  %a = brew.convolution "a"(%x, %w) {num_output = 64 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<2x64x32x32xf32, #last>, tensor<64x64x1x1xf32>) -> tensor<2x64x32x32xf32, #last>
  %b = brew.convolution "b"(%x, %v) {num_output = 64 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["b"]} : (tensor<2x64x32x32xf32, #last>, tensor<64x64x3x3xf32>) -> tensor<2x64x32x32xf32, #last>
  %c = brew.convolution "c"(%x, %u) {num_output = 64 : i64, kernel = array<i64: 5, 5>, stride = array<i64: 1, 1>, pad = array<i64: 2, 2>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<2x64x32x32xf32, #last>, tensor<64x64x5x5xf32>) -> tensor<2x64x32x32xf32, #last>
  %d = brew.convolution "d"(%x, %v) {num_output = 64 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 2, 2>, dilation = array<i64: 2, 2>, group = 1 : i64, tops = ["d"]} : (tensor<2x64x32x32xf32, #last>, tensor<64x64x3x3xf32>) -> tensor<2x64x32x32xf32, #last>
  %j = brew.concat_view "j"(%a, %b, %c, %d) {axis = 1 : i64} : (tensor<2x64x32x32xf32, #last>, tensor<2x64x32x32xf32, #last>, tensor<2x64x32x32xf32, #last>, tensor<2x64x32x32xf32, #last>) -> tensor<2x256x32x32xf32, #last>
  brew.output %j "j" loss_weight 0.0 : tensor<2x256x32x32xf32, #last>
}
