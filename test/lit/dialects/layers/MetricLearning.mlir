// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/loss/MetricLearning.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x3xf32>
  %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l"]} : tensor<4xf32>
  %c = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<5x3xf32>
  // CHECK: brew.label_specific_add "a"(%{{.*}}, %{{.*}}) {bias = -5.000000e-01 : f32, tops = ["y"]}
  %y, %sy = brew.label_specific_add "a"(%x, %l) {bias = -0.5 : f32, tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.center_loss "c"(%{{.*}}, %{{.*}}, %{{.*}}) {classes = 5 : i64, tops = ["loss"]}
  %loss, %sl = brew.center_loss "c"(%x, %l, %c) {classes = 5 : i64, tops = ["loss"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<5x3xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
