// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/external/External.td

// CHECK-LABEL: brew.program @main
brew.program @main train {
  %x = brew.fill 1.0 : tensor<2x3xf32>
  // CHECK: %[[Y:.*]]:2 = brew.host_layer "h"(%{{.*}}) {kind = "m.L", loss_weights = array<f32: 1.000000e+00, 0.000000e+00>, param_str = "p", settings = "name: 'h'", shapes = [array<i64: 2>, unit], test_phase, tops = ["y", "z"]} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  %y, %z = brew.host_layer "h"(%x) {kind = "m.L", settings = "name: 'h'", param_str = "p", test_phase, shapes = [array<i64: 2>, unit], tops = ["y", "z"], loss_weights = array<f32: 1.0, 0.0>} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  // CHECK: brew.output_gradient "y" : tensor<2xf32>
  %dy = brew.output_gradient "y" : tensor<2xf32>
  // CHECK: brew.host_layer_backward "h"(%{{.*}}, %[[Y]]#0, %[[Y]]#1, %{{.*}}, %[[Y]]#1) {bottoms = array<i64: 0>, kind = "m.L", operandSegmentSizes = array<i32: 1, 2, 2>, param_str = "p", settings = "name: 'h'"} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %dx = brew.host_layer_backward "h"(%x, %y, %z, %dy, %z) {kind = "m.L", settings = "name: 'h'", param_str = "p", bottoms = array<i64: 0>, operandSegmentSizes = array<i32: 1, 2, 2>} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}
