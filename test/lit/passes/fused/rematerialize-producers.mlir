// RUN: %brew-opt %s --brew-rematerialize-producers --split-input-file | FileCheck %s

#x = affine_map<(n, c, k) -> (n, c, k)>
#channel = affine_map<(n, c, k) -> (c)>

// A normalized blob is not stored: its readers, also in the backward pass, read the bottom
// instead. The nest of the scale is then marked with both layers, the sum is not.
// CHECK-LABEL: brew.program @normalised
// CHECK: %[[X:.*]]:3 = brew.data_input
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1, %[[X]]#2 : {{.*}} attrs = {brew.layer = "bn+scale"}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[M:.*]]: f32, %[[G:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[A]], %[[M]]
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[D]], %[[G]]
// CHECK-NEXT: linalg.yield %[[R]]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1 : {{.*}} attrs = {brew.backward, brew.layer = "scale"}
// CHECK: arith.subf
// CHECK: arith.addf
// CHECK: brew.pin data "y", %[[Y]]
// CHECK: brew.pin data "s", %[[S]]
brew.program @normalised train {
  %x, %mean, %gamma = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "m", "g"]} : tensor<16x4x64xf32>, tensor<4xf32>, tensor<4xf32>
  %e = tensor.empty() : tensor<16x4x64xf32>
  %xhat = linalg.generic {indexing_maps = [#x, #channel, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<16x4x64xf32>, tensor<4xf32>) outs(%e : tensor<16x4x64xf32>) attrs = {brew.layer = "bn"} {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<16x4x64xf32>
  %y = linalg.generic {indexing_maps = [#x, #channel, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%xhat, %gamma : tensor<16x4x64xf32>, tensor<4xf32>) outs(%e : tensor<16x4x64xf32>) attrs = {brew.layer = "scale"} {
  ^bb0(%a: f32, %g: f32, %o: f32):
    %r = arith.mulf %a, %g : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<4xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%xhat : tensor<16x4x64xf32>) outs(%sf : tensor<4xf32>) attrs = {brew.backward, brew.layer = "scale"} {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "y", %y : tensor<16x4x64xf32>
  brew.pin data "s", %s : tensor<4xf32>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>

// If something else needs a value stored, nests read the stored value. A nest that already reads
// all inputs of the value recomputes it.
// CHECK-LABEL: brew.program @stored
// CHECK: %[[X:.*]]:2 = brew.data_input
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]]#0 :
// CHECK: brew.pin data "y", %[[Y]]
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[X]]#1 :
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[X]]#0 :
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[V]]
// CHECK-NEXT: arith.addf %[[N]], %[[V]]
// CHECK: brew.pin data "a", %[[A]]
brew.program @stored train {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<16x4x64xf32>, tensor<16x4x64xf32>
  %e = tensor.empty() : tensor<16x4x64xf32>
  %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.negf %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  brew.pin data "y", %y : tensor<16x4x64xf32>
  %a = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %z : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.mulf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %b = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %x : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.addf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  brew.pin data "a", %a : tensor<16x4x64xf32>
  brew.pin data "b", %b : tensor<16x4x64xf32>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>

// An exponential per reader costs more than memory, and so do two tensors instead of one for
// each of three readers.
// CHECK-LABEL: brew.program @dear
// CHECK: %[[X:.*]]:2 = brew.data_input
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]]#0 :
// CHECK: math.exp
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1 :
// CHECK: arith.mulf
// CHECK-COUNT-2: linalg.generic {{.*}} ins(%[[E]] :
// CHECK-COUNT-3: linalg.generic {{.*}} ins(%[[S]] :
brew.program @dear train {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<16x4x64xf32>, tensor<16x4x64xf32>
  %e = tensor.empty() : tensor<16x4x64xf32>
  %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %s = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %z : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.mulf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %a = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.negf %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %b = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.sqrt %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %c = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %d = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.sqrt %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  %f = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.sin %v : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  brew.pin data "a", %a : tensor<16x4x64xf32>
  brew.pin data "b", %b : tensor<16x4x64xf32>
  brew.pin data "c", %c : tensor<16x4x64xf32>
  brew.pin data "d", %d : tensor<16x4x64xf32>
  brew.pin data "f", %f : tensor<16x4x64xf32>
}

// -----

// On a GPU the sum extracts the elements of %first itself, which saves a launch. On a CPU a launch
// costs nothing.
#x = affine_map<(c, k) -> (c, k)>
#channel = affine_map<(c, k) -> (c)>
#one = affine_map<(c) -> (c)>
// CHECK-LABEL: module attributes {target.machine = #target.gpu
// CHECK: brew.program @probe
// CHECK: %[[X:.*]] = brew.data_input
// CHECK-NOT: linalg.generic {{.*}} ["parallel"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[X]] :
// CHECK: %[[C:.*]] = linalg.index 0
// CHECK: tensor.extract %[[X]][%[[C]],
module attributes {target.machine = #target.gpu<arch = "sm_90", multiprocessors = 132, threads = 2048, block_threads = 1024, shared_bytes = 49152, cache_bytes = 262144, bytes_per_cycle = 1920, ops_per_cycle = 16000, library = <channels_last = false, fused_leaky_relu = false, bf16 = true, f16 = true, tf32 = true, f32_weight_gradients = false, slow_bias_elements = 1048576>>} {
brew.program @probe train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x4096xf32>
  %e = tensor.empty() : tensor<4xf32>
  %first = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %zero = arith.constant 0 : index
    %c = linalg.index 0 : index
    %v = tensor.extract %x[%c, %zero] : tensor<4x4096xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %none = arith.constant 0.0 : f32
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#x, #channel, #channel], iterator_types = ["parallel", "reduction"]} ins(%x, %first : tensor<4x4096xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%v: f32, %p: f32, %o: f32):
    %d = arith.subf %v, %p : f32
    %n = arith.addf %o, %d fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "s", %s : tensor<4xf32>
}
}

// -----

#x = affine_map<(c, k) -> (c, k)>
#channel = affine_map<(c, k) -> (c)>

// A maximum whose only operand is a computed value: no other operand determines the extent of
// its loop, so it stays a separate nest.
// CHECK-LABEL: brew.program @extent
// CHECK: %[[V:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[V]] : tensor<4x64xf32>) outs(%{{.*}} : tensor<4xf32>)
brew.program @extent train {
  %e = tensor.empty() : tensor<4x64xf32>
  %v = linalg.generic {indexing_maps = [#x], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x64xf32>) {
  ^bb0(%o: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.negf %one : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %none = arith.constant 0.0 : f32
  %ce = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%none : f32) outs(%ce : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["parallel", "reduction"]} ins(%v : tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.maximumf %o, %a : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "m", %m : tensor<4xf32>
}

// -----

#y = affine_map<(n, c, h, w) -> (n, c, h, w)>
#yc = affine_map<(n, c, h, w) -> (c)>

// A masked gradient that a call reads is stored by the last nest that reads it before the call;
// the sum before that recomputes it. Bits are cheap to read.
// CHECK-LABEL: brew.program @storedByAReader
// CHECK: %[[X:.*]]:4 = brew.data_input
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1, %[[X]]#2 :
// CHECK: arith.select
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[BOTH:.*]]:2 = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1, %[[X]]#2, %[[S]] : {{.*}} outs({{.*}} : tensor<16x4x8x8xf32>, tensor<16x4x8x8xf32>) attrs = {brew.backward, brew.layer = "relu+bn"}
// CHECK: arith.select
// CHECK: brew.convolution_backward_data "conv"(%[[BOTH]]#1, %{{.*}}, %[[BOTH]]#0)
brew.program @storedByAReader train {
  %g, %bits, %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["g", "b", "x", "w"]} : tensor<16x4x8x8xf32>, tensor<16x4x8x8xi1>, tensor<16x4x8x8xf32>, tensor<4x4x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4x8x8xf32>
  %masked = linalg.generic {indexing_maps = [#y, #y, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%g, %bits : tensor<16x4x8x8xf32>, tensor<16x4x8x8xi1>) outs(%e : tensor<16x4x8x8xf32>) attrs = {brew.backward, brew.layer = "relu"} {
  ^bb0(%a: f32, %p: i1, %o: f32):
    %s = arith.select %p, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x4x8x8xf32>
  %se = tensor.empty() : tensor<4xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#y, #y, #yc], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%masked, %x : tensor<16x4x8x8xf32>, tensor<16x4x8x8xf32>) outs(%sf : tensor<4xf32>) attrs = {brew.backward, brew.layer = "bn"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  %dx = linalg.generic {indexing_maps = [#y, #y, #yc, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%masked, %x, %sum : tensor<16x4x8x8xf32>, tensor<16x4x8x8xf32>, tensor<4xf32>) outs(%e : tensor<16x4x8x8xf32>) attrs = {brew.backward, brew.layer = "bn"} {
  ^bb0(%a: f32, %b: f32, %s: f32, %o: f32):
    %m = arith.mulf %b, %s : f32
    %r = arith.subf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x4x8x8xf32>
  %dg = brew.convolution_backward_data "conv"(%dx, %w, %masked) {group = 1 : i64, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<16x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<16x4x8x8xf32>) -> tensor<16x4x8x8xf32>
  brew.pin data "dg", %dg : tensor<16x4x8x8xf32>
}
