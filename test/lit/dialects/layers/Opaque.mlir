// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/opaque/Opaque.td

brew.program @main test {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
  // CHECK: brew.opaque "p"(%{{.*}}) {config = "name: \22p\22", kind = "Python", tops = ["y"]} : (tensor<*xf32>) -> tensor<*xf32>
  %y = brew.opaque "p"(%x) {config = "name: \"p\"", kind = "Python", tops = ["y"]} : (tensor<*xf32>) -> tensor<*xf32>
}
