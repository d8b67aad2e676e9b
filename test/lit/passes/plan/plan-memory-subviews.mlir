// RUN: %brew-opt %s --brew-alias-subviews --brew-form-kernels --brew-verify-fused --brew-plan-memory --brew-verify-plan --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// One kernel writes both slices of y and another reads y, without a copy. The arena contains x, w
// and y; z overwrites y.
// CHECK: plan.arena transient size 192
// CHECK-LABEL: plan.program @join
brew.program @join test {
  // CHECK: %[[X:.*]] = plan.buffer "x"
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.data_input "in2" "Data" {config = "", folder = "", tops = ["w"]} : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) attrs = {brew.layer = "a"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %f = tensor.empty() : tensor<2x2xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) attrs = {brew.layer = "b"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  // CHECK: plan.buffer "a_b.0" transient[0] live [0, 1] {brew.base = ["c.concat_view", 0]} : memref<2x4xf32, strided<[6, 1]>>
  // CHECK: plan.buffer "a_b.1" transient[16] live [0, 1] {brew.base = ["c.concat_view", 0]} : memref<2x2xf32, strided<[6, 1]>>
  %y = brew.concat_view "c"(%a, %b) {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
  // CHECK: plan.buffer "c.concat_view" transient[0] live [0, 1] : memref<2x6xf32>
  // The last reader of y, and of its subviews, overwrites it.
  // CHECK: plan.buffer "z.0" transient[0] live [0, 1] pinned : memref<2x6xf32>
  %g = tensor.empty() : tensor<2x6xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x6xf32>) outs(%g : tensor<2x6xf32>) attrs = {brew.layer = "z"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x6xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<2x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A subview that is read later prevents overwriting the full tensor in place.
// CHECK-LABEL: plan.program @later
brew.program @later test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) attrs = {brew.layer = "a"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %y = brew.concat_view "c"(%a, %x) {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %g = tensor.empty() : tensor<2x8xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x8xf32>) outs(%g : tensor<2x8xf32>) attrs = {brew.layer = "z"} {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<2x8xf32>
  // CHECK: plan.buffer "z.0" transient[64]
  // CHECK: plan.output %{{.*}} "a" loss_weight 0.000000e+00 : memref<2x4xf32, strided<[8, 1]>>
  brew.output %a "a" loss_weight 0.0 : tensor<2x4xf32>
}
