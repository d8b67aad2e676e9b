// RUN: %brew-opt %s --brew-fuse-pooling-backward --split-input-file | FileCheck %s

// Each element of this gradient is a sum over two windows. A reduction and then another nest read
// the gradient. It is not stored: both nests recompute it from a tensor of half the size, in the
// order of the windows.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @windows
// CHECK: %[[IN:.*]]:2 = brew.data_input
// CHECK-NOT: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "parallel"]} ins(%[[IN]]#0 : {{.*}} attrs = {brew.backward, brew.layer = "pool+sum"}
// CHECK: %[[FIRST:.*]] = tensor.extract %[[IN]]#1
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %[[FIRST]],
// CHECK: %[[ONE:.*]] = arith.addf %{{.*}}, %[[A]]
// CHECK: %[[SECOND:.*]] = tensor.extract %[[IN]]#1
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %[[SECOND]],
// CHECK: %[[P:.*]] = arith.addf %[[ONE]], %[[B]]
// CHECK-NOT: tensor.extract
// CHECK: arith.mulf %[[P]], %{{.*}}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[IN]]#0, %[[S]] : {{.*}} attrs = {brew.backward, brew.layer = "pool+apply"}
// CHECK: tensor.extract %[[IN]]#1
// CHECK: tensor.extract %[[IN]]#1
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @windows train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %row, %c] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #channel], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p, %x : tensor<512x16x64xf32>, tensor<512x16x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<64xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
}
}

// -----

// Not applied if the gradient alone determines the loops of the reduction.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @alone
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: brew.layer = "pool+
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @alone train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %row, %c] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p : tensor<512x16x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<64xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
}
}

// -----

// Not applied if the reduction is over the innermost dimension: then the producer of the gradient
// shares the other loops, and a kernel, with the reduction.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @neighbours
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: brew.layer = "pool+
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @neighbours train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %row, %c] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<512x16xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<512x16xf32>) -> tensor<512x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %x : tensor<512x16x64xf32>, tensor<512x16x64xf32>) outs(%sf : tensor<512x16xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<512x16xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
}
}

// -----

// Not applied if something else reads the gradient, so that it must be stored.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @stored
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: brew.layer = "pool+
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @stored train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %row, %c] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #channel], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p, %x : tensor<512x16x64xf32>, tensor<512x16x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<64xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
  brew.pin data "p", %p : tensor<512x16x64xf32>
}
}

// -----

// Not applied if adjacent elements do not come from adjacent elements: each would need its own
// indices.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @apart
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: brew.layer = "pool+
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @apart train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %e = arith.maxsi %c, %none : index
    %d = tensor.extract %dy[%n, %row, %e] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #channel], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p, %x : tensor<512x16x64xf32>, tensor<512x16x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<64xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
}
}

// -----

// Not applied on a CPU, where the repeated operations take time.
#id = affine_map<(n, h, c) -> (n, h, c)>
#element = affine_map<(n, h, c, w) -> (n, h, c)>
#window = affine_map<(n, h, c, w) -> (w)>
#channel = affine_map<(n, h, c) -> (c)>
#row = affine_map<(n, h, c) -> (n, h)>
// CHECK-LABEL: brew.program @cpu
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: brew.layer = "pool+
brew.program @cpu train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x16x64xf32>, tensor<512x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<512x16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<512x16x64xf32>) -> tensor<512x16x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %c = linalg.index 2 : index
    %w = linalg.index 3 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %h, %two : index
    %at = arith.subi %q, %w : index
    %inside = arith.cmpi sge, %at, %none : index
    %row = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %row, %c] : tensor<512x8x64xf32>
    %t = arith.select %inside, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x16x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #channel], iterator_types = ["reduction", "reduction", "parallel"]} ins(%p, %x : tensor<512x16x64xf32>, tensor<512x16x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x16x64xf32>, tensor<512x16x64xf32>, tensor<64xf32>) outs(%e3 : tensor<512x16x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x16x64xf32>
  brew.pin data "dx", %dx : tensor<512x16x64xf32>
}
