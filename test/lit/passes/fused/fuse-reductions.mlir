// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fuse-reductions --split-input-file --mlir-print-local-scope | FileCheck %s
// Freed memory is overwritten, to detect accesses to erased nests:
// RUN: env MALLOC_PERTURB_=165 %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fuse-reductions --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fuse-reductions --brew-split-reductions --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=SPLIT
// RUN: %brew-opt %s --brew-attach-target --brew-fuse-reductions --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=CPU

// A call reads the gradient, so it is stored: the reduction is fused, and the nest takes the
// loops of the reduction. Partial sums keep the stored tensor. On a CPU nothing changes.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#sum = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: brew.program @bias
// CHECK: %[[FUSED:.*]]:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d1, d2, d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<128x256x64xf32>)
// CHECK-SAME: brew.backward, brew.layer = "relu+conv"
// CHECK: %[[E:.*]] = arith.maximumf
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[E]]
// CHECK: linalg.yield %[[S]], %[[E]] : f32, f32
// CHECK: brew.inner_product "read"(%[[FUSED]]#1
// CHECK: brew.pin diff "b", %[[FUSED]]#0
// SPLIT-LABEL: brew.program @bias
// SPLIT: %[[P:.*]]:2 = linalg.generic
// SPLIT: } -> (tensor<128x64xf32>, tensor<128x256x64xf32>)
// SPLIT: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[P]]#0 :
// SPLIT: brew.inner_product "read"(%[[P]]#1
// SPLIT: brew.pin diff "b", %[[ALL]]
// CPU-LABEL: brew.program @bias
// CPU-COUNT-2: linalg.generic
// CPU: brew.pin
brew.program @bias train {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<128x256x64xf32>, tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<128x256x64xf32>) outs(%e : tensor<128x256x64xf32>) attrs = {brew.backward, brew.layer = "relu"} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<128x256x64xf32>
  %p = brew.inner_product "read"(%y, %w) {num_output = 8 : i64, axis = 2 : i64, tops = ["p"]} : (tensor<128x256x64xf32>, tensor<8x64xf32>) -> tensor<128x256x8xf32>
  brew.pin data "p", %p : tensor<128x256x8xf32>
  %f = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#rows, #sum], iterator_types = ["parallel", "reduction", "reduction"]} ins(%y : tensor<128x256x64xf32>) outs(%i : tensor<64xf32>) attrs = {brew.backward, brew.layer = "conv"} {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  brew.pin diff "b", %s : tensor<64xf32>
}

// -----

// Not applied if only nests read the value, because a kernel need not store it; nor if the nest
// shares a kernel with the producer of its input; nor if the reduction belongs to the other
// pass.
#id = affine_map<(d0, d1) -> (d0, d1)>
#turn = affine_map<(d0, d1) -> (d1, d0)>
#sum = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: brew.program @apart
// CHECK-NOT: :2 = linalg.generic
// CHECK: brew.pin diff "d"
brew.program @apart train {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<4096x64xf32>, tensor<8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %only = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) attrs = {brew.backward, brew.layer = "a"} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4096x64xf32>
  %s0 = linalg.generic {indexing_maps = [#turn, #sum], iterator_types = ["parallel", "reduction"]} ins(%only : tensor<4096x64xf32>) outs(%i : tensor<64xf32>) attrs = {brew.backward, brew.layer = "a"} {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  brew.pin diff "b", %s0 : tensor<64xf32>
  %with = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%only : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) attrs = {brew.backward, brew.layer = "b"} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4096x64xf32>
  %p = brew.inner_product "p"(%with, %w) {num_output = 8 : i64, axis = 1 : i64, tops = ["p"]} : (tensor<4096x64xf32>, tensor<8x64xf32>) -> tensor<4096x8xf32>
  brew.pin data "p", %p : tensor<4096x8xf32>
  %s1 = linalg.generic {indexing_maps = [#turn, #sum], iterator_types = ["parallel", "reduction"]} ins(%with : tensor<4096x64xf32>) outs(%i : tensor<64xf32>) attrs = {brew.backward, brew.layer = "b"} {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  brew.pin diff "c", %s1 : tensor<64xf32>
  %forward = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) attrs = {brew.layer = "c"} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4096x64xf32>
  %q = brew.inner_product "q"(%forward, %w) {num_output = 8 : i64, axis = 1 : i64, tops = ["q"]} : (tensor<4096x64xf32>, tensor<8x64xf32>) -> tensor<4096x8xf32>
  brew.pin data "q", %q : tensor<4096x8xf32>
  %s2 = linalg.generic {indexing_maps = [#turn, #sum], iterator_types = ["parallel", "reduction"]} ins(%forward : tensor<4096x64xf32>) outs(%i : tensor<64xf32>) attrs = {brew.backward, brew.layer = "c"} {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  brew.pin diff "d", %s2 : tensor<64xf32>
}
