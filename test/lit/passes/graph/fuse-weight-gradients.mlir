// RUN: %brew-opt %s --brew-fuse-weight-gradients | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// The gradients of weights that three time steps share become one product, in the order of the
// steps.
// CHECK-LABEL: brew.program @steps
// CHECK-NOT: arith.addf
// CHECK: %[[X:.*]] = brew.concat_view "r"(%[[F:[a-z0-9]+]]#0, %[[F]]#1, %[[F]]#2) {axis = 0 : i64, brew.backward}{{.*}} -> tensor<3x4x32xf32>
// CHECK: %[[DY:.*]] = brew.concat_view "r"(%[[F]]#3, %[[F]]#4, %[[F]]#5) {axis = 0 : i64, brew.backward}{{.*}} -> tensor<3x4x64xf32>
// CHECK: %[[DW:.*]] = brew.inner_product_backward_weights "r"(%[[X]], %[[DY]]) {axis = 2 : i64, brew.backward}
// CHECK-NOT: brew.inner_product_backward_weights
// CHECK: brew.pin data "dw", %[[DW]]
brew.program @steps train {
  %x0, %x1, %x2, %d0, %d1, %d2 = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x0", "x1", "x2", "d0", "d1", "d2"]} : tensor<1x4x32xf32>, tensor<1x4x32xf32>, tensor<1x4x32xf32>, tensor<1x4x64xf32>, tensor<1x4x64xf32>, tensor<1x4x64xf32>
  %g2 = brew.inner_product_backward_weights "r"(%x2, %d2) {axis = 2 : i64, brew.backward} : (tensor<1x4x32xf32>, tensor<1x4x64xf32>) -> tensor<64x32xf32>
  %g1 = brew.inner_product_backward_weights "r"(%x1, %d1) {axis = 2 : i64, brew.backward} : (tensor<1x4x32xf32>, tensor<1x4x64xf32>) -> tensor<64x32xf32>
  %e = tensor.empty() : tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g2, %g1 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %g0 = brew.inner_product_backward_weights "r"(%x0, %d0) {axis = 2 : i64, brew.backward} : (tensor<1x4x32xf32>, tensor<1x4x64xf32>) -> tensor<64x32xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %g0 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  brew.pin data "dw", %t : tensor<64x32xf32>
}

// Not applied if copying large batches would cost more than the sum, if something else reads
// the sum, or if the products differ.
// CHECK-LABEL: brew.program @others
// CHECK-NOT: brew.concat_view
// CHECK: brew.pin data "large"
brew.program @others train {
  %x0, %x1, %d0, %d1 = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x0", "x1", "d0", "d1"]} : tensor<512x32xf32>, tensor<512x32xf32>, tensor<512x64xf32>, tensor<512x64xf32>
  %g0 = brew.inner_product_backward_weights "r"(%x0, %d0) {axis = 1 : i64, brew.backward} : (tensor<512x32xf32>, tensor<512x64xf32>) -> tensor<64x32xf32>
  %g1 = brew.inner_product_backward_weights "r"(%x1, %d1) {axis = 1 : i64, brew.backward} : (tensor<512x32xf32>, tensor<512x64xf32>) -> tensor<64x32xf32>
  %e = tensor.empty() : tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g0, %g1 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %y0, %y1, %f0, %f1 = brew.data_input "in2" "Input" {config = "", folder = "", tops = ["y0", "y1", "f0", "f1"]} : tensor<4x32xf32>, tensor<2x2x32xf32>, tensor<4x64xf32>, tensor<2x2x64xf32>
  %h0 = brew.inner_product_backward_weights "r"(%y0, %f0) {axis = 1 : i64, brew.backward} : (tensor<4x32xf32>, tensor<4x64xf32>) -> tensor<64x32xf32>
  %h1 = brew.inner_product_backward_weights "r"(%y1, %f1) {axis = 2 : i64, brew.backward} : (tensor<2x2x32xf32>, tensor<2x2x64xf32>) -> tensor<64x32xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h0, %h1 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %k0 = brew.inner_product_backward_weights "r"(%y0, %f0) {axis = 1 : i64, brew.backward, transpose} : (tensor<4x32xf32>, tensor<4x64xf32>) -> tensor<32x64xf32>
  %k1 = brew.inner_product_backward_weights "r"(%y0, %f0) {axis = 1 : i64, brew.backward, transpose} : (tensor<4x32xf32>, tensor<4x64xf32>) -> tensor<32x64xf32>
  %e2 = tensor.empty() : tensor<32x64xf32>
  %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%k0, %k1 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e2 : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32x64xf32>
  brew.pin data "one", %k1 : tensor<32x64xf32>
  brew.pin data "alike", %t : tensor<64x32xf32>
  brew.pin data "read", %u : tensor<32x64xf32>
  brew.pin data "large", %s : tensor<64x32xf32>
}
