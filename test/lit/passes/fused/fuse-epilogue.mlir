// RUN: %brew-opt %s --brew-fuse-epilogue --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fuse-epilogue --split-input-file | FileCheck %s --check-prefix=PLAIN

// A ReLU after a convolution or an inner product is fused into the call, with its slope; the
// call then has both names and both locations.

// CHECK-LABEL: brew.program @fused
brew.program @fused train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x1x3x3xf32>
  %v = brew.fill 1.0 : tensor<5x8xf32>
  // CHECK: %[[Y:.*]] = brew.convolution "conv+relu"
  // CHECK-SAME: relu = 1.250000e-01 : f32
  // CHECK-SAME: loc(fused["net":3:1, "net":4:1])
  %y = brew.convolution "conv"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32> loc("net":3:1)
  %r = brew.relu "relu"(%y) {negative_slope = 0.125 : f32, tops = ["y"]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("net":4:1)
  // CHECK-NEXT: %[[Z:.*]] = brew.inner_product "ip+relu2"(%[[Y]],
  // CHECK-SAME: relu = 0.000000e+00 : f32
  %z = brew.inner_product "ip"(%r, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["z"]} : (tensor<1x2x2x2xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  %s = brew.relu "relu2"(%z) {negative_slope = 0.0 : f32, tops = ["z"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  // CHECK-NOT: brew.relu
  // CHECK: brew.output %[[Z]] "z"
  brew.output %s "z" loss_weight 0.0 : tensor<1x5xf32>
}

// -----

// Another layer reads the value before the ReLU, so it must exist.
// CHECK-LABEL: brew.program @used_twice
brew.program @used_twice train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x8xf32>
  %v = brew.fill 1.0 : tensor<5x8xf32>
  // CHECK: brew.inner_product "ip"
  // CHECK-NOT: relu =
  // CHECK: brew.relu "relu"
  %z = brew.inner_product "ip"(%x, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["z"]} : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  %r = brew.relu "relu"(%z) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  %s = brew.eltwise "sum"(%r, %z) {kind = #brew<eltwise_kind sum>, coeff = array<f32: 1.0, 1.0>, tops = ["s"]} : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<1x5xf32>
}

// -----

// The value before the ReLU is pinned.
// CHECK-LABEL: brew.program @kept
brew.program @kept train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x8xf32>
  %v = brew.fill 1.0 : tensor<5x8xf32>
  // CHECK: brew.inner_product "ip"
  // CHECK: brew.relu "relu"
  %z = brew.inner_product "ip"(%x, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["z"]} : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  %r = brew.relu "relu"(%z) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  brew.pin data "z", %z : tensor<1x5xf32>
  brew.output %r "r" loss_weight 0.0 : tensor<1x5xf32>
}

// -----

// One epilogue only: the second ReLU stays. A ReLU after another layer has no call to be fused
// into.
// CHECK-LABEL: brew.program @twice
brew.program @twice train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x8xf32>
  %v = brew.fill 1.0 : tensor<5x8xf32>
  // CHECK: brew.relu "before"
  // CHECK: %[[Z:.*]] = brew.inner_product "ip+relu"
  // CHECK-NEXT: brew.relu "again"(%[[Z]])
  %f = brew.relu "before"(%x) {negative_slope = 0.0 : f32, tops = ["f"]} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %z = brew.inner_product "ip"(%f, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["z"]} : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  %r = brew.relu "relu"(%z) {negative_slope = 0.5 : f32, tops = ["r"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  %s = brew.relu "again"(%r) {negative_slope = 0.5 : f32, tops = ["s"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<1x5xf32>
}

// -----

// If the target's library has no product with a slope, that ReLU stays; convolutions and plain
// ReLUs are fused as usual.
// PLAIN-LABEL: brew.program @sloping
brew.program @sloping train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x1x3x3xf32>
  %v = brew.fill 1.0 : tensor<5x8xf32>
  %u = brew.fill 1.0 : tensor<3x5xf32>
  // PLAIN: brew.convolution "conv+relu"
  %y = brew.convolution "conv"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32>
  %r = brew.relu "relu"(%y) {negative_slope = 0.125 : f32, tops = ["y"]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  // PLAIN-NEXT: %[[Z:.*]] = brew.inner_product "ip"(
  // PLAIN-NOT: relu =
  // PLAIN-NEXT: %[[S:.*]] = brew.relu "leaky"(%[[Z]])
  %z = brew.inner_product "ip"(%r, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["z"]} : (tensor<1x2x2x2xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  %s = brew.relu "leaky"(%z) {negative_slope = 0.5 : f32, tops = ["z"]} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  // PLAIN-NEXT: brew.inner_product "ip2+relu2"(%[[S]],
  %t = brew.inner_product "ip2"(%s, %u) {num_output = 3 : i64, axis = 1 : i64, tops = ["t"]} : (tensor<1x5xf32>, tensor<3x5xf32>) -> tensor<1x3xf32>
  %q = brew.relu "relu2"(%t) {negative_slope = 0.0 : f32, tops = ["t"]} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  brew.output %q "t" loss_weight 0.0 : tensor<1x3xf32>
}

// -----

// At inference the sum after a convolution is fused too, and the ReLU after that: the call adds
// to the other blob, here the result of the earlier convolution.
// CHECK-LABEL: brew.program @deploy
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x1x3x3xf32>
  %b = brew.fill 1.0 : tensor<2xf32>
  // CHECK: %[[A:.*]] = brew.convolution "a"
  // CHECK-NEXT: %[[Y:.*]] = brew.convolution_sum "b+sum+relu"(%{{.*}}, %{{.*}}, %[[A]], %{{.*}}) {{{.*}}relu = 0.0{{.*}}tops = ["s"]}
  // CHECK-NEXT: brew.output %[[Y]]
  %a = brew.convolution "a"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32>
  %y = brew.convolution "b"(%x, %w, %b) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %s = brew.eltwise "sum"(%a, %y) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["s"]} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %r = brew.relu "relu"(%s) {negative_slope = 0.0 : f32, tops = ["s"]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  brew.output %r "s" loss_weight 0.0 : tensor<1x2x2x2xf32>
}

// -----

// Not applied if the other blob is read by the convolution itself, read later, or an input, nor
// with coefficients, nor in training.
// CHECK-LABEL: brew.program @deploy
// CHECK-NOT: convolution_sum
// CHECK-LABEL: brew.program @trained
// CHECK-NOT: convolution_sum
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x4x4xf32>
  %w = brew.fill 1.0 : tensor<1x1x1x1xf32>
  %a = brew.convolution "a"(%x, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %fed = brew.eltwise "fed"(%x, %a) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["f"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %b = brew.convolution "b"(%fed, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["b"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %own = brew.eltwise "own"(%fed, %b) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["o"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %c = brew.convolution "c"(%fed, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %scaled = brew.eltwise "scaled"(%own, %c) {coeff = array<f32: 1.0, -1.0>, kind = #brew<eltwise_kind sum>, tops = ["d"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %e = brew.convolution "e"(%fed, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["e"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %later = brew.eltwise "later"(%scaled, %e) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["l"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  brew.output %scaled "d" loss_weight 0.0 : tensor<1x1x4x4xf32>
  brew.output %later "l" loss_weight 0.0 : tensor<1x1x4x4xf32>
}
brew.program @trained train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x4x4xf32>
  %w = brew.fill 1.0 : tensor<1x1x1x1xf32>
  %a = brew.convolution "a"(%x, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["a"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %b = brew.convolution "b"(%x, %w) {num_output = 1 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["b"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %s = brew.eltwise "sum"(%a, %b) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["s"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<1x1x4x4xf32>
}
