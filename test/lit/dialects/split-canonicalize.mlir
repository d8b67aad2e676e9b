// RUN: %brew-opt %s --canonicalize | FileCheck %s

// Canonicalization erases splits, which are only other names of their bottom, and silence, which
// does nothing; their users read the bottom.

// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  // CHECK-NEXT: %[[X:.*]] = brew.data_input "in" "Input"
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = brew.relu "a"(%[[X]])
  // CHECK-NEXT: brew.output %[[A]] "a"
  // CHECK-NEXT: brew.output %[[X]] "x_2"
  // CHECK-NEXT: {{^ *}$}}
  %s:3 = brew.split "split"(%x) {tops = ["x_0", "x_1", "x_2"]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %a = brew.relu "a"(%s#0) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4xf32>) -> tensor<4xf32>
  brew.silence "quiet"(%s#1, %s#1) {tops = []} : (tensor<4xf32>, tensor<4xf32>) -> ()
  brew.output %a "a" loss_weight 0.0 : tensor<4xf32>
  brew.output %s#2 "x_2" loss_weight 0.0 : tensor<4xf32>
}

// A split of a split is replaced by the first bottom.
// CHECK-LABEL: brew.program @test_0
brew.program @test_0 test {
  // CHECK-NEXT: %[[X:.*]] = brew.data_input
  // CHECK-NEXT: brew.output %[[X]] "x"
  // CHECK-NEXT: {{^ *}$}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %s:2 = brew.split "outer"(%x) {tops = ["p", "q"]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %t:2 = brew.split "inner"(%s#1) {tops = ["r", "s"]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  brew.silence "quiet"(%s#0, %t#0) {tops = []} : (tensor<4xf32>, tensor<4xf32>) -> ()
  brew.output %t#1 "x" loss_weight 0.0 : tensor<4xf32>
}
