// RUN: %brew-opt %s --brew-fold-coefficients --split-input-file | FileCheck %s

#id = affine_map<(n, c) -> (n, c)>
#c = affine_map<(n, c) -> (c)>
#d = affine_map<(c) -> (c)>
#nc = affine_map<(c, n) -> (n, c)>
#cn = affine_map<(c, n) -> (c)>

// The first nest after the statistics computes the factor and the constant of each channel. The
// normalization and the reduction of its backward pass read them; the reduction still subtracts
// the mean, which it needs alone.
// CHECK-LABEL: brew.program @bf16
// CHECK: %[[IN:.*]]:4 = brew.data_input
// CHECK: %[[M:.*]]:2 = linalg.generic
// CHECK: %[[K:.*]]:2 = linalg.generic {{.*}} ins({{.*}}) outs({{.*}}) attrs = {brew.layer = "bn"}
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: linalg.generic {{.*}} ins(%[[IN]]#0, %[[K]]#[[A:.]], %[[K]]#[[B:.]] : {{.*}} attrs = {brew.layer = "relu"}
// CHECK-NEXT: ^bb0(%[[V:.*]]: bf16, %[[F:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[V]]
// CHECK: %[[P:.*]] = arith.mulf %[[W]], %[[F]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[C]]
// CHECK-NEXT: arith.maximumf %[[S]]
// CHECK-NEXT: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%[[IN]]#0, %[[K]]#[[A]], %[[K]]#[[B]], %[[M]]#0 : {{.*}} attrs = {brew.backward, brew.layer = "bn"}
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.select
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @bf16 train {
  %x, %s, %gamma, %beta = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "gamma", "beta"]} : tensor<256x8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %m:2 = linalg.generic {indexing_maps = [#d, #d, #d], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) attrs = {brew.layer = "bn"} {
  ^bb0(%v: f32, %o: f32, %p: f32):
    %0 = arith.mulf %v, %v fastmath<contract> : f32
    linalg.yield %v, %0 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %f = tensor.empty() : tensor<256x8xbf16>
  %y = linalg.generic {indexing_maps = [#id, #c, #c, #c, #c, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m#0, %m#1, %gamma, %beta : tensor<256x8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<256x8xbf16>) attrs = {brew.layer = "relu"} {
  ^bb0(%v: bf16, %mean: f32, %dev: f32, %g: f32, %b: f32, %o: bf16):
    %w = arith.extf %v : bf16 to f32
    %zero = arith.constant 0.0 : f32
    %0 = arith.subf %w, %mean fastmath<contract> : f32
    %1 = arith.mulf %0, %dev fastmath<contract> : f32
    %2 = arith.mulf %1, %g fastmath<contract> : f32
    %3 = arith.addf %2, %b fastmath<contract> : f32
    %unused = arith.mulf %1, %3 fastmath<contract> : f32
    %4 = arith.maximumf %3, %zero : f32
    %r = arith.truncf %4 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<256x8xbf16>
  brew.pin data "y", %y : tensor<256x8xbf16>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#nc, #cn, #cn, #cn, #cn, #cn], iterator_types = ["parallel", "reduction"]} ins(%x, %m#0, %m#1, %gamma, %beta : tensor<256x8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%zeros : tensor<8xf32>) attrs = {brew.backward, brew.layer = "bn"} {
  ^bb0(%v: bf16, %mean: f32, %dev: f32, %g: f32, %b: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %w = arith.extf %v : bf16 to f32
    %0 = arith.subf %w, %mean fastmath<contract> : f32
    %1 = arith.mulf %0, %dev fastmath<contract> : f32
    %2 = arith.mulf %g, %1 fastmath<contract> : f32
    %3 = arith.addf %b, %2 fastmath<contract> : f32
    %4 = arith.cmpf ogt, %3, %zero : f32
    %5 = arith.select %4, %0, %zero : f32
    %6 = arith.addf %o, %5 fastmath<reassoc,contract> : f32
    linalg.yield %6 : f32
  } -> tensor<8xf32>
  brew.pin data "sum", %sum : tensor<8xf32>
}
}

// -----

#id = affine_map<(n, c) -> (n, c)>
#c = affine_map<(n, c) -> (c)>
#d = affine_map<(c) -> (c)>

// The mean is subtracted from elements of full precision first.
// CHECK-LABEL: brew.program @f32
// CHECK-COUNT-2: linalg.generic
// CHECK: arith.subf
// CHECK-NOT: linalg.generic
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @f32 train {
  %x, %s, %gamma, %beta = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "gamma", "beta"]} : tensor<256x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %m:2 = linalg.generic {indexing_maps = [#d, #d, #d], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) attrs = {brew.layer = "bn"} {
  ^bb0(%v: f32, %o: f32, %p: f32):
    %0 = arith.mulf %v, %v fastmath<contract> : f32
    linalg.yield %v, %0 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %f = tensor.empty() : tensor<256x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #c, #c, #c, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m#0, %m#1, %gamma, %beta : tensor<256x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<256x8xf32>) attrs = {brew.layer = "relu"} {
  ^bb0(%v: f32, %mean: f32, %dev: f32, %g: f32, %b: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.subf %v, %mean fastmath<contract> : f32
    %1 = arith.mulf %0, %dev fastmath<contract> : f32
    %2 = arith.mulf %1, %g fastmath<contract> : f32
    %3 = arith.addf %2, %b fastmath<contract> : f32
    %unused = arith.mulf %1, %3 fastmath<contract> : f32
    %4 = arith.maximumf %3, %zero : f32
    linalg.yield %4 : f32
  } -> tensor<256x8xf32>
  brew.pin data "y", %y : tensor<256x8xf32>
}
}

// -----

#id = affine_map<(n, c) -> (n, c)>
#c = affine_map<(n, c) -> (c)>

// No nest computes one of the numbers: a further kernel would have to compute coefficients.
// CHECK-LABEL: brew.program @parameters
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @parameters train {
  %x, %g, %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "g", "h"]} : tensor<256x8xbf16>, tensor<8xf32>, tensor<8xf32>
  %f = tensor.empty() : tensor<256x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %g, %h : tensor<256x8xbf16>, tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<256x8xf32>) {
  ^bb0(%v: bf16, %a: f32, %b: f32, %o: f32):
    %w = arith.extf %v : bf16 to f32
    %0 = arith.mulf %w, %a fastmath<contract> : f32
    %1 = arith.mulf %0, %b fastmath<contract> : f32
    linalg.yield %1 : f32
  } -> tensor<256x8xf32>
  brew.pin data "y", %y : tensor<256x8xf32>
}
}
