// RUN: %brew-opt %s --brew-pin-blobs='blobs=conv,label' | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: %brew-opt %s --brew-pin-blobs='blobs=all' | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: %brew-opt %s --brew-pin-blobs | FileCheck %s --check-prefix=NONE

// NONE-NOT: brew.pin

// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  // CHECK: %[[IN:.*]]:2 = brew.data_input
  %in:2 = brew.data_input "in" "Input" {config = "", folder = "", tops = ["data", "label"]} : tensor<2x3xf32>, tensor<2xf32>
  %c = brew.power "conv"(%in#0) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["conv"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // The in-place ReLU is the last version of the blob.
  // CHECK: %[[R:.*]] = brew.relu "relu"
  %r = brew.relu "relu"(%c) {negative_slope = 0.0 : f32, tops = ["conv"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: brew.output
  brew.output %r "conv" loss_weight 0.0 : tensor<2x3xf32>
  // SOME-NOT: brew.pin data "data"
  // ALL-NEXT: brew.pin data "data", %[[IN]]#0 : tensor<2x3xf32>
  // CHECK-NEXT: brew.pin data "label", %[[IN]]#1 : tensor<2xf32>
  // CHECK-NEXT: brew.pin data "conv", %[[R]] : tensor<2x3xf32>
  // CHECK-NEXT: {{^ *}$}}
}

// A blob need not be in every program; results beyond the tops have no name.
// CHECK-LABEL: brew.program @test_0
brew.program @test_0 test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["data"]} : tensor<1x1x2x2xf32>
  // CHECK: %[[Y:.*]], %{{.*}} = brew.max_pooling
  %y, %argmax = brew.max_pooling "pool"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["pool"]} : (tensor<1x1x2x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xi8>)
  // ALL-NEXT: brew.pin data "data", %[[X]] : tensor<1x1x2x2xf32>
  // ALL-NEXT: brew.pin data "pool", %[[Y]] : tensor<1x1x1x1xf32>
  // CHECK-NEXT: {{^ *}$}}
}
