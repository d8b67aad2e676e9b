// RUN: %brew-opt %s --brew-gather-gradients --split-input-file | FileCheck %s

// A gradient that each element takes from two windows, and that a sum and then another nest read,
// is not stored on a GPU: both gather it from what is half as large.
#id = affine_map<(n, k) -> (n, k)>
#element = affine_map<(n, k, w) -> (n, k)>
#window = affine_map<(n, k, w) -> (w)>
#column = affine_map<(n, k) -> (k)>
// CHECK-LABEL: brew.program @windows
// CHECK: %[[IN:.*]]:2 = brew.feed
// CHECK-NOT: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[IN]]#0 : {{.*}} attrs = {brew.backward, brew.layer = "pool+sum"}
// CHECK: %[[A:.*]] = tensor.extract %[[IN]]#1
// CHECK: arith.select %{{.*}}, %[[A]],
// CHECK: tensor.extract %[[IN]]#1
// CHECK: %[[P:.*]] = arith.addf
// CHECK-NOT: tensor.extract
// CHECK: arith.mulf %[[P]], %{{.*}}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[IN]]#0, %[[S]] : {{.*}} attrs = {brew.backward, brew.layer = "pool+apply"}
// CHECK: tensor.extract %[[IN]]#1
// CHECK: tensor.extract %[[IN]]#1
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, memory_bytes = 1920, operations = 16000, library = <channels_last = false, leaky_products = false, bf16 = true, f16 = true, tf32 = true, long_sum = 1048576>>} {
brew.program @windows train {
  %x, %dy = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x64xf32>, tensor<512x32xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %k = linalg.index 1 : index
    %w = linalg.index 2 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %k, %two : index
    %at = arith.subi %q, %w : index
    %there = arith.cmpi sge, %at, %none : index
    %place = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %place] : tensor<512x32xf32>
    %t = arith.select %there, %d, %zero : f32
    %s = arith.addf %o, %t fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #column], iterator_types = ["reduction", "parallel"]} ins(%p, %x : tensor<512x64xf32>, tensor<512x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x, %sum : tensor<512x64xf32>, tensor<512x64xf32>, tensor<64xf32>) outs(%e : tensor<512x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %b, %c : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<512x64xf32>
  brew.keep data "dx", %dx : tensor<512x64xf32>
}
}

// -----

// Where nests without sums alone read it, one kernel makes it and has it in a register.
#id = affine_map<(n, k) -> (n, k)>
#element = affine_map<(n, k, w) -> (n, k)>
#window = affine_map<(n, k, w) -> (w)>
// CHECK-LABEL: brew.program @register
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel"]
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, memory_bytes = 1920, operations = 16000, library = <channels_last = false, leaky_products = false, bf16 = true, f16 = true, tf32 = true, long_sum = 1048576>>} {
brew.program @register train {
  %x, %dy = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x64xf32>, tensor<512x32xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %k = linalg.index 1 : index
    %w = linalg.index 2 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %k, %two : index
    %at = arith.subi %q, %w : index
    %place = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %place] : tensor<512x32xf32>
    %s = arith.addf %o, %d fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<512x64xf32>, tensor<512x64xf32>) outs(%e : tensor<512x64xf32>) attrs = {brew.backward, brew.layer = "apply"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<512x64xf32>
  brew.keep data "dx", %dx : tensor<512x64xf32>
}
}

// -----

// Nor on a CPU, where operations take their time.
#id = affine_map<(n, k) -> (n, k)>
#element = affine_map<(n, k, w) -> (n, k)>
#window = affine_map<(n, k, w) -> (w)>
#column = affine_map<(n, k) -> (k)>
// CHECK-LABEL: brew.program @cpu
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["reduction", "parallel"]
brew.program @cpu train {
  %x, %dy = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<512x64xf32>, tensor<512x32xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  %loop = tensor.empty() : tensor<2xi8>
  %p = linalg.generic {indexing_maps = [#window, #element], iterator_types = ["parallel", "parallel", "reduction"]} ins(%loop : tensor<2xi8>) outs(%f : tensor<512x64xf32>) attrs = {brew.backward, brew.layer = "pool"} {
  ^bb0(%i: i8, %o: f32):
    %n = linalg.index 0 : index
    %k = linalg.index 1 : index
    %w = linalg.index 2 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %q = arith.divui %k, %two : index
    %at = arith.subi %q, %w : index
    %place = arith.maxsi %at, %none : index
    %d = tensor.extract %dy[%n, %place] : tensor<512x32xf32>
    %s = arith.addf %o, %d fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<512x64xf32>
  %se = tensor.empty() : tensor<64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #column], iterator_types = ["reduction", "parallel"]} ins(%p, %x : tensor<512x64xf32>, tensor<512x64xf32>) outs(%sf : tensor<64xf32>) attrs = {brew.backward, brew.layer = "sum"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  brew.keep data "sum", %sum : tensor<64xf32>
}
