// RUN: %brew-opt %s --brew-lower-to-nests --brew-form-kernels --brew-plan-memory --brew-verify-plan | FileCheck %s

// Kernel names are unique symbols: a number is appended to a name that is already in use. Names of
// layers may end in such a number or equal the name of a program, which keeps its name.
// CHECK-DAG: plan.kernel @pool attributes
// CHECK-DAG: plan.kernel @pool_1 attributes
// CHECK-DAG: plan.kernel @pool_1_1 attributes
// CHECK-DAG: plan.kernel @transient attributes
// CHECK-DAG: plan.kernel @test_0_1 attributes
brew.program @forward_backward train {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %a = brew.relu "pool"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
}
brew.program @test_0 test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %a = brew.relu "pool"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
}
brew.program @test_1 test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %a = brew.relu "pool_1"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
}
brew.program @test_2 test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %a = brew.relu "transient"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
}
brew.program @test_3 test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %a = brew.relu "test_0"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
}
