// RUN: %brew-opt %s --brew-fold-flatten --split-input-file | FileCheck %s

// An inner product reads the bottom of the Flatten layer itself.
// CHECK-LABEL: brew.program @flatten
brew.param @w : tensor<4x24xf32> {layer = "i", index = 0 : i64}
brew.program @flatten test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x2xf32>
  %w = brew.param_value @w : tensor<4x24xf32>
  // CHECK-NOT: brew.flatten
  %f = brew.flatten "f"(%x) {axis = 1 : i64, end_axis = -1 : i64, tops = ["f"]} : (tensor<2x3x4x2xf32>) -> tensor<2x24xf32>
  // CHECK: brew.inner_product "i"(%[[X]], %{{.*}}) {{.*}} : (tensor<2x3x4x2xf32>, tensor<4x24xf32>) -> tensor<2x4xf32>
  %y = brew.inner_product "i"(%f, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x24xf32>, tensor<4x24xf32>) -> tensor<2x4xf32>
}

// -----

// Another reader, or an output, needs the flat blob.
// CHECK-LABEL: brew.program @kept
brew.param @w : tensor<4x6xf32> {layer = "i", index = 0 : i64}
brew.program @kept test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x2xf32>
  %w = brew.param_value @w : tensor<4x6xf32>
  // CHECK: %[[F:.*]] = brew.flatten
  %f = brew.flatten "f"(%x) {axis = 1 : i64, end_axis = -1 : i64, tops = ["f"]} : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
  // CHECK: brew.inner_product "i"(%[[F]]
  %y = brew.inner_product "i"(%f, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  brew.pin data "f", %f : tensor<2x6xf32>
}

// -----

// A reshape that moves elements between the rows of the product stays.
// CHECK-LABEL: brew.program @rows
brew.param @w : tensor<4x4xf32> {layer = "i", index = 0 : i64}
brew.program @rows test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  %w = brew.param_value @w : tensor<4x4xf32>
  // CHECK: brew.reshape
  %f = brew.reshape "f"(%x) {axis = 0 : i64, num_axes = -1 : i64, dims = array<i64: 3, 4>, tops = ["f"]} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %y = brew.inner_product "i"(%f, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
}
