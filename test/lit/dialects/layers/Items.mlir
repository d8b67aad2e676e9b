// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/indexing/Items.td

brew.program @main test {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4x1xf32>
  // CHECK: %[[F:.*]], %[[C:.*]], %[[P:.*]] = brew.filter "f"(%[[X:.*]], %[[S:.*]]) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4x1xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  %y, %count, %position = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4x1xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // CHECK: %[[M:.*]] = brew.mask_items "r"(%[[F]], %[[C]]) {fill = 0.000000e+00 : f64} : (tensor<4x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  %m = brew.mask_items "r"(%y, %count) {fill = 0.0 : f64} : (tensor<4x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  // CHECK: brew.average_items "r"(%[[M]], %[[C]]) {items = 4 : i64, loss_weights = array<f32: 1.000000e+00>, tops = ["r"]}
  %a = brew.average_items "r"(%m, %count) {items = 4 : i64, loss_weights = array<f32: 1.0>, tops = ["r"]} : (tensor<4x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  // CHECK: %[[K:.*]] = brew.scale_item_count "v"(%[[C]]) {factor = 3 : i64} : (tensor<i32>) -> tensor<1xi32>
  %k = brew.scale_item_count "v"(%count) {factor = 3 : i64} : (tensor<i32>) -> tensor<1xi32>
  // CHECK: %{{.*}}, %{{.*}} = brew.pack_items "c"(%[[M]], %[[C]]) {axis = 0 : i64, counted = array<i1: true, false>, extents = array<i64: 3, 1>, tops = ["c"]} : (tensor<4x3xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<i32>)
  %packed, %total = brew.pack_items "c"(%m, %count) {axis = 0 : i64, counted = array<i1: true, false>, extents = array<i64: 3, 1>, tops = ["c"]} : (tensor<4x3xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<i32>)
  // CHECK: brew.unpack_items "c"(%{{.*}}, %[[C]]) {axis = 0 : i64, counted = array<i1: true, false>, extents = array<i64: 3, 1>} : (tensor<4x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  %unpacked = brew.unpack_items "c"(%packed, %count) {axis = 0 : i64, counted = array<i1: true, false>, extents = array<i64: 3, 1>} : (tensor<4x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  // CHECK: brew.with_item_count "n"(%[[X]], %{{.*}}) {tops = ["n"]} : (tensor<4x3xf32>, tensor<1xf32>) -> (tensor<4x3xf32>, tensor<i32>)
  %number = brew.data_input "number" "Input" {config = "", folder = "", tops = ["number"]} : tensor<1xf32>
  %n, %counted = brew.with_item_count "n"(%x, %number) {tops = ["n"]} : (tensor<4x3xf32>, tensor<1xf32>) -> (tensor<4x3xf32>, tensor<i32>)
  %rows = brew.data_input "rows" "Input" {config = "", folder = "", tops = ["rows"]} : tensor<1x1x4x7xf32>
  // CHECK: brew.with_item_count "m"(%{{.*}}, %{{.*}}) {axis = 2 : i64, tops = ["m"]} : (tensor<1x1x4x7xf32>, tensor<1xf32>) -> (tensor<1x1x4x7xf32>, tensor<1x1xi32>)
  %m2, %counted2 = brew.with_item_count "m"(%rows, %number) {axis = 2 : i64, tops = ["m"]} : (tensor<1x1x4x7xf32>, tensor<1xf32>) -> (tensor<1x1x4x7xf32>, tensor<1x1xi32>)
  // CHECK: brew.filter_backward "f"(%[[M]], %[[P]]) : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>
  %dx = brew.filter_backward "f"(%m, %position) : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>
}
