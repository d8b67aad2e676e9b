// RUN: %brew-opt %s --brew-attach-target=vector-bits=512 --brew-split-reductions | FileCheck %s

// Sums of few adjacent channels are split into a sum per image and a sum of these, so that a thread
// reads full rows.
// CHECK-LABEL: brew.program @few
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: outs({{.*}} : tensor<16x32xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins({{.*}} : tensor<16x32xf32>)

// Not split: many channels, short sums, and sums whose terms are adjacent.
// CHECK-LABEL: brew.program @others
// CHECK-NOT: tensor.empty() : tensor<{{[0-9]+}}x{{[0-9]+}}xf32>
// CHECK: brew.pin
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
#last = #brew.layout<0, 2, 3, 1>
brew.program @few train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x32x56x56xf32, #last>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%x : tensor<16x32x56x56xf32, #last>) outs(%f : tensor<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<32xf32>
  brew.pin data "s", %s : tensor<32xf32>
}
brew.program @others train {
  %x, %y, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y", "z"]} : tensor<16x512x56x56xf32, #last>, tensor<2x32x28x28xf32, #last>, tensor<16x32x56x56xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %g = tensor.empty() : tensor<32xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%x : tensor<16x512x56x56xf32, #last>) outs(%f : tensor<512xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<512xf32>
  %t = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%y : tensor<2x32x28x28xf32, #last>) outs(%h : tensor<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<32xf32>
  %u = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%z : tensor<16x32x56x56xf32>) outs(%h : tensor<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<32xf32>
  brew.pin data "s", %s : tensor<512xf32>
  brew.pin data "t", %t : tensor<32xf32>
  brew.pin data "u", %u : tensor<32xf32>
}

// Taps of a window read the same tensor repeatedly, from the caches if a partial sum per image
// makes its input fit. Not applied if the partial sums would be large compared to the input.
// CHECK-LABEL: brew.program @taps
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: outs({{.*}} : tensor<16x3x128xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins({{.*}} : tensor<16x3x128xf32>)
// CHECK-LABEL: brew.program @many
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: brew.pin
#gradient = affine_map<(t, k, n, h, w) -> (n, k, h, w)>
#tap = affine_map<(t, k, n, h, w) -> (t, k)>
brew.program @taps train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<16x128x16x14xf32, #last>, tensor<16x128x14x14xf32, #last>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x128xf32>) -> tensor<3x128xf32>
  %s = linalg.generic {indexing_maps = [#gradient, #tap], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%dy : tensor<16x128x14x14xf32, #last>) outs(%f : tensor<3x128xf32>) {
  ^bb0(%d: f32, %o: f32):
    %t = linalg.index 0 : index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %h = linalg.index 3 : index
    %w = linalg.index 4 : index
    %at = arith.addi %h, %t : index
    %v = tensor.extract %x[%n, %k, %at, %w] : tensor<16x128x16x14xf32, #last>
    %p = arith.mulf %v, %d : f32
    %r = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<3x128xf32>
  brew.pin data "s", %s : tensor<3x128xf32>
}
brew.program @many train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x1024x8x4xf32, #last>, tensor<512x1024x4x4xf32, #last>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x1024xf32>) -> tensor<5x1024xf32>
  %s = linalg.generic {indexing_maps = [#gradient, #tap], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%dy : tensor<512x1024x4x4xf32, #last>) outs(%f : tensor<5x1024xf32>) {
  ^bb0(%d: f32, %o: f32):
    %t = linalg.index 0 : index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %h = linalg.index 3 : index
    %w = linalg.index 4 : index
    %at = arith.addi %h, %t : index
    %v = tensor.extract %x[%n, %k, %at, %w] : tensor<512x1024x8x4xf32, #last>
    %p = arith.mulf %v, %d : f32
    %r = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<5x1024xf32>
  brew.pin data "s", %s : tensor<5x1024xf32>
}
