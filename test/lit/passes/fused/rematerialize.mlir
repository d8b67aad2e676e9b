// RUN: %brew-opt %s --split-input-file --brew-rematerialize=bytes=700 | FileCheck %s
// RUN: %brew-opt %s --split-input-file --brew-rematerialize=bytes=100000 | FileCheck %s --check-prefix=ENOUGH

// A cheap value is recomputed right before the backward pass first reads it, from values that
// are still live: %b for the product with %da. The forward pass reads the original, and with
// sufficient memory nothing is recomputed.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: brew.program @forward_backward
// ENOUGH-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} attrs = {brew.layer = "a"}
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.layer = "a"} {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] {{.*}} attrs = {brew.layer = "b"}
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.layer = "b"} {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[B]] {{.*}} attrs = {brew.layer = "c"}
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.layer = "c"} {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK: %[[DC:.*]] = linalg.generic {{.*}} attrs = {brew.backward, brew.layer = "c"}
  // ENOUGH: attrs = {brew.backward, brew.layer = "c"}
  %dc = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.backward, brew.layer = "c"} {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[A]] {{.*}} attrs = {brew.backward, brew.layer = "b", brew.rematerialized}
  // CHECK: linalg.generic {{.*}} ins(%[[AGAIN]], %[[DC]] {{.*}} attrs = {brew.backward, brew.layer = "b"}
  // ENOUGH-NOT: brew.rematerialized
  %db = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%b, %dc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.backward, brew.layer = "b"} {
  ^bb0(%in: f32, %d: f32, %out: f32):
    %0 = arith.mulf %in, %d : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[A]], {{.*}} attrs = {brew.backward, brew.layer = "a"}
  %da = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %db : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.backward, brew.layer = "a"} {
  ^bb0(%in: f32, %d: f32, %out: f32):
    %0 = arith.mulf %in, %d : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  brew.output %da "da" loss_weight 0.0 : tensor<64xf32>
}

// -----

// A program without a backward pass stays as it is.
// CHECK-LABEL: brew.program @test_0
// CHECK-NOT: brew.rematerialized
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64xf32>
  brew.output %x "x" loss_weight 0.0 : tensor<64xf32>
}
