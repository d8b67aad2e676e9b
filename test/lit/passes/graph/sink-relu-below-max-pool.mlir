// RUN: %brew-opt %s --brew-sink-relu-below-max-pool --split-input-file | FileCheck %s

// The ReLU moves below the pooling, and its result has the name of the pooled blob.
// CHECK-LABEL: brew.program @plain
brew.program @plain train {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = brew.max_pooling "pool"(%[[X]]) {{.*}}tops = [""]
  // CHECK-NEXT: %[[R:.*]] = brew.relu "relu"(%[[Y]]) {negative_slope = 0.000000e+00 : f32, tops = ["p"]} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  // CHECK-NEXT: brew.output %[[R]] "p"
  %r = brew.relu "relu"(%x) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %y, %argmax = brew.max_pooling "pool"(%r) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x3x2x2xi8>)
  brew.output %y "p" loss_weight 0.0 : tensor<2x3x2x2xf32>
}

// -----

// One ReLU replaces the ReLUs of all inputs of a Concat.
// CHECK-LABEL: brew.program @joined
brew.program @joined train {
  // CHECK: %[[A:.*]] = brew.data_input "a"
  // CHECK: %[[B:.*]] = brew.data_input "b"
  %a = brew.data_input "a" "Input" {config = "", folder = "", tops = ["a"]} : tensor<2x3x4x4xf32>
  %b = brew.data_input "b" "Input" {config = "", folder = "", tops = ["b"]} : tensor<2x1x4x4xf32>
  // CHECK-NEXT: %[[C:.*]] = brew.concat "concat"(%[[A]], %[[B]])
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = brew.max_pooling "pool"(%[[C]])
  // CHECK-NEXT: brew.relu "relu_a"(%[[Y]])
  // CHECK-NEXT: brew.output
  %ra = brew.relu "relu_a"(%a) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %rb = brew.relu "relu_b"(%b) {negative_slope = 0.0 : f32, tops = ["b"]} : (tensor<2x1x4x4xf32>) -> tensor<2x1x4x4xf32>
  %c = brew.concat "concat"(%ra, %rb) {axis = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x4x4x4xf32>
  %y, %argmax = brew.max_pooling "pool"(%c) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<2x4x4x4xf32>) -> (tensor<2x4x2x2xf32>, tensor<2x4x2x2xi8>)
  brew.output %y "p" loss_weight 0.0 : tensor<2x4x2x2xf32>
}

// -----

// Not applied if the clipped blob has another reader, if the ReLU has a slope, if an input of
// the Concat is not clipped, or if a mask would show which of several zeros is the maximum.
// CHECK-LABEL: brew.program @stays
brew.program @stays train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  // CHECK: %[[R:.*]] = brew.relu "kept"
  // CHECK-NEXT: brew.max_pooling "pool_kept"(%[[R]])
  %r = brew.relu "kept"(%x) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %y, %argmax = brew.max_pooling "pool_kept"(%r) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x3x2x2xi8>)
  // CHECK: %[[S:.*]] = brew.relu "sloped"
  // CHECK-NEXT: brew.max_pooling "pool_sloped"(%[[S]])
  %s = brew.relu "sloped"(%x) {negative_slope = 0.1 : f32, tops = ["s"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %z, %argmax2 = brew.max_pooling "pool_sloped"(%s) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["q"]} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x3x2x2xi8>)
  // CHECK: %[[T:.*]] = brew.relu "part"
  // CHECK-NEXT: %[[C:.*]] = brew.concat "concat"(%[[T]]
  // CHECK-NEXT: brew.max_pooling "pool_part"(%[[C]])
  %t = brew.relu "part"(%x) {negative_slope = 0.0 : f32, tops = ["t"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %c = brew.concat "concat"(%t, %x) {axis = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x6x4x4xf32>
  %u, %argmax3 = brew.max_pooling "pool_part"(%c) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["v"]} : (tensor<2x6x4x4xf32>) -> (tensor<2x6x2x2xf32>, tensor<2x6x2x2xi8>)
  // CHECK: %[[M:.*]] = brew.relu "masked"
  // CHECK-NEXT: brew.max_pooling "pool_masked"(%[[M]])
  %m = brew.relu "masked"(%x) {negative_slope = 0.0 : f32, tops = ["m"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %w:3 = brew.max_pooling "pool_masked"(%m) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["w", "mask"]} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>, tensor<2x3x2x2xi8>)
  brew.pin data "r", %r : tensor<2x3x4x4xf32>
}
