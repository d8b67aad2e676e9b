// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/shape/Arrays.td

// CHECK-LABEL: brew.program @main test
brew.program @main test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3x4xf32>, tensor<4x1xf32>
  // CHECK: brew.broadcast "b"(%[[X:.*]], %[[Z:.*]]) {tops = ["b"]}
  %b = brew.broadcast "b"(%x, %z) {tops = ["b"]} : (tensor<2x3x4xf32>, tensor<4x1xf32>) -> tensor<*xf32>
  // CHECK: brew.axis_sum "s"(%{{.*}}) {axis = 1 : i64, tops = ["s"]}
  %s = brew.axis_sum "s"(%x) {axis = 1 : i64, tops = ["s"]} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  // CHECK: brew.matmul "m"(%{{.*}}, %{{.*}}) {tops = ["m"], transpose_a}
  %m = brew.matmul "m"(%z, %x) {transpose_a, tops = ["m"]} : (tensor<4x1xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
}
