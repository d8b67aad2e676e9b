// RUN: %brew-opt %s --brew-pin-blobs='output-gradients=y' --brew-differentiate='output-gradients=y' --split-input-file --mlir-print-local-scope | FileCheck %s

// The caller writes the gradient of y; output gradients come after all values that the caller
// may read. For an in-place blob, it is the gradient of its last version.
brew.param @ip.0 : tensor<3x4xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @alone
brew.program @alone train differentiate {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.param_value @ip.0 : tensor<3x4xf32>
  %i = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // CHECK: %[[R:.*]] = brew.relu "relu"
  %r = brew.relu "relu"(%i) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  brew.output %r "y" loss_weight 0.0 : tensor<2x3xf32>
  // CHECK: brew.output %[[R]]
  // CHECK-NEXT: brew.pin data "y", %[[R]]
  // CHECK-NEXT: %[[SEED:.*]] = brew.output_gradient "y" {brew.backward} : tensor<2x3xf32>
  // CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[SEED]], %[[R]] :
  // CHECK: %[[DW:.*]] = brew.inner_product_backward_weights "ip"(%[[X]], %[[D]])
  // CHECK-NEXT: brew.store_gradient %[[DW]], @ip.0
}

// -----

// With a loss, the two gradients are added, as if y had several users.
brew.param @ip.0 : tensor<3x4xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @with_loss
brew.program @with_loss train differentiate {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x4xf32>, tensor<2xf32>
  %w = brew.param_value @ip.0 : tensor<3x4xf32>
  %i = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // CHECK: brew.softmax_loss "loss"
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>)
  brew.output %loss "loss" loss_weight 1.0 : tensor<f32>
  // CHECK: %[[SEED:.*]] = brew.output_gradient "y"
  // CHECK: %[[DI:.*]] = brew.softmax_loss_backward
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[SEED]], %[[DI]] :
  // CHECK: brew.inner_product_backward_weights "ip"(%{{.*}}, %[[SUM]])
}

// A test net has no output gradients: nothing is pinned there.
// CHECK-LABEL: brew.program @test_0
// CHECK-NOT: brew.pin
// CHECK-NOT: brew.output_gradient
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.param_value @ip.0 : tensor<3x4xf32>
  %i = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
}
