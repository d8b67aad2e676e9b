// RUN: %brew-opt %s --brew-insert-all-reduces='bucket-bytes=1000' --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-insert-all-reduces='bucket-bytes=1000' --brew-plan-memory --brew-verify-plan --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: %brew-opt %s --brew-insert-all-reduces --split-input-file | FileCheck %s --check-prefix=ONE

// The backward pass completes c, then b, then a. The first two fill a bucket of 1000 bytes,
// which starts before a is complete. Gradients are reduced in place.
brew.param @a.0 : tensor<64xf32> {layer = "a", index = 0 : i64, file_dims = array<i64: 64>}
brew.param @b.0 : tensor<128xf32> {layer = "b", index = 0 : i64, file_dims = array<i64: 128>}
brew.param @c.0 : tensor<128xf32> {layer = "c", index = 0 : i64, file_dims = array<i64: 128>}
brew.program @forward_backward train role forward_backward {
  %x = brew.param_value @a.0 : tensor<64xf32>
  %y = brew.param_value @b.0 : tensor<128xf32>
  %c = brew.kernel "c"(%y) {backward} : (tensor<128xf32>) -> tensor<128xf32> {
  ^bb0(%i: tensor<128xf32>):
    %e = tensor.empty() : tensor<128xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<128xf32>) outs(%e : tensor<128xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.backward} {
    ^bb0(%v: f32, %w: f32):
      linalg.yield %v : f32
    } -> tensor<128xf32>
    brew.yield %o : tensor<128xf32>
  }
  %b = brew.kernel "b"(%c) {backward} : (tensor<128xf32>) -> tensor<128xf32> {
  ^bb0(%i: tensor<128xf32>):
    %e = tensor.empty() : tensor<128xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<128xf32>) outs(%e : tensor<128xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.backward} {
    ^bb0(%v: f32, %w: f32):
      linalg.yield %v : f32
    } -> tensor<128xf32>
    brew.yield %o : tensor<128xf32>
  }
  %a = brew.kernel "a"(%x) {backward} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%i: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.backward} {
    ^bb0(%v: f32, %w: f32):
      linalg.yield %v : f32
    } -> tensor<64xf32>
    brew.yield %o : tensor<64xf32>
  }
  brew.store_gradient %a, @a.0 : tensor<64xf32>
  brew.store_gradient %b, @b.0 : tensor<128xf32>
  brew.store_gradient %c, @c.0 : tensor<128xf32>
}

// CHECK: %[[C:.*]] = brew.kernel "c"
// CHECK: %[[B:.*]] = brew.kernel "b"
// CHECK-NEXT: ^bb0
// CHECK: %[[S:.*]]:2 = brew.all_reduce_start 0(%[[C]], %[[B]]) : tensor<128xf32>, tensor<128xf32>
// CHECK: %[[A:.*]] = brew.kernel "a"
// CHECK: %[[T:.*]] = brew.all_reduce_start 1(%[[A]]) : tensor<64xf32>
// CHECK: %[[R:.*]]:2 = brew.all_reduce_wait 0(%[[S]]#0, %[[S]]#1)
// CHECK: %[[Q:.*]] = brew.all_reduce_wait 1(%[[T]])
// CHECK: brew.store_gradient %[[Q]], @a.0
// CHECK: brew.store_gradient %[[R]]#1, @b.0
// CHECK: brew.store_gradient %[[R]]#0, @c.0
// CHECK-LABEL: brew.program @reduce train role reduce
// CHECK: %[[G:.*]] = brew.all_gradients : tensor<320xf32>
// CHECK: %[[S:.*]] = brew.all_reduce_start 0(%[[G]]) : tensor<320xf32>
// CHECK: %[[R:.*]] = brew.all_reduce_wait 0(%[[S]]) : tensor<320xf32>
// CHECK: brew.store_all_gradients %[[R]]

// PLAN-LABEL: plan.program @forward_backward
// PLAN: plan.launch @c(
// PLAN: plan.launch @b(
// PLAN-DAG: %[[C:.*]] = plan.buffer "c.0.gradient" gradients[768] : memref<128xf32>
// PLAN-DAG: %[[B:.*]] = plan.buffer "b.0.gradient" gradients[256] : memref<128xf32>
// PLAN: plan.all_reduce_start 0(%{{.*}}, %{{.*}}) to(%[[C]], %[[B]])
// PLAN: plan.launch @a(
// PLAN: plan.all_reduce_start 1
// PLAN: plan.all_reduce_wait 0
// PLAN: plan.all_reduce_wait 1
// PLAN-NOT: plan.copy
// PLAN-LABEL: plan.program @reduce
// PLAN: plan.all_reduce_start 0(%{{.*}}) to(%{{.*}}) {{.*}} : memref<320xf32> to memref<320xf32>

// The default bucket size is sqrt(1280 bytes * 50 us * 2 GB/s) = 11 kB, so one bucket suffices.
// ONE: brew.all_reduce_start 0(%{{.*}}, %{{.*}}, %{{.*}}) :
// ONE-NOT: brew.all_reduce_start 1

// -----

// A value that is the gradient of two parameters is all-reduced once, and the second buffer gets
// a copy of the sum. The value is also read unreduced afterwards, so it keeps its own memory.
brew.param @a.0 : tensor<64xf32> {layer = "a", index = 0 : i64, file_dims = array<i64: 64>}
brew.param @b.0 : tensor<64xf32> {layer = "b", index = 0 : i64, file_dims = array<i64: 64>}
brew.program @forward_backward train role forward_backward {
  %x = brew.param_value @a.0 : tensor<64xf32>
  %a = brew.kernel "a"(%x) {backward} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%i: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.backward} {
    ^bb0(%v: f32, %w: f32):
      linalg.yield %v : f32
    } -> tensor<64xf32>
    brew.yield %o : tensor<64xf32>
  }
  brew.pin diff "x", %a : tensor<64xf32>
  brew.store_gradient %a, @a.0 : tensor<64xf32>
  brew.store_gradient %a, @b.0 : tensor<64xf32>
}
// CHECK-COUNT-1: brew.all_reduce_start 0(%{{[^,]*}}) : tensor<64xf32>
// PLAN: %[[OWN:.*]] = plan.buffer "x.diff" transient[0] live [0, 2] pinned
// PLAN: plan.launch @a(%{{.*}}, %[[OWN]])
// PLAN: %[[SUM:.*]] = plan.buffer "a.0.gradient" gradients[0]
// PLAN: plan.all_reduce_start 0(%[[OWN]]) to(%[[SUM]])
// PLAN: plan.all_reduce_wait 0
// PLAN: %[[SECOND:.*]] = plan.buffer "b.0.gradient" gradients[256]
// PLAN: plan.copy %{{.*}} to %[[SECOND]]
// PLAN: plan.pin diff "x", %[[OWN]]

// -----

// The count of non-finite gradients is all-reduced once, before the update. All readers use the
// reduced count.
brew.param @loss_scale.non_finite : tensor<f32> {brew.persistent, layer = "loss_scale", index = 0 : i64, file_dims = array<i64>}
brew.param @a.0 : tensor<64xf32> {layer = "a", index = 0 : i64, file_dims = array<i64: 64>}
brew.program @update train role update {
  %a = brew.param_value @a.0 : tensor<64xf32>
  %n = brew.param_value @loss_scale.non_finite : tensor<f32>
  %m = brew.param_value @loss_scale.non_finite : tensor<f32>
  %k = brew.kernel "u"(%n, %m, %a) : (tensor<f32>, tensor<f32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%i: tensor<f32>, %h: tensor<f32>, %j: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i, %h, %j : tensor<f32>, tensor<f32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb0(%u: f32, %t: f32, %v: f32, %w: f32):
      %s = arith.addf %u, %v : f32
      %r = arith.addf %s, %t : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    brew.yield %o : tensor<64xf32>
  }
  brew.store_param %k, @a.0 : tensor<64xf32>
}
// CHECK-LABEL: brew.program @update
// CHECK: %[[OWN:.*]] = brew.param_value @loss_scale.non_finite
// CHECK-NEXT: %[[SUM:.*]] = brew.all_reduce_start 0(%[[OWN]]) {statistic} : tensor<f32>
// CHECK-NEXT: %[[ALL:.*]] = brew.all_reduce_wait 0(%[[SUM]]) {statistic} : tensor<f32>
// CHECK: brew.kernel "u"(%[[ALL]], %[[ALL]], %{{.*}})
// CHECK-NOT: brew.all_reduce
// PLAN-LABEL: plan.program @update
// PLAN: %[[COUNT:.*]] = plan.buffer "loss_scale.non_finite"
// PLAN: plan.all_reduce_start 0(%[[COUNT]]) to(%[[PLACE:[^)]*]]) {{{.*}}statistic}
// PLAN: plan.all_reduce_wait 0(%[[PLACE]])
// PLAN: plan.launch @u(%[[PLACE]],
