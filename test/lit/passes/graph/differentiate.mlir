// RUN: %brew-opt %s --brew-differentiate='pin=x,y' --split-input-file --mlir-print-local-scope | FileCheck %s

// The chain loss <- ip <- relu <- conv: gradients start at the loss with its
// weight, visit layers in reverse, stop before the data (nothing there learns)
// and are stored per parameter.

brew.param @conv.0 : tensor<2x1x3x3xf32> {layer = "conv", index = 0 : i64}
brew.param @ip.0 : tensor<3x8xf32> {layer = "ip", index = 0 : i64}
brew.param @ip.1 : tensor<3xf32> {layer = "ip", index = 1 : i64}
// CHECK-LABEL: brew.program @chain
brew.program @chain train differentiate {
  // CHECK: %[[IN:.*]]:2 = brew.data_input
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<1x1x4x4xf32>, tensor<1xf32>
  %w = brew.param_value @conv.0 : tensor<2x1x3x3xf32>
  %c = brew.convolution "conv"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: %[[R:.*]] = brew.relu "relu"
  %r = brew.relu "relu"(%c) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: %[[V:.*]] = brew.param_value @ip.0
  %v = brew.param_value @ip.0 : tensor<3x8xf32>
  %b = brew.param_value @ip.1 : tensor<3xf32>
  %i = brew.inner_product "ip"(%r, %v, %b) {num_output = 3 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<1x2x2x2xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  // CHECK: %[[LOSS:.*]], %[[P:.*]], %[[N:.*]], %{{.*}} = brew.softmax_loss
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 0.5>, tops = ["loss"]} : (tensor<1x3xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<1x3xf32>, tensor<f32>, tensor<i32>)
  brew.output %loss "loss" loss_weight 0.5 : tensor<f32>
  // CHECK: %[[SEED:.*]] = brew.fill 5.000000e-01 {brew.backward, brew.layer = "loss"} : tensor<f32>
  // CHECK-NEXT: %[[DI:.*]] = brew.softmax_loss_backward "loss"(%[[P]], %[[IN]]#1, %[[N]], %[[SEED]]) {{.*}}brew.backward}
  // CHECK-NEXT: %[[DV:.*]], %[[DB:.*]] = brew.inner_product_backward_weights "ip"(%[[R]], %[[DI]])
  // CHECK-NEXT: %[[DR:.*]] = brew.inner_product_backward_data "ip"(%[[DI]], %[[V]])
  // The ReLU's gradient reads its result, not its bottom.
  // CHECK: %[[DC:.*]] = linalg.generic {{.*}} ins(%[[DR]], %[[R]] :
  // CHECK-SAME: attrs = {brew.backward, brew.layer = "relu"}
  // CHECK: %[[DW:.*]] = brew.convolution_backward_weights "conv"(%[[IN]]#0, %[[DC]])
  // CHECK-NOT: convolution_backward_data
  // CHECK-NEXT: brew.store_gradient %[[DW]], @conv.0
  // CHECK-NEXT: brew.store_gradient %[[DV]], @ip.0
  // CHECK-NEXT: brew.store_gradient %[[DB]], @ip.1
  // No gradient reaches x: Caffe's diff is zero.
  // CHECK-NEXT: %[[ZERO:.*]] = brew.fill 0.000000e+00 {brew.backward, brew.layer = "in"} : tensor<1x1x4x4xf32>
  // CHECK-NEXT: brew.pin diff "x", %[[ZERO]]
  // CHECK-NEXT: brew.pin diff "y", %[[DR]]
  // CHECK-NEXT: {{^ *}$}}
}

// Programs without the mark do not change.
// CHECK-LABEL: brew.program @test_0
// CHECK-NOT: backward
// CHECK-NOT: store_gradient
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x8xf32>
  %v = brew.param_value @ip.0 : tensor<3x8xf32>
  %i = brew.inner_product "ip"(%x, %v) {num_output = 3 : i64, axis = 1 : i64, tops = ["i"], loss_weights = array<f32: 1.0>} : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<1x3xf32>
}

// -----

// A parameter with lr_mult 0 stops gradients below it, as does propagate_down;
// nothing is computed for a frozen layer's weights.
brew.param @frozen.0 : tensor<3x4xf64> {layer = "frozen", index = 0 : i64, lr_mult = 0.0 : f32}
brew.param @cut.0 : tensor<4x4xf64> {layer = "cut", index = 0 : i64}
brew.param @deep.0 : tensor<4x4xf64> {layer = "deep", index = 0 : i64}
// CHECK-LABEL: brew.program @stops
brew.program @stops train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf64>
  // CHECK: %[[D:.*]] = brew.param_value @deep.0
  %d = brew.param_value @deep.0 : tensor<4x4xf64>
  %a = brew.inner_product "deep"(%x, %d) {num_output = 4 : i64, axis = 1 : i64, tops = ["a"]} : (tensor<2x4xf64>, tensor<4x4xf64>) -> tensor<2x4xf64>
  %c = brew.param_value @cut.0 : tensor<4x4xf64>
  // CHECK: %[[B:.*]] = brew.inner_product "cut"
  %b = brew.inner_product "cut"(%a, %c) {num_output = 4 : i64, axis = 1 : i64, propagate_down = array<i1: false>, tops = ["b"]} : (tensor<2x4xf64>, tensor<4x4xf64>) -> tensor<2x4xf64>
  // CHECK: %[[F:.*]] = brew.param_value @frozen.0
  %f = brew.param_value @frozen.0 : tensor<3x4xf64>
  %y = brew.inner_product "frozen"(%b, %f) {num_output = 3 : i64, axis = 1 : i64, loss_weights = array<f32: 2.0>, tops = ["y"]} : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf64>
  // CHECK: %[[SEED:.*]] = brew.fill 2.000000e+00 {brew.backward, brew.layer = "frozen"} : tensor<2x3xf64>
  // CHECK-NEXT: %[[DB:.*]] = brew.inner_product_backward_data "frozen"(%[[SEED]], %[[F]])
  // CHECK-NEXT: %[[DC:.*]] = brew.inner_product_backward_weights "cut"(%{{.*}}, %[[DB]])
  // Caffe computes the gradient of "frozen"'s bottom, but not of "cut"'s.
  // "deep" learns, but no gradient reaches it: zero.
  // CHECK-NEXT: %[[ZERO:.*]] = brew.fill 0.000000e+00 {brew.backward, brew.layer = "deep"} : tensor<4x4xf64>
  // CHECK-NEXT: brew.store_gradient %[[ZERO]], @deep.0
  // CHECK-NEXT: brew.store_gradient %[[DC]], @cut.0
  // CHECK-NEXT: %[[REST:.*]] = brew.fill 0.000000e+00 {brew.backward, brew.layer = "in"} : tensor<2x4xf64>
  // CHECK-NEXT: brew.pin diff "x", %[[REST]]
  // CHECK-NEXT: brew.pin diff "y", %[[SEED]]
  // CHECK-NEXT: {{^ *}$}}
}

// -----

// Two layers share a parameter: one stored gradient, the sum of both. The blob
// that both read gets the sum of its users' gradients.
brew.param @w : tensor<4x4xf32> {layer = "first", index = 0 : i64, sharers = [#plan.sharer<"second"[0], "InnerProduct">]}
// CHECK-LABEL: brew.program @shared
brew.program @shared train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["in"]} : tensor<2x4xf32>
  // CHECK: %[[W1:.*]] = brew.param_value @w
  %w1 = brew.param_value @w : tensor<4x4xf32>
  // CHECK: %[[X:.*]] = brew.inner_product "first"
  %a = brew.inner_product "first"(%x, %w1) {num_output = 4 : i64, axis = 1 : i64, tops = ["x"]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[W2:.*]] = brew.param_value @w
  %w2 = brew.param_value @w : tensor<4x4xf32>
  %b = brew.inner_product "second"(%a, %w2) {num_output = 4 : i64, axis = 1 : i64, loss_weights = array<f32: 1.0>, tops = ["b"]} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = brew.power "third"(%a) {power = 1.0 : f32, scale = 3.0 : f32, shift = 0.0 : f32, loss_weights = array<f32: 1.0>, tops = ["c"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[D3:.*]] = linalg.generic {{.*}}brew.layer = "third"
  // CHECK: %[[DW2:.*]] = brew.inner_product_backward_weights "second"(%[[X]],
  // CHECK: %[[D2:.*]] = brew.inner_product_backward_data "second"(%{{.*}}, %[[W2]])
  // CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[D3]], %[[D2]] :
  // CHECK: arith.addf
  // CHECK: %[[DW1:.*]] = brew.inner_product_backward_weights "first"(%{{.*}}, %[[DX]])
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[DW1]], %[[DW2]] :
  // CHECK: arith.addf
  // CHECK: brew.store_gradient %[[DW]], @w
  // CHECK-NOT: brew.store_gradient
  // CHECK: brew.pin diff "x", %[[DX]]
}

// -----

// Split adds the gradients of its tops; a top without a gradient adds nothing. Layers without a
// gradient (accuracy) propagate none.
brew.param @p : tensor<4xf32> {layer = "bias", index = 0 : i64}
// CHECK-LABEL: brew.program @split
brew.program @split train differentiate {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["in", "l"]} : tensor<2x4xf32>, tensor<2xf32>
  %p = brew.param_value @p : tensor<4xf32>
  // CHECK: %[[X:.*]] = brew.bias "bias"
  %b = brew.bias "bias"(%x, %p) {axis = 1 : i64, num_axes = 1 : i64, tops = ["x"]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %s:3 = brew.split "split"(%b) {tops = ["s0", "s1", "s2"]} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %a, %per, %st = brew.accuracy "accuracy"(%s#0, %l) {axis = 1 : i64, top_k = 1 : i64, tops = ["a"]} : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<i32>)
  %c = brew.reduction "sum"(%s#1) {kind = #brew<reduction_kind sum>, axis = 0 : i64, coeff = 2.0 : f32, loss_weights = array<f32: 1.0>, tops = ["c"]} : (tensor<2x4xf32>) -> tensor<f32>
  // CHECK: %[[SM:.*]] = brew.softmax "soft"
  %d = brew.softmax "soft"(%s#2) {axis = 1 : i64, tops = ["d"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %e = brew.reduction "mean"(%d) {kind = #brew<reduction_kind mean>, axis = 0 : i64, coeff = 1.0 : f32, loss_weights = array<f32: 1.0>, tops = ["e"]} : (tensor<2x4xf32>) -> tensor<f32>
  // CHECK: %[[DD:.*]] = linalg.generic {{.*}}brew.layer = "mean"
  // CHECK: %[[D2:.*]] = brew.softmax_backward "soft"(%[[SM]], %[[DD]])
  // CHECK: %[[D1:.*]] = linalg.generic {{.*}}brew.layer = "sum"
  // CHECK: %[[DS:.*]] = linalg.generic {{.*}} ins(%[[D1]], %[[D2]] :{{.*}}brew.layer = "split"
  // The bias' gradient sums over the rows.
  // CHECK: %[[DP:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>{{.*}}], iterator_types = ["reduction", "parallel"]} ins(%[[DS]]
  // CHECK: brew.store_gradient %[[DP]], @p
  // CHECK-NEXT: brew.pin diff "x", %[[DS]]
}

// -----

// The diff of an in-place blob is the gradient of its first version.
brew.param @p : tensor<4xf32> {layer = "bias", index = 0 : i64}
// CHECK-LABEL: brew.program @in_place
brew.program @in_place train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["in"]} : tensor<2x4xf32>
  %p = brew.param_value @p : tensor<4xf32>
  %b = brew.bias "bias"(%x, %p) {axis = 1 : i64, num_axes = 1 : i64, tops = ["x"]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %r = brew.relu "relu"(%b) {negative_slope = 0.0 : f32, tops = ["x"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = brew.power "power"(%r) {power = 2.0 : f32, scale = 1.0 : f32, shift = 0.0 : f32, loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: linalg.generic {{.*}}brew.layer = "power"
  // CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}brew.layer = "relu"
  // CHECK: brew.pin diff "x", %[[FIRST]]
  // CHECK: brew.pin diff "y"
}

// -----

// Max pooling propagates gradients through the saved positions, average pooling needs nothing
// saved.
brew.param @c.0 : tensor<1x1x1x1xf32> {layer = "c", index = 0 : i64}
// CHECK-LABEL: brew.program @pooling
brew.program @pooling train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["in"]} : tensor<1x1x4x4xf32>
  %w = brew.param_value @c.0 : tensor<1x1x1x1xf32>
  %c = brew.convolution "c"(%x, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  // CHECK: %{{.*}}, %[[ARGMAX:.*]] = brew.max_pooling "max"
  %m, %argmax = brew.max_pooling "max"(%c) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["m"]} : (tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi8>)
  %a = brew.average_pooling "ave"(%m) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, loss_weights = array<f32: 1.0>, tops = ["a"]} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  // CHECK: %[[SEED:.*]] = brew.fill 1.0
  // CHECK: %[[DM:.*]] = brew.average_pooling_backward "ave"(%[[SEED]])
  // CHECK: %[[DC:.*]] = brew.max_pooling_backward "max"(%[[DM]], %[[ARGMAX]])
  // CHECK: brew.convolution_backward_weights "c"(%{{.*}}, %[[DC]])
}

// -----

// propagate_down: true requests a gradient that nothing learns from, here of the data.
// CHECK-LABEL: brew.program @forced
brew.program @forced train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %y = brew.relu "relu"(%x) {negative_slope = 0.0 : f32, loss_weights = array<f32: 1.0>, propagate_down = array<i1: true>, tops = ["y"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[DX:.*]] = linalg.generic {{.*}}brew.layer = "relu"
  // CHECK: brew.pin diff "x", %[[DX]]
}

// -----

// A read marked brew.gradient gets its gradient at lr_mult 0 (force_backward).
brew.param @w : tensor<3x4xf64> {layer = "ip", index = 0 : i64, lr_mult = 0.0 : f32}
// CHECK-LABEL: brew.program @frozen_with_gradient
brew.program @frozen_with_gradient train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf64>
  %w = brew.param_value @w {brew.gradient} : tensor<3x4xf64>
  %y = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf64>
  // CHECK: %[[DW:.*]] = brew.inner_product_backward_weights "ip"
  // CHECK: brew.store_gradient %[[DW]], @w
}

// -----

// Nothing is learned through a blocked bottom, but Caffe computes and shows the gradient of the
// layer's top.
brew.param @ip.0 : tensor<4x4xf64> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @behind_blocked
brew.program @behind_blocked train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["in"]} : tensor<2x4xf64>
  %w = brew.param_value @ip.0 : tensor<4x4xf64>
  %a = brew.inner_product "ip"(%x, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["a"]} : (tensor<2x4xf64>, tensor<4x4xf64>) -> tensor<2x4xf64>
  %cut = brew.relu "cut"(%a) {negative_slope = 0.0 : f32, propagate_down = array<i1: false>, tops = ["x"]} : (tensor<2x4xf64>) -> tensor<2x4xf64>
  %y = brew.tanh "y"(%cut) {loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<2x4xf64>) -> tensor<2x4xf64>
  // CHECK: %[[DB:.*]] = linalg.generic {{.*}}brew.layer = "y"
  // CHECK-NOT: brew.layer = "cut"
  // CHECK: brew.store_gradient %{{.*}}, @ip.0
  // CHECK-NOT: brew.pin diff "a"
  // CHECK: brew.pin diff "x", %[[DB]]
}

// -----

// Without a loss, the gradients of the outputs are zero, and layers that cannot
// compute a gradient get none.

brew.param @ip.0 : tensor<3x8xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @no_loss
brew.program @no_loss train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x8xf32>
  %v = brew.param_value @ip.0 : tensor<3x8xf32>
  // CHECK: brew.inner_product "ip"
  %i = brew.inner_product "ip"(%x, %v) {num_output = 3 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<1x3xf32>
  brew.output %i "i" loss_weight 0.0 : tensor<1x3xf32>
  // CHECK: %[[ZERO:.*]] = brew.fill 0.000000e+00 {brew.backward, brew.layer = "ip"} : tensor<1x3xf32>
  // CHECK: %[[DV:.*]] = brew.inner_product_backward_weights "ip"(%{{.*}}, %[[ZERO]])
  // CHECK-NEXT: brew.store_gradient %[[DV]], @ip.0
}
