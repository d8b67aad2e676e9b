// RUN: %brew-opt %s --brew-infer-shapes | FileCheck %s

// The windows of the pooling that computed the mask are known if its bottom is as large as the
// result, also through a split.
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x5x7xf32>
  %p, %m, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, tops = ["p", "m"]} : (tensor<1x2x5x7xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi8>)
  %s:2 = brew.split "s"(%m) {tops = ["m0", "m1"]} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.max_unpooling "u"{{.*}} {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1>, pad_out = array<i64: 1, 1>, scale = array<i64: 2, 2>, size = array<i64: 5, 7>, stride = array<i64: 2, 2>, tops = ["u"]} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> (tensor<1x2x5x7xf32>, tensor<i32>)
  %u, %t = brew.max_unpooling "u"(%p, %s#1) {size = array<i64>, scale = array<i64: 2, 2>, pad_out = array<i64: 1, 1>, tops = ["u"]} : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.max_unpooling "v"{{.*}} {pad_out = array<i64: 0, 0>, scale = array<i64: 2, 2>, size = array<i64: 6, 7>, tops = ["v"]} : {{.*}} -> (tensor<1x2x6x7xf32>, tensor<i32>)
  %v, %w = brew.max_unpooling "v"(%p, %m) {size = array<i64: 6, 7>, scale = array<i64: 2, 2>, pad_out = array<i64: 0, 0>, tops = ["v"]} : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
