// RUN: %brew-opt %s --split-input-file --brew-rematerialize=bytes=-1 | FileCheck %s

// In the backward pass only the weight gradient reads %y. It can be deferred until after the
// last reader of %x, whose kernel then recomputes %y for the cost of a store: less than a
// hundredth of the step here.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  %in = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  // CHECK: %[[X:.*]] = brew.convolution "a"
  %x = brew.convolution "a"(%in, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] :
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  // CHECK: brew.convolution "b"(%[[Y]],
  %z = brew.convolution "b"(%y, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: %[[DZ:.*]] = linalg.generic
  %dz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "z"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  // CHECK-NOT: brew.convolution_backward_weights
  // CHECK: %[[DY:.*]] = brew.convolution_backward_data "b"(%[[DZ]],
  // CHECK-NEXT: linalg.generic {{.*}} ins(%[[DY]], %[[X]] :
  // CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[X]] {{.*}} attrs = {brew.backward, brew.layer = "y", brew.rematerialized}
  // CHECK: %[[DW:.*]] = brew.convolution_backward_weights "b"(%[[AGAIN]], %[[DZ]])
  // CHECK-NEXT: brew.output %[[DW]]
  %dw = brew.convolution_backward_weights "b"(%y, %dz) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x1x1xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<2x2x1x1xf32>
  %dy = brew.convolution_backward_data "b"(%dz, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %x : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "y"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<1x2x4x4xf32>
}

// -----

// Not applied if a nest reads %y before the last reader of %x: that nest would recompute %y itself
// if that were cheap.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @forward_backward
// CHECK-NOT: brew.rematerialized
brew.program @forward_backward train {
  %in = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %x = brew.convolution "a"(%in, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %out: f32):
    %0 = math.exp %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %z = brew.convolution "b"(%y, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "z"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %dw = brew.convolution_backward_weights "b"(%y, %dz) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x1x1xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<2x2x1x1xf32>
  %dy = brew.convolution_backward_data "b"(%dz, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %y : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "y"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %dv = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dx, %x : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "y"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  brew.output %dv "dv" loss_weight 0.0 : tensor<1x2x4x4xf32>
}

// -----

// Operations are deferred past the nests that follow the last reader of %x, up to the next call:
// one kernel may contain all these nests, which keeps %dx in a cache. %y is recomputed before the
// nests that follow.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  %in, %other = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "o"]} : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %zero = arith.constant 0.0 : f32
  %n = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%n : tensor<2xf32>) -> tensor<2xf32>
  %x = brew.convolution "a"(%in, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %z = brew.convolution "b"(%y, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "z"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  // CHECK: %[[DX:.*]] = linalg.generic {{.*}} attrs = {brew.backward, brew.layer = "dx"}
  // CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} attrs = {brew.backward, brew.layer = "y", brew.rematerialized}
  // CHECK: linalg.generic {{.*}} ins(%[[DX]] {{.*}} attrs = {brew.backward, brew.layer = "sum"}
  // CHECK: brew.convolution_backward_weights "b"(%[[AGAIN]],
  // CHECK: brew.convolution_backward_weights "a"
  %dw = brew.convolution_backward_weights "b"(%y, %dz) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x1x1xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<2x2x1x1xf32>
  %dy = brew.convolution_backward_data "b"(%dz, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %x : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "dx"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%dx : tensor<1x2x4x4xf32>) outs(%f : tensor<2xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%d: f32, %out: f32):
    %0 = arith.addf %out, %d : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<2xf32>
  %dv = brew.convolution_backward_weights "a"(%in, %dx) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x1x1xf32>
  brew.output %dv "dv" loss_weight 0.0 : tensor<2x2x1x1xf32>
}

// -----

// %x may be a slice of the result of a fused convolution. Then its memory cannot be reused, so
// the peak must be at another step: here at the one that computes %dz.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  %in = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %v = brew.fill 1.0 : tensor<4x2x1x1xf32>
  %w = brew.fill 1.0 : tensor<64x2x1x1xf32>
  %e64 = tensor.empty() : tensor<1x64x4x4xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %both = brew.convolution "a"(%in, %v) {num_output = 4 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: %[[X:.*]] = brew.subview
  %x = brew.subview "a"(%both) {offsets = array<i64: 0, 2, 0, 0>} : (tensor<1x4x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %z = brew.convolution "b"(%y, %w) {num_output = 64 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<64x2x1x1xf32>) -> tensor<1x64x4x4xf32>
  %dz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : tensor<1x64x4x4xf32>) outs(%e64 : tensor<1x64x4x4xf32>) attrs = {brew.backward, brew.layer = "z"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x64x4x4xf32>
  // CHECK: brew.convolution_backward_data "b"
  // CHECK-NEXT: linalg.generic {{.*}} ins(%{{.*}}, %[[X]] :
  // CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[X]] {{.*}} attrs = {brew.backward, brew.layer = "y", brew.rematerialized}
  // CHECK: brew.convolution_backward_weights "b"(%[[AGAIN]],
  %dw = brew.convolution_backward_weights "b"(%y, %dz) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<64x2x1x1xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<64x2x1x1xf32>
  %dy = brew.convolution_backward_data "b"(%dz, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x4x4xf32>, tensor<64x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %x : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "y"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<1x2x4x4xf32>
}

// -----

// If the peak is at that step, %y is saved: recomputing gains nothing.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @forward_backward
// CHECK-NOT: brew.rematerialized
brew.program @forward_backward train {
  %in = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %v = brew.fill 1.0 : tensor<4x2x1x1xf32>
  %w = brew.fill 1.0 : tensor<2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %both = brew.convolution "a"(%in, %v) {num_output = 4 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  %x = brew.subview "a"(%both) {offsets = array<i64: 0, 2, 0, 0>} : (tensor<1x4x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %z = brew.convolution "b"(%y, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "z"} {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %dw = brew.convolution_backward_weights "b"(%y, %dz) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x1x1xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<2x2x1x1xf32>
  %dy = brew.convolution_backward_data "b"(%dz, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %x : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward, brew.layer = "y"} {
  ^bb0(%d: f32, %i: f32, %out: f32):
    %0 = arith.mulf %d, %i : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<1x2x4x4xf32>
}
