// RUN: %brew-opt %s --brew-infer-shapes --split-input-file | FileCheck %s

// Shapes propagate from the data layer through layers; parameters get the shapes that their
// readers need; the program records blobs, parameters and the bytes that Caffe would allocate:
// 2 (data and gradient) * 4 bytes * elements.
//   data 1*3*7*7 = 147, conv 1*4*4*4 = 64, pool 1*4*2*2 = 16, ip 1*10 = 10:
//   237 elements, 1896 bytes (the in-place ReLU adds nothing).

// CHECK: brew.param @conv.0 : tensor<4x3x3x3xf32> {file_dims = array<i64: 4, 3, 3, 3>
// CHECK: brew.param @conv.1 : tensor<4xf32> {file_dims = array<i64: 4>
// CHECK: brew.param @ip.0 : tensor<16x10xf32> {file_dims = array<i64: 16, 10>
brew.param @conv.0 : tensor<*xf32> {layer = "conv", index = 0 : i64}
brew.param @conv.1 : tensor<*xf32> {layer = "conv", index = 1 : i64}
brew.param @ip.0 : tensor<*xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @deploy test
// CHECK-SAME: blobs = {conv = array<i64: 1, 4, 4, 4>, data = array<i64: 1, 3, 7, 7>, ip = array<i64: 1, 10>, pool = array<i64: 1, 4, 2, 2>}
// CHECK-SAME: caffe_bytes = 1896 : i64
// CHECK-SAME: params = {conv = [array<i64: 4, 3, 3, 3>, array<i64: 4>], ip = [array<i64: 16, 10>]}
brew.program @deploy test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["data"]} : tensor<1x3x7x7xf32>
  // CHECK: brew.param_value @conv.0 : tensor<4x3x3x3xf32>
  %w = brew.param_value @conv.0 : tensor<*xf32>
  %b = brew.param_value @conv.1 : tensor<*xf32>
  // (7 + 2 * 1 - 3) / 2 + 1 = 4
  // CHECK: brew.convolution "conv"{{.*}} -> tensor<1x4x4x4xf32>
  %c = brew.convolution "conv"(%x, %w, %b) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["conv"]} : (tensor<1x3x7x7xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.relu "relu"{{.*}} -> tensor<1x4x4x4xf32>
  %r = brew.relu "relu"(%c) {negative_slope = 0.0 : f32, tops = ["conv"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.max_pooling "pool"{{.*}} -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xi8>)
  %p, %argmax = brew.max_pooling "pool"(%r) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["pool"]} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi8>)
  %v = brew.param_value @ip.0 : tensor<*xf32>
  // CHECK: brew.inner_product "ip"{{.*}}axis = 1{{.*}} -> tensor<1x10xf32>
  %i = brew.inner_product "ip"(%p, %v) {num_output = 10 : i64, axis = -3 : i64, transpose, tops = ["ip"]} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  brew.output %i "ip" loss_weight 0.0 : tensor<*xf32>
}

// -----

// Window arithmetic: convolutions round down, pooling rounds up unless round_mode says
// otherwise, and a window that would start in the padding is dropped.
// CHECK-LABEL: brew.program @windows
brew.param @d.0 : tensor<*xf64> {layer = "d", index = 0 : i64}
brew.program @windows test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6x8x9xf64>
  %w = brew.param_value @d.0 : tensor<*xf64>
  // Dilated extents 2*(3-1)+1 = 5 and 1: rows (8-5)/2+1 = 2 (rounded down from
  // 2.5), columns (9+2*1-1)/3+1 = 4 (from 4.33); group 3 leaves 6/3 = 2 input
  // channels to each weight.
  // CHECK: brew.param_value @d.0 : tensor<9x2x3x1xf64>
  // CHECK: brew.convolution "d"{{.*}} -> tensor<2x9x2x4xf64>
  %d = brew.convolution "d"(%x, %w) {num_output = 9 : i64, kernel = array<i64: 3, 1>, stride = array<i64: 2, 3>, pad = array<i64: 0, 1>, dilation = array<i64: 2, 4>, group = 3 : i64, tops = ["d"]} : (tensor<2x6x8x9xf64>, tensor<*xf64>) -> tensor<*xf64>
  // ceil((8-3)/2)+1 = 4, ceil((9-3)/2)+1 = 4
  // CHECK: brew.average_pooling "ceil"{{.*}} -> tensor<2x6x4x4xf64>
  %p = brew.average_pooling "ceil"(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // CHECK: brew.average_pooling "floor"{{.*}} -> tensor<2x6x3x4xf64>
  %q = brew.average_pooling "floor"(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, floor, tops = ["q"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // Rows: ceil((8+2-2)/3)+1 = 4, but the fourth starts at 3*3 - 1 = 8, which is in the padding,
  // so 3 stay. Columns: ceil((9+2-2)/3)+1 = 4; the fourth starts at 8, which is still in the
  // input, so 4 stay.
  // CHECK: brew.average_pooling "edge"{{.*}} -> tensor<2x6x3x4xf64>
  %e = brew.average_pooling "edge"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 3, 3>, pad = array<i64: 1, 1>, tops = ["e"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // Padding in one dimension drops windows in the other too: columns ceil((9-1)/5)+1 = 3, and
  // the third starts at 10, after the input.
  // CHECK: brew.average_pooling "other"{{.*}} -> tensor<2x6x3x2xf64>
  %o = brew.average_pooling "other"(%x) {kernel = array<i64: 2, 1>, stride = array<i64: 3, 5>, pad = array<i64: 1, 0>, tops = ["o"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // A window larger than the input by less than its stride: ceil(-1/2)+1 = 1.
  // CHECK: brew.average_pooling "over"{{.*}} -> tensor<2x6x1x1xf64>
  %v = brew.average_pooling "over"(%x) {kernel = array<i64: 9, 10>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["v"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // Four bins: rows of 2 without padding; columns of ceil(9/4) = 3, 12 - 9 = 3
  // of padding, of which 2 before.
  // CHECK: brew.average_pooling "bins"{{.*}}kernel = array<i64: 2, 3>, pad = array<i64: 0, 2>, stride = array<i64: 2, 3>{{.*}} -> tensor<2x6x4x4xf64>
  %n = brew.average_pooling "bins"(%x) {kernel = array<i64: 0, 0>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, bins = 4 : i64, tops = ["n"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
  // Global pooling uses the bottom's extents as its kernel.
  // CHECK: brew.average_pooling "global"{{.*}}kernel = array<i64: 8, 9>{{.*}} -> tensor<2x6x1x1xf64>
  %g = brew.average_pooling "global"(%x) {kernel = array<i64: 0, 0>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, global, tops = ["g"]} : (tensor<2x6x8x9xf64>) -> tensor<*xf64>
}

// -----

// Negative axes become positive; losses return scalars and the values that the backward pass
// needs; the label check gets the number of classes.
// CHECK-LABEL: brew.program @losses
brew.program @losses train {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x5x3xf32>, tensor<2x3xf32>
  // CHECK: brew.softmax_loss "loss"{{.*}}axis = 1 : i64{{.*}} -> (tensor<f32>, tensor<2x5x3xf32>, tensor<f32>, tensor<i32>)
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %l) {axis = -2 : i64, normalization = #brew<normalization valid>, tops = ["loss"]} : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.check_labels %{{.*}} limit 5 layer "loss" blob "l" : tensor<i32>
  brew.check_labels %status, %l limit 0 layer "loss" blob "l" : tensor<*xi32>, tensor<2x3xf32>
  // CHECK: brew.accuracy "accuracy"{{.*}} -> (tensor<f32>, tensor<5xf32>, tensor<i32>)
  %a, %per, %status2 = brew.accuracy "accuracy"(%x, %l) {axis = 1 : i64, top_k = 5 : i64, tops = ["accuracy"]} : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.check_labels %{{.*}} limit 5 layer "accuracy"
  brew.check_labels %status2, %l limit 0 layer "accuracy" blob "l" : tensor<*xi32>, tensor<2x3xf32>
  // CHECK: brew.reduction "rest"{{.*}}axis = 1 : i64{{.*}} -> tensor<2xf32>
  %r = brew.reduction "rest"(%x) {kind = #brew<reduction_kind mean>, axis = -2 : i64, coeff = 1.0 : f32, tops = ["r"]} : (tensor<2x5x3xf32>) -> tensor<*xf32>
  // CHECK: brew.reduction "all"{{.*}} -> tensor<f32>
  %s = brew.reduction "all"(%x) {kind = #brew<reduction_kind sum>, axis = 0 : i64, coeff = 1.0 : f32, tops = ["s"]} : (tensor<2x5x3xf32>) -> tensor<*xf32>
  // CHECK: brew.softmax "soft"{{.*}}axis = 2 : i64{{.*}} -> tensor<2x5x3xf32>
  %t = brew.softmax "soft"(%x) {axis = -1 : i64, tops = ["t"]} : (tensor<2x5x3xf32>) -> tensor<*xf32>
  // CHECK: brew.bias "bias"{{.*}}axis = 0 : i64
  %b = brew.bias "bias"(%x, %r) {axis = -3 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2x5x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

// A parameter that two layers share has the shape of the first. With share_mode PERMISSIVE a
// layer that needs the same elements in another shape reads them through a view.
// CHECK: brew.param @first.0 : tensor<6x4xf32>
brew.param @first.0 : tensor<*xf32> {layer = "first", index = 0 : i64, shared_name = "w", sharers = [#plan.sharer<"second"[0], "InnerProduct">], permissive}
// CHECK-LABEL: brew.program @shared
// CHECK-SAME: params = {first = [array<i64: 6, 4>], second = [array<i64: 8, 3>], third = [array<i64: 6, 4>]}
brew.program @shared train {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x4xf32>, tensor<2x3xf32>
  %w = brew.param_value @first.0 : tensor<*xf32>
  %y = brew.inner_product "first"(%x, %w) {num_output = 6 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.inner_product "first"
  // CHECK-NEXT: %[[W:.*]] = brew.param_value @first.0 : tensor<6x4xf32>
  // CHECK-NEXT: %[[V:.*]] = brew.reinterpret %[[W]] : tensor<6x4xf32> -> tensor<8x3xf32>
  // CHECK-NEXT: brew.inner_product "second"(%{{.*}}, %[[V]])
  %v = brew.param_value @first.0 : tensor<*xf32>
  %u = brew.inner_product "second"(%z, %v) {num_output = 8 : i64, axis = 1 : i64, tops = ["u"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK-NEXT: %[[T:.*]] = brew.param_value @first.0 : tensor<6x4xf32>
  // CHECK-NEXT: brew.inner_product "third"(%{{.*}}, %[[T]])
  %t = brew.param_value @first.0 : tensor<*xf32>
  %s = brew.inner_product "third"(%x, %t) {num_output = 6 : i64, axis = 1 : i64, tops = ["s"]} : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

// A single setting applies to all spatial dimensions. Im2col and deconvolutions have their own
// output shapes, and the padding SAME may differ between dimensions.
// CHECK-LABEL: brew.program @dimensions
brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.param @d.0 : tensor<*xf32> {layer = "d", index = 0 : i64}
brew.param @s.0 : tensor<*xf32> {layer = "s", index = 0 : i64}
brew.program @dimensions test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x7xf32>
  %v = brew.data_input "in" "Input" {config = "", folder = "", tops = ["v"]} : tensor<1x4x5x6x7xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // Channels in dimension 2: one spatial dimension, (7 + 2 - 3) / 2 + 1 = 4.
  // CHECK: brew.convolution "c"{{.*}} {axis = 2 : i64, dilation = array<i64: 1>, group = 1 : i64, kernel = array<i64: 3>, num_output = 5 : i64, pad = array<i64: 1>, stride = array<i64: 2>, tops = ["y"]} : (tensor<2x3x4x7xf32>, tensor<5x4x3xf32>) -> tensor<2x3x5x4xf32>
  %y = brew.convolution "c"(%x, %w) {num_output = 5 : i64, kernel = array<i64: 3>, stride = array<i64: 2>, pad = array<i64: 1>, dilation = array<i64>, group = 1 : i64, axis = -2 : i64, tops = ["y"]} : (tensor<2x3x4x7xf32>, tensor<*xf32>) -> tensor<*xf32>
  // (5-1)*2+3-2 = 9, (6-1)*2+3-2 = 11, (7-1)*2+3-2 = 13
  %u = brew.param_value @d.0 : tensor<*xf32>
  // CHECK: brew.deconvolution "d"{{.*}}kernel = array<i64: 3, 3, 3>{{.*}} : (tensor<1x4x5x6x7xf32>, tensor<4x3x3x3x3xf32>) -> tensor<1x6x9x11x13xf32>
  %z = brew.deconvolution "d"(%v, %u) {num_output = 6 : i64, kernel = array<i64: 3>, stride = array<i64: 2>, pad = array<i64: 1>, dilation = array<i64>, group = 2 : i64, tops = ["z"]} : (tensor<1x4x5x6x7xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.im2col "i"{{.*}} -> tensor<2x12x3x6xf32>
  %i = brew.im2col "i"(%x) {kernel = array<i64: 2>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, tops = ["i"]} : (tensor<2x3x4x7xf32>) -> tensor<*xf32>
  // SAME: ceil(4/2) = 2 and ceil(7/2) = 4 positions, padded by (2-1)*2+3-4 = 1 and
  // (4-1)*2+3-7 = 2 elements.
  %t = brew.param_value @s.0 : tensor<*xf32>
  // CHECK: brew.convolution "s"{{.*}}pad = array<i64: 0, 1>, pad_end = array<i64: 1, 1>{{.*}} -> tensor<2x5x2x4xf32>
  %s = brew.convolution "s"(%x, %t) {num_output = 5 : i64, kernel = array<i64: 3>, stride = array<i64: 2>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, same, tops = ["s"]} : (tensor<2x3x4x7xf32>, tensor<*xf32>) -> tensor<*xf32>
}
