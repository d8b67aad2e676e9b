// RUN: %brew-opt %s --brew-fuse-launches --mlir-print-local-scope | FileCheck %s
// On a CPU the pass fuses nothing.
// RUN: %brew-opt %s --brew-attach-target --brew-fuse-launches | FileCheck %s --check-prefix=NONE
// NONE-NOT: brew.stage

#in = affine_map<(c, i) -> (i, c)>
#out = affine_map<(c, i) -> (c)>
#all = affine_map<(i, c) -> (i, c)>
#row = affine_map<(i, c) -> (c)>

// A sum and its reader become stages of one kernel. An operation between them that depends on
// the first kernel moves after it; the sum stays a result.
// CHECK-LABEL: brew.program @neighbours
// CHECK: %[[K:.*]]:2 = brew.kernel "apply"(%[[X:.*]]) {layers = ["sum", "apply"]} : (tensor<256x64xf32>) -> (tensor<64xf32>, tensor<256x64xf32>) {
// CHECK: %[[S:.*]] = linalg.generic {{.*}} attrs = {brew.grid_loops = 1 : i64, brew.sub_kernel = 0 : i64} {
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[S]] : {{.*}}) {{.*}} attrs = {brew.grid_loops = 2 : i64, brew.stage = 1 : i64, brew.sub_kernel = 1 : i64} {
// CHECK: brew.yield %[[S]], %{{.*}} : tensor<64xf32>, tensor<256x64xf32>
// CHECK: brew.reinterpret %[[K]]#0
// CHECK-NOT: brew.kernel
// CHECK: brew.pin data "y", %[[K]]#1
brew.program @neighbours train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<256x64xf32>
  %s = brew.kernel "sum"(%x) {layers = ["sum"]} : (tensor<256x64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<256x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<256x64xf32>) outs(%f : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<64xf32>
    brew.yield %r : tensor<64xf32>
  }
  %w = brew.reinterpret %s : tensor<64xf32> -> tensor<8x8xf32>
  %y = brew.kernel "apply"(%x, %s) {layers = ["apply"]} : (tensor<256x64xf32>, tensor<64xf32>) -> tensor<256x64xf32> {
  ^bb0(%a: tensor<256x64xf32>, %b: tensor<64xf32>):
    %e = tensor.empty() : tensor<256x64xf32>
    %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<256x64xf32>, tensor<64xf32>) outs(%e : tensor<256x64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %t: f32, %o: f32):
      %n = arith.subf %v, %t : f32
      linalg.yield %n : f32
    } -> tensor<256x64xf32>
    brew.yield %r : tensor<256x64xf32>
  }
  brew.pin data "s", %w : tensor<8x8xf32>
  brew.pin data "y", %y : tensor<256x64xf32>
}

// The second kernel reads the sum through a view, so the kernels are not fused.
// CHECK-LABEL: brew.program @through_a_view
// CHECK: brew.kernel "sum"
// CHECK: brew.kernel "apply"
brew.program @through_a_view train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64xf32>
  %s = brew.kernel "sum"(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<64xf32>
    brew.yield %r : tensor<64xf32>
  }
  %w = brew.reinterpret %s : tensor<64xf32> -> tensor<8x8xf32>
  %y = brew.kernel "apply"(%w) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %e = tensor.empty() : tensor<8x8xf32>
    %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<8x8xf32>
    brew.yield %r : tensor<8x8xf32>
  }
  brew.pin data "y", %y : tensor<8x8xf32>
}

// The second kernel can reuse memory that only the first one reads. One fused kernel would need
// more memory, so the kernels are not fused.
// CHECK-LABEL: brew.program @memory
// CHECK: brew.kernel "first"
// CHECK: brew.kernel "second"
brew.program @memory train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1024xf32>
  %s = brew.kernel "first"(%x) : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %e = tensor.empty() : tensor<1024xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1023 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<1024xf32>) outs(%e : tensor<1024xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<1024xf32>
    brew.yield %r : tensor<1024xf32>
  }
  %y = brew.kernel "second"(%s) : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %e = tensor.empty() : tensor<1024xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1023 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<1024xf32>) outs(%e : tensor<1024xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<1024xf32>
    brew.yield %r : tensor<1024xf32>
  }
  brew.pin data "y", %y : tensor<1024xf32>
}

// A kernel of the forward pass is not fused with one of the backward pass.
// CHECK-LABEL: brew.program @passes
// CHECK: brew.kernel "forward"
// CHECK: brew.kernel "backward"
brew.program @passes train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64xf32>
  %s = brew.kernel "forward"(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<64xf32>
    brew.yield %r : tensor<64xf32>
  }
  %y = brew.kernel "backward"(%s) {backward} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<64xf32>
    brew.yield %r : tensor<64xf32>
  }
  brew.pin data "s", %s : tensor<64xf32>
  brew.pin data "y", %y : tensor<64xf32>
}
