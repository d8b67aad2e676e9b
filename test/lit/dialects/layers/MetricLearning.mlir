// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/loss/MetricLearning.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x3xf32>
  %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l"]} : tensor<4xf32>
  %c = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<5x3xf32>
  %b = brew.data_input "in" "Input" {config = "", folder = "", tops = ["b"]} : tensor<1xf32>
  // CHECK: brew.label_specific_add "a"(%{{.*}}, %{{.*}}, %{{.*}}) {tops = ["y"]}
  %y, %sy = brew.label_specific_add "a"(%x, %l, %b) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.center_loss "c"(%{{.*}}, %{{.*}}, %{{.*}}) {classes = 5 : i64, tops = ["loss"]}
  %loss, %sl = brew.center_loss "c"(%x, %l, %c) {classes = 5 : i64, tops = ["loss"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<5x3xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.center_loss "d"(%{{.*}}, %{{.*}}, %{{.*}}) {absolute, classes = 5 : i64, tops = ["d"]}
  %loss1, %sl1 = brew.center_loss "d"(%x, %l, %c) {absolute, classes = 5 : i64, tops = ["d"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<5x3xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: %[[U:.*]] = brew.unit_rows "m"(%{{.*}}, %{{.*}}) {rows = 5 : i64, tops = []}
  %u = brew.unit_rows "m"(%x, %c) {rows = 5 : i64, tops = []} : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<*xf32>
  // CHECK: brew.label_margin "m"(%[[U]], %{{.*}}, %{{.*}}, %{{.*}}) {margin = 2 : i64, tops = ["m"]}
  %m, %sm = brew.label_margin "m"(%u, %x, %l, %b) {margin = 2 : i64, tops = ["m"]} : (tensor<*xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.label_margin "n"(%[[U]], %{{.*}}, %{{.*}}, %{{.*}}, %[[U]]) {margin = 4 : i64, tops = ["n"]}
  %n, %sn = brew.label_margin "n"(%u, %x, %l, %b, %u) {margin = 4 : i64, tops = ["n"]} : (tensor<*xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.class_targets "t"(%{{.*}}, %{{.*}}) {tops = []}
  %t, %st = brew.class_targets "t"(%x, %l) {tops = []} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
