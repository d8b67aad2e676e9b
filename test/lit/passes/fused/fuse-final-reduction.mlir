// RUN: %brew-opt %s --brew-fuse-final-reduction --mlir-print-local-scope | FileCheck %s
// Not applied on a CPU, which has no blocks, or if the second kernel takes more than max-cycles.
// RUN: %brew-opt %s --brew-attach-target --brew-fuse-final-reduction | FileCheck %s --check-prefix=NONE
// RUN: %brew-opt %s --brew-fuse-final-reduction=max-cycles=10 | FileCheck %s --check-prefix=NONE
// NONE-NOT: brew.last_block

#parts = affine_map<(i, c, r) -> (i, r, c)>
#part = affine_map<(i, c, r) -> (i, c)>
#in = affine_map<(c, i) -> (i, c)>
#out = affine_map<(c, i) -> (c)>
#id = affine_map<(c) -> (c)>

// Partial sums, their final reduction and the nests after it become one kernel. It is at the
// position of the first kernel, so that its inputs need not live longer; the partial sums stay a
// result. If the partial sums have another reader, or if the second kernel is too large for one
// block, the kernels stay separate.
// CHECK-LABEL: brew.program @sums
// CHECK: %[[K:.*]]:2 = brew.kernel "sum"(%{{.*}}#0, %{{.*}}#1) {backward, layers = ["sum", "mean"]} : (tensor<256x64x64xf32>, tensor<64xf32>) -> (tensor<256x64xf32>, tensor<64xf32>) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<256x64x64xf32>, %[[Y:.*]]: tensor<64xf32>):
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs({{.*}}) attrs = {brew.grid_loops = 2 : i64, brew.sub_kernel = 0 : i64} {
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]] : {{.*}}) outs({{.*}}) attrs = {brew.grid_loops = 1 : i64, brew.last_block, brew.sub_kernel = 1 : i64} {
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[Y]] : {{.*}}) outs({{.*}}) attrs = {brew.grid_loops = 1 : i64, brew.last_block, brew.sub_kernel = 1 : i64} {
// CHECK: brew.yield %[[P]], %[[M]]
// CHECK: brew.power "between"
// CHECK-NOT: brew.kernel
// CHECK: brew.pin data "m", %[[K]]#1
brew.program @sums train {
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<256x64x64xf32>, tensor<64xf32>
  %p = brew.kernel "part"(%x) {backward, layers = ["sum"]} : (tensor<256x64x64xf32>) -> tensor<256x64xf32> {
  ^bb0(%a: tensor<256x64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
    %s = linalg.generic {indexing_maps = [#parts, #part], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<256x64x64xf32>) outs(%f : tensor<256x64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<256x64xf32>
    brew.yield %s : tensor<256x64xf32>
  }
  %b = brew.power "between"(%y) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["b"]} : (tensor<64xf32>) -> tensor<64xf32>
  %m = brew.kernel "sum"(%p, %y) {backward, layers = ["sum", "mean"]} : (tensor<256x64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<256x64xf32>, %z: tensor<64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<256x64xf32>) outs(%f : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<64xf32>
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%s, %z : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %w: f32, %o: f32):
      %n = arith.addf %v, %w : f32
      linalg.yield %n : f32
    } -> tensor<64xf32>
    brew.yield %t : tensor<64xf32>
  }
  brew.pin data "b", %b : tensor<64xf32>
  brew.pin data "m", %m : tensor<64xf32>
}

// CHECK-LABEL: brew.program @kept
// CHECK-COUNT-2: brew.kernel
// CHECK: brew.pin data "p"
brew.program @kept train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<256x64x64xf32>
  %p = brew.kernel "part"(%x) : (tensor<256x64x64xf32>) -> tensor<256x64xf32> {
  ^bb0(%a: tensor<256x64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
    %s = linalg.generic {indexing_maps = [#parts, #part], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<256x64x64xf32>) outs(%f : tensor<256x64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<256x64xf32>
    brew.yield %s : tensor<256x64xf32>
  }
  %m = brew.kernel "sum"(%p) : (tensor<256x64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<256x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<256x64xf32>) outs(%f : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<64xf32>
    brew.yield %s : tensor<64xf32>
  }
  brew.pin data "p", %p : tensor<256x64xf32>
  brew.pin data "m", %m : tensor<64xf32>
}

// CHECK-LABEL: brew.program @long
// CHECK-COUNT-2: brew.kernel
// CHECK: brew.pin data "m"
brew.program @long train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<65536x64xf32>
  %p = brew.kernel "twice"(%x) : (tensor<65536x64xf32>) -> tensor<65536x64xf32> {
  ^bb0(%a: tensor<65536x64xf32>):
    %e = tensor.empty() : tensor<65536x64xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, c) -> (i, c)>, affine_map<(i, c) -> (i, c)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<65536x64xf32>) outs(%e : tensor<65536x64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %v, %v : f32
      linalg.yield %n : f32
    } -> tensor<65536x64xf32>
    brew.yield %s : tensor<65536x64xf32>
  }
  %m = brew.kernel "sum"(%p) : (tensor<65536x64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<65536x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<65536x64xf32>) outs(%f : tensor<64xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      %n = arith.addf %o, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    } -> tensor<64xf32>
    brew.yield %s : tensor<64xf32>
  }
  brew.pin data "m", %m : tensor<64xf32>
}
