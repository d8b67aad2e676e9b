// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/attention/Attention.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %q = brew.data_input "in" "Input" {config = "", folder = "", tops = ["q"]} : tensor<2x5x3x4xf32>
  %k = brew.data_input "in" "Input" {config = "", folder = "", tops = ["k"]} : tensor<2x6x3x4xf32>
  %m = brew.data_input "in" "Input" {config = "", folder = "", tops = ["m"]} : tensor<2x6xf32>
  %key = brew.random_key "a/1" : tensor<2xi32>
  // CHECK: brew.attention "a"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {dropout = 1.000000e-01 : f32, masked, tops = ["y"]}
  %y, %sums = brew.attention "a"(%q, %k, %k, %m, %key) {dropout = 0.1 : f32, masked, tops = ["y"]} : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x6xf32>, tensor<2xi32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.attention "c"(%{{.*}}, %{{.*}}, %{{.*}}) {causal, tops = ["z"]}
  %z, %sums2 = brew.attention "c"(%q, %q, %q) {causal, tops = ["z"]} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}
