// RUN: %brew-opt %s --split-input-file --brew-attach-target=vector-bits=512 --brew-fuse-depthwise | FileCheck %s

// A depthwise convolution and its weight gradient recompute %y from its producer's inputs; %y
// is not stored. Inside these nests, weights and their gradients have the channels innermost.

#last = #brew.layout<0, 2, 3, 1>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  // CHECK: %[[IN:.*]]:4 = brew.data_input
  %x, %dz, %scale, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dz", "s", "w"]} : tensor<8x32x56x56xf32, #last>, tensor<8x32x28x28xf32, #last>, tensor<32xf32>, tensor<32x1x3x3xf32>
  %e = tensor.empty() : tensor<8x32x56x56xf32, #last>
  // CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[IN]]#3 : {{.*}} outs({{.*}} : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>)
  // CHECK-NOT: ins(%[[IN]]#0
  %y = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %scale : tensor<8x32x56x56xf32, #last>, tensor<32xf32>) outs(%e : tensor<8x32x56x56xf32, #last>) attrs = {brew.layer = "y"} {
  ^bb0(%i: f32, %s: f32, %out: f32):
    %0 = arith.mulf %i, %s : f32
    linalg.yield %0 : f32
  } -> tensor<8x32x56x56xf32, #last>
  // The padding mask applies to the computed value, not to the inputs.
  // CHECK: %[[Z:.*]] = linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  // CHECK-SAME: ins(%[[W]] :
  // CHECK-SAME: outs({{.*}} : tensor<8x32x28x28xf32, #{{.*}}>) attrs = {brew.layer = "dw"}
  // CHECK: %[[C:.*]] = linalg.index 1
  // CHECK-DAG: %[[I:.*]] = tensor.extract %[[IN]]#0[%{{.*}}, %[[C]], %{{.*}}, %{{.*}}]
  // CHECK-DAG: %[[S:.*]] = tensor.extract %[[IN]]#2[%[[C]]]
  // CHECK: %[[Y:.*]] = arith.mulf %[[I]], %[[S]]
  // CHECK: arith.select %{{.*}}, %[[Y]],
  // CHECK: brew.output %[[Z]]
  %z = brew.convolution "dw"(%y, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["z"]} : (tensor<8x32x56x56xf32, #last>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<8x32x28x28xf32, #last>
  // CHECK: %[[SUMS:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[IN]]#1 :
  // CHECK-SAME: outs({{.*}} : tensor<32x1x3x3xf32, #brew.layout<1, 2, 3, 0>>) attrs = {brew.backward, brew.layer = "dw"}
  // CHECK: tensor.extract %[[IN]]#0
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : {{.*}} outs({{.*}} : tensor<32x1x3x3xf32>) attrs = {brew.backward, brew.layer = "dw"}
  // CHECK: brew.output %[[DW]]
  %dw = brew.convolution_backward_weights "dw"(%y, %dz) {brew.backward, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64} : (tensor<8x32x56x56xf32, #last>, tensor<8x32x28x28xf32, #last>) -> tensor<32x1x3x3xf32>
  brew.output %dw "dw" loss_weight 0.0 : tensor<32x1x3x3xf32>
}

// -----

// Calls stay if something else reads %y ...

#last = #brew.layout<0, 2, 3, 1>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-LABEL: brew.program @others
// CHECK: brew.convolution "dw"
brew.program @others train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8x32x56x56xf32, #last>
  %w = brew.fill 1.0 : tensor<32x1x3x3xf32>
  %e = tensor.empty() : tensor<8x32x56x56xf32, #last>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x32x56x56xf32, #last>) outs(%e : tensor<8x32x56x56xf32, #last>) {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<8x32x56x56xf32, #last>
  %z = brew.convolution "dw"(%y, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["z"]} : (tensor<8x32x56x56xf32, #last>, tensor<32x1x3x3xf32>) -> tensor<8x32x56x56xf32, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<8x32x56x56xf32, #last>
  brew.output %y "y" loss_weight 0.0 : tensor<8x32x56x56xf32, #last>
}

// -----

// ... if pixels are innermost ...

#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-LABEL: brew.program @rows
// CHECK: brew.convolution "dw"
brew.program @rows train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8x32x56x56xf32>
  %w = brew.fill 1.0 : tensor<32x1x3x3xf32>
  %e = tensor.empty() : tensor<8x32x56x56xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x32x56x56xf32>) outs(%e : tensor<8x32x56x56xf32>) {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<8x32x56x56xf32>
  %z = brew.convolution "dw"(%y, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["z"]} : (tensor<8x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x56x56xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<8x32x56x56xf32>
}

// -----

// ... if channels mix, and if recomputing the bottom for each tap takes too long.

#last = #brew.layout<0, 2, 3, 1>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-LABEL: brew.program @dear
// CHECK: brew.convolution "mixing"
// CHECK: brew.convolution "dear"
brew.program @dear train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8x32x56x56xf32, #last>
  %w = brew.fill 1.0 : tensor<32x32x3x3xf32>
  %v = brew.fill 1.0 : tensor<32x1x3x3xf32>
  %e = tensor.empty() : tensor<8x32x56x56xf32, #last>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x32x56x56xf32, #last>) outs(%e : tensor<8x32x56x56xf32, #last>) {
  ^bb0(%i: f32, %out: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<8x32x56x56xf32, #last>
  %z = brew.convolution "mixing"(%y, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["z"]} : (tensor<8x32x56x56xf32, #last>, tensor<32x32x3x3xf32>) -> tensor<8x32x56x56xf32, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<8x32x56x56xf32, #last>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x32x56x56xf32, #last>) outs(%e : tensor<8x32x56x56xf32, #last>) {
  ^bb0(%i: f32, %out: f32):
    %0 = math.exp %i : f32
    %1 = math.log %0 : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x32x56x56xf32, #last>
  %u = brew.convolution "dear"(%t, %v) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["u"]} : (tensor<8x32x56x56xf32, #last>, tensor<32x1x3x3xf32>) -> tensor<8x32x56x56xf32, #last>
  brew.output %u "u" loss_weight 0.0 : tensor<8x32x56x56xf32, #last>
}

// -----

// Narrow values are widened for the sum, like stored ones, and the producer's rounding is kept.

#last = #brew.layout<0, 2, 3, 1>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-LABEL: brew.program @narrow
// CHECK: %[[X:.*]] = brew.data_input
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<8x32x28x28xf32,
// CHECK: %[[I:.*]] = tensor.extract %[[X]]
// CHECK: %[[Y:.*]] = arith.addf %[[I]], %[[I]] : bf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[Y]] : bf16 to f32
// CHECK: arith.select %{{.*}}, %[[WIDE]],
// CHECK: brew.cast
brew.program @narrow train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8x32x56x56xbf16, #last>
  %w = brew.fill 1.0 : tensor<32x1x3x3xbf16>
  %e = tensor.empty() : tensor<8x32x56x56xbf16, #last>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x32x56x56xbf16, #last>) outs(%e : tensor<8x32x56x56xbf16, #last>) {
  ^bb0(%i: bf16, %out: bf16):
    %0 = arith.addf %i, %i : bf16
    linalg.yield %0 : bf16
  } -> tensor<8x32x56x56xbf16, #last>
  %z = brew.convolution "dw"(%y, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["z"]} : (tensor<8x32x56x56xbf16, #last>, tensor<32x1x3x3xbf16>) -> tensor<8x32x28x28xbf16, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<8x32x28x28xbf16, #last>
}
