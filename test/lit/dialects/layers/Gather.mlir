// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/indexing/Gather.td

brew.param @w.0 : tensor<4x3xf32> {layer = "w", index = 0 : i64}
brew.program @main test {
  %x, %i = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "i"]} : tensor<2x3xf32>, tensor<5xf32>
  %w = brew.param_value @w.0 : tensor<4x3xf32>
  // CHECK: brew.argmax "a"(%[[X:.*]]) {axis = 1 : i64, max_values, top_k = 2 : i64, tops = ["a"]}
  %a = brew.argmax "a"(%x) {axis = 1 : i64, max_values, top_k = 2 : i64, tops = ["a"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.argmax "b"(%[[X]]) {top_k = 1 : i64, tops = ["b"]}
  %b = brew.argmax "b"(%x) {top_k = 1 : i64, tops = ["b"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.keep_largest "k"(%[[X]]) {dims = array<i64: 0>, factor = 1.500000e+00 : f32, fraction = 2.500000e-01 : f32, tops = ["k"]}
  %k, %mask = brew.keep_largest "k"(%x) {dims = array<i64: 0>, factor = 1.5 : f32, fraction = 0.25 : f32, tops = ["k"]} : (tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_reindex "r"(%[[X]], %[[I:.*]]) {tops = ["r"]} : (tensor<2x3xf32>, tensor<5xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  %r, %s = brew.batch_reindex "r"(%x, %i) {tops = ["r"]} : (tensor<2x3xf32>, tensor<5xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.batch_reindex_backward "r"(%{{.*}}, %[[I]]) : (tensor<*xf32>, tensor<5xf32>) -> tensor<2x3xf32>
  %dx = brew.batch_reindex_backward "r"(%r, %i) : (tensor<*xf32>, tensor<5xf32>) -> tensor<2x3xf32>
  // CHECK: brew.embed "e"(%[[I]], %[[W:.*]]) {input_dim = 4 : i64, num_output = 3 : i64, tops = ["e"]}
  %e, %t = brew.embed "e"(%i, %w) {input_dim = 4 : i64, num_output = 3 : i64, tops = ["e"]} : (tensor<5xf32>, tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.embed_backward "e"(%{{.*}}, %[[I]]) : (tensor<*xf32>, tensor<5xf32>) -> tensor<4x3xf32>
  %dw = brew.embed_backward "e"(%e, %i) : (tensor<*xf32>, tensor<5xf32>) -> tensor<4x3xf32>
}
