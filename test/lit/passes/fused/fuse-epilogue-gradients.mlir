// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fuse-epilogue | FileCheck %s
// RUN: %brew-opt %s --brew-fuse-epilogue | FileCheck %s --check-prefix=CPU

// On a GPU the call for a later reader of a blob adds its gradient to the gradients of the other
// readers: %b to %a, then %c to both. On a CPU nothing is fused: generated code adds in one pass
// over memory, the library in more.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: brew.program @forward_backward
// CPU-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %w = brew.fill 1.0 : tensor<2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  // CHECK: %[[A:.*]] = brew.convolution_backward_data "a"(%[[DY:.*]], %[[W:[^ ,]*]])
  // CHECK: %[[B:.*]] = brew.convolution_backward_data "b"(%[[DY]], %[[W]], %[[A]])
  // CHECK-NOT: linalg.generic
  // CHECK: %[[C:.*]] = brew.convolution_backward_data "c"(%[[DY]], %[[W]], %[[B]])
  // CPU-COUNT-2: arith.addf
  %a = brew.convolution_backward_data "a"(%dy, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %b = brew.convolution_backward_data "b"(%dy, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %ab = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a, %b : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward} {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %c = brew.convolution_backward_data "c"(%dy, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %abc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%ab, %c : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward} {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>

  // Not applied if the other gradient is read later or is an input, nor to other operations
  // than sums.
  // CHECK: linalg.generic {{.*}} ins(%[[C]], %[[D:[^ ]*]] :
  // CHECK: linalg.generic {{.*}} ins(%[[DY]], %[[F:[^ ]*]] :
  // CHECK: arith.mulf
  %d = brew.convolution_backward_data "d"(%abc, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%abc, %d : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward} {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %f = brew.convolution_backward_data "f"(%abc, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dy, %f : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward} {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  %g = brew.convolution_backward_data "g"(%t, %w) {brew.backward, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %g : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) attrs = {brew.backward} {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x4x4xf32>
  brew.output %abc "abc" loss_weight 0.0 : tensor<1x2x4x4xf32>
  brew.output %u "u" loss_weight 0.0 : tensor<1x2x4x4xf32>
}
