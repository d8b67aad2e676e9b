// RUN: %brew-opt %s --brew-propagate-stored-params --split-input-file | FileCheck %s

// A layer reads the value that an earlier one stored to a shared parameter, and only the last
// store stays. Earlier reads still read the old value.

// CHECK-LABEL: brew.program @shared
brew.param @s : tensor<3xf32> {layer = "a", index = 0 : i64}
brew.program @shared train {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3xf32>
  // CHECK: %[[OLD:.*]] = brew.param_value @s
  %old = brew.param_value @s : tensor<3xf32>
  // CHECK: %[[FIRST:.*]] = brew.eltwise "a"(%[[X]], %[[OLD]])
  %first = brew.eltwise "a"(%x, %old) {kind = #brew<eltwise_kind sum>, coeff = array<f32>, tops = [""]} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NOT: brew.store_param %[[FIRST]]
  brew.store_param %first, @s : tensor<3xf32>
  // CHECK-NOT: brew.param_value
  %now = brew.param_value @s : tensor<3xf32>
  // CHECK: %[[SECOND:.*]] = brew.eltwise "b"(%[[X]], %[[FIRST]])
  %second = brew.eltwise "b"(%x, %now) {kind = #brew<eltwise_kind sum>, coeff = array<f32>, tops = [""]} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: brew.store_param %[[SECOND]], @s
  brew.store_param %second, @s : tensor<3xf32>
}

// -----

// Layers with PERMISSIVE sharing see the stored value in their own shape.

// CHECK-LABEL: brew.program @loose
brew.param @s : tensor<4xf32> {layer = "a", index = 0 : i64}
brew.program @loose train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  // CHECK: %[[FIRST:.*]] = brew.relu "a"
  %first = brew.relu "a"(%x) {negative_slope = 0.5 : f32, tops = [""]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.store_param %first, @s : tensor<4xf32>
  // CHECK: %[[VIEW:.*]] = brew.reinterpret %[[FIRST]] : tensor<4xf32> -> tensor<2x2xf32>
  %now = brew.param_value @s : tensor<2x2xf32>
  // CHECK: brew.relu "b"(%[[VIEW]])
  %y = brew.relu "b"(%now) {negative_slope = 0.5 : f32, tops = ["y"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x2xf32>
}

// -----

// Programs are independent: another program reads the parameter.

// CHECK-LABEL: brew.program @train
// CHECK-LABEL: brew.program @test
// CHECK: brew.param_value @s
brew.param @s : tensor<4xf32> {layer = "a", index = 0 : i64}
brew.program @train train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  brew.store_param %x, @s : tensor<4xf32>
}
brew.program @test test {
  %now = brew.param_value @s : tensor<4xf32>
  brew.output %now "y" loss_weight 0.0 : tensor<4xf32>
}
