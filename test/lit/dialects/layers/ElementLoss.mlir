// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/loss/ElementLoss.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x3xf32>
  %t = brew.data_input "in" "Input" {config = "", folder = "", tops = ["t"]} : tensor<4x3xf32>
  %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l"]} : tensor<4xf32>
  // CHECK: brew.euclidean_loss "e"(%{{.*}}, %{{.*}}) {tops = ["e"]}
  %e = brew.euclidean_loss "e"(%x, %t) {tops = ["e"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  %v = brew.data_input "m" "Input" {config = "", folder = "", tops = []} : tensor<f32>
  // CHECK: brew.memory_loss "m"(%{{.*}}, %{{.*}}, %{{.*}}) {blobs = ["x", "t"], normalization = #brew<normalization valid>, tops = ["m"]}
  %m = brew.memory_loss "m"(%x, %t, %v) {blobs = ["x", "t"], normalization = #brew<normalization valid>, tops = ["m"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<*xf32>
  // CHECK: brew.smooth_l1_items "o"(%{{.*}}, %{{.*}}, %{{.*}}) {tops = ["o"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x1x1x1xf32>
  %o = brew.smooth_l1_items "o"(%x, %t, %x) {tops = ["o"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x1x1x1xf32>
  // CHECK: brew.smooth_l1_loss "f"(%{{.*}}, %{{.*}}) {normalization = #brew<normalization full>, sigma = 1.000000e+00 : f32, tops = ["f"]}
  %f = brew.smooth_l1_loss "f"(%x, %t) {sigma = 1.0 : f32, normalization = #brew<normalization full>, tops = ["f"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  // CHECK: brew.smooth_l1_loss "s"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {sigma = 2.000000e+00 : f32, tops = ["s"]}
  %s = brew.smooth_l1_loss "s"(%x, %t, %x, %t) {sigma = 2.0 : f32, tops = ["s"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  // CHECK: brew.sigmoid_cross_entropy_loss "c"{{.*}} {ignore_label = 255 : i64, normalization = #brew<normalization valid>, tops = ["c"]}
  %c, %n = brew.sigmoid_cross_entropy_loss "c"(%x, %t) {ignore_label = 255 : i64, normalization = #brew<normalization valid>, tops = ["c"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.contrastive_loss "d"{{.*}} {legacy, margin = 5.000000e-01 : f32, tops = ["d"]}
  %d, %dist = brew.contrastive_loss "d"(%x, %t, %l) {legacy, margin = 0.5 : f32, tops = ["d"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}
