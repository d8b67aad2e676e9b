// RUN: %brew-opt %s --brew-plan-memory --brew-verify-plan --split-input-file --mlir-print-local-scope | FileCheck %s

// Offsets are multiples of 64: 100 floats (400 bytes) take 448.
//
// Steps: 0 launch first, 1 inner product, 2 launch second.
//   x   written by the feed, read at 0                     live 0..0
//   a   written at 0, read at 1                            live 0..1
//   i   written at 1, read at 2, where b takes its bytes;
//       b is an output, so it lives past the end           live 1..2
// Live together: x + a at 0, a + i at 1: 896 bytes. Placed by falling size,
// then falling span: i at 0; a, which meets i at step 1, at 448; x fits under
// a, as i is not live at step 0: at 0.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: plan.arena @transient transient size 896
// CHECK: plan.kernel @first attributes {in_place = array<i64: -1>
// CHECK: plan.kernel @second attributes {in_place = array<i64: 0>
// CHECK-LABEL: plan.program @chain attributes {arena_bytes = 896 : i64, caffe_bytes = 77 : i64, lower_bound_bytes = 896 : i64, test_phase}
brew.program @chain test attributes {caffe_bytes = 77 : i64} {
  // CHECK-NEXT: %[[X:.*]] = plan.buffer "x" @transient[0] live [0, 0] : memref<10x10xf32>
  // CHECK-NEXT: plan.feed "in" "Data"(%[[X]]) {config = "text", folder = "where"}
  %x = brew.feed "in" "Data" {config = "text", folder = "where", tops = ["x"]} : tensor<10x10xf32>
  %w = brew.param_value @w : tensor<10x10xf32>
  // The feed's bytes are not overwritten: a second run would miss nothing, but
  // a reader may already fill them.
  // CHECK-NEXT: %[[A:.*]] = plan.buffer "first.0" @transient[448] live [0, 1] : memref<10x10xf32>
  // CHECK-NEXT: plan.launch @first(%[[X]], %[[A]]) {layers = ["one"]}
  %a = brew.kernel "first"(%x) {layers = ["one"]} : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%in: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.part = 0 : i64, brew.grid = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  // CHECK-NEXT: %[[W:.*]] = plan.buffer "w" @parameters[0] : memref<10x10xf32>
  // CHECK-NEXT: %[[I:.*]] = plan.buffer "i" @transient[0] live [1, 2] pinned : memref<10x10xf32>
  // 2 * 10 * 10 * 10 operations
  // CHECK-NEXT: plan.inner_product forward x %[[A]] w %[[W]] y %[[I]] {axis = 1 : i64, flops = 2000 : i64, layers = ["ip"]}
  %i = brew.inner_product "ip"(%a, %w) {num_output = 10 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  // CHECK-NEXT: %[[B:.*]] = plan.buffer "second.0" @transient[0] live [1, 2] pinned : memref<10x10xf32>
  // CHECK-NEXT: plan.launch @second(%[[I]], %[[B]])
  %b = brew.kernel "second"(%i) {layers = ["two"]} : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%in: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.part = 0 : i64, brew.grid = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  // CHECK-NEXT: plan.output %[[B]] "b" loss_weight 5.000000e-01 : memref<10x10xf32>
  brew.output %b "b" loss_weight 0.5 : tensor<10x10xf32>
}
brew.param @w : tensor<10x10xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 10, 10>}
