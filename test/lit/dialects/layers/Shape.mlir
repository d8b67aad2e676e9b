// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/shape/Shape.td

brew.param @w.0 : tensor<2x3xf32> {layer = "w", index = 0 : i64}
brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @w.0 : tensor<2x3xf32>
  // CHECK: brew.concat "c"(%[[X:.*]], %[[X]]) {axis = -1 : i64, tops = ["c"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %c = brew.concat "c"(%x, %x) {axis = -1 : i64, tops = ["c"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.slice "s"(%[[X]]) {axis = 1 : i64, points = array<i64: 2>, tops = ["s1", "s2"]}
  %s:2 = brew.slice "s"(%x) {axis = 1 : i64, points = array<i64: 2>, tops = ["s1", "s2"]} : (tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.pad "d"(%[[X]]) {paddings = array<i64: 0, 1, 2, 0>, tops = ["d"], value = -1.000000e+00 : f32}
  %pd = brew.pad "d"(%x) {paddings = array<i64: 0, 1, 2, 0>, value = -1.0 : f32, tops = ["d"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.crop_center "cc"(%[[X]]) {sizes = array<i64: 0, 1>, tops = ["cc"]}
  %cc = brew.crop_center "cc"(%x) {sizes = array<i64: 0, 1>, tops = ["cc"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.crop "k"(%[[X]], %{{.*}}) {axis = 0 : i64, offsets = array<i64>, tops = ["k"]}
  %k = brew.crop "k"(%x, %w) {axis = 0 : i64, offsets = array<i64>, tops = ["k"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.reverse "v"(%[[X]]) {axes = array<i64: -1>, tops = ["v"]}
  %backwards = brew.reverse "v"(%x) {axes = array<i64: -1>, tops = ["v"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.reshape "r"(%[[X]]) {axis = 0 : i64, dims = array<i64: 0, -1>, num_axes = -1 : i64, tops = ["r"]}
  %r = brew.reshape "r"(%x) {axis = 0 : i64, dims = array<i64: 0, -1>, num_axes = -1 : i64, tops = ["r"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.flatten "f"(%[[X]]) {axis = 1 : i64, end_axis = -1 : i64, tops = ["f"]}
  %f = brew.flatten "f"(%x) {axis = 1 : i64, end_axis = -1 : i64, tops = ["f"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.squeeze "q"(%[[X]]) {axes = array<i64>, tops = ["q"]}
  %q = brew.squeeze "q"(%x) {axes = array<i64>, tops = ["q"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.permute "p"(%[[X]]) {order = array<i64: 1, 0>, tops = ["p"]}
  %p = brew.permute "p"(%x) {order = array<i64: 1, 0>, tops = ["p"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.tile "t"(%[[X]]) {axis = 0 : i64, tiles = 2 : i64, tops = ["t"]}
  %t = brew.tile "t"(%x) {axis = 0 : i64, tiles = 2 : i64, tops = ["t"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.parameter "w"(%{{.*}}) {dims = array<i64: 2, 3>, tops = ["w"]}
  %v = brew.parameter "w"(%w) {dims = array<i64: 2, 3>, tops = ["w"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.concat_view "c"(%[[X]], %{{.*}}) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %j = brew.concat_view "c"(%x, %w) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: brew.subview "s"(%[[X]]) {offsets = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %d = brew.subview "s"(%x) {offsets = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: brew.zero_pad "k"(%[[X]]) {offsets = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %e = brew.zero_pad "k"(%x) {offsets = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}
