// RUN: %brew-opt %s --brew-lower-to-nests --brew-form-kernels --brew-plan-memory --brew-verify-plan | FileCheck %s

// Equal values are stored once. Programs read them from the constant arena.
// CHECK: plan.arena constants size 128
// CHECK-DAG: plan.constant[0] dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: plan.constant[64] dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NOT: plan.constant
// CHECK: plan.program @p
// CHECK-DAG: %[[A:.*]] = plan.buffer "first" constants[0] : memref<2xf32
// CHECK-DAG: %[[B:.*]] = plan.buffer "second" constants[64] : memref<2xf32
// CHECK: plan.launch {{.*}}(%[[A]], %[[B]], %{{.*}})
brew.program @p train {
  %a = brew.constant "x" "first" dense<[1.0, 2.0]> : tensor<2xf32>
  %b = brew.constant "x" "second" dense<[3.0, 4.0]> : tensor<2xf32>
  %s = brew.eltwise "s"(%a, %b) {kind = #brew<eltwise_kind prod>, coeff = array<f32>, tops = ["s"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<2xf32>
}
// CHECK: plan.program @q
// CHECK: plan.buffer "again" constants[0] : memref<2xf32
brew.program @q test {
  %a = brew.constant "y" "again" dense<[1.0, 2.0]> : tensor<2xf32>
  %r = brew.relu "r"(%a) {negative_slope = 0.5 : f32, tops = ["r"]} : (tensor<2xf32>) -> tensor<2xf32>
  brew.output %r "r" loss_weight 0.0 : tensor<2xf32>
}
// The host writes the key of a layer's random numbers before the first step.
// CHECK: plan.program @random
// CHECK: %[[KEY:.*]] = plan.buffer "drop.random_key" transient
// CHECK: plan.random_key "drop", %[[KEY]] : memref<2xi32
// CHECK: plan.launch {{.*}}%[[KEY]]
brew.program @random train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %k = brew.random_key "drop" : tensor<2xi32>
  %d = brew.dropout "drop"(%x, %k) {ratio = 0.5 : f32, tops = ["d"]} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  brew.output %d "d" loss_weight 0.0 : tensor<4xf32>
}
