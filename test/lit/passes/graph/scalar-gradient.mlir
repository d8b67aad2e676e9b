// RUN: %brew-opt %s --brew-differentiate --split-input-file | FileCheck %s

// The derivative is built along with the expression, so that a select selects the derivative
// too: the derivative of sqrt may be infinite or NaN on the other side.
brew.param @bias.0 : tensor<2xf32> {layer = "bias", index = 0 : i64}
// CHECK-LABEL: brew.program @choice
brew.program @choice train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %p = brew.param_value @bias.0 : tensor<2xf32>
  %b = brew.bias "bias"(%x, %p) {axis = 0 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = brew.expression "e"(%b) {expr = "b > 0.5 ? sqrt(b) : 3 * b", names = ["b"], axes = array<i64>, loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: linalg.generic {{.*}}brew.layer = "e"
  // CHECK-NEXT: ^bb0(%[[B:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[DY:.*]] = arith.constant 1.0
  // CHECK: %[[LIMIT:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: %[[TAKEN:.*]] = arith.cmpf ogt, %[[B]], %[[LIMIT]]
  // CHECK-NEXT: %[[ROOT:.*]] = math.sqrt %[[B]]
  // CHECK-NEXT: %[[THREE:.*]] = arith.constant 3.0
  // CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: %[[SLOPE:.*]] = arith.divf %[[HALF]], %[[ROOT]]
  // CHECK-NEXT: %[[D:.*]] = arith.select %[[TAKEN]], %[[SLOPE]], %[[THREE]]
  // CHECK-NEXT: %[[DB:.*]] = arith.mulf %[[D]], %[[DY]]
  // CHECK-NEXT: linalg.yield %[[DB]]
}

// -----

// The gradient of a scalar is the sum over all elements it was broadcast to; the gradient of a
// vector is the sum over all other dimensions.
brew.param @e.0 : tensor<f32> {layer = "e", index = 0 : i64}
brew.param @e.1 : tensor<3xf32> {layer = "e", index = 1 : i64}
// CHECK-LABEL: brew.program @parameters
brew.program @parameters train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4xf32>
  %p = brew.param_value @e.0 : tensor<f32>
  %q = brew.param_value @e.1 : tensor<3xf32>
  %y = brew.expression "e"(%x, %p, %q) {expr = "param(0) * x + exp(param(1))", names = ["x"], axes = array<i64: -1, 1>, loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<f32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  // CHECK: %[[DP:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "reduction"]
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %[[SUM:.*]]: f32):
  // CHECK: %[[PART:.*]] = arith.mulf %[[X]], %
  // CHECK-NEXT: arith.addf %[[SUM]], %[[PART]]
  // CHECK: %[[DQ:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]
  // CHECK: %[[E:.*]] = math.exp
  // CHECK: arith.mulf %[[E]], %
  // CHECK: brew.store_gradient %[[DP]], @e.0
  // CHECK: brew.store_gradient %[[DQ]], @e.1
}
