// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/elementwise/Expression.td

brew.param @e.0 : tensor<3xf32> {layer = "e", index = 0 : i64}
brew.program @main test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<2xf32>
  %p = brew.param_value @e.0 : tensor<3xf32>
  // CHECK: brew.expression "e"(%{{.*}}, %{{.*}}, %{{.*}}) {axes = array<i64: 1>, expr = "param(0) * x + z", names = ["x", "z"], tops = ["y"]} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = brew.expression "e"(%x, %z, %p) {expr = "param(0) * x + z", names = ["x", "z"], axes = array<i64: 1>, tops = ["y"]} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
}
