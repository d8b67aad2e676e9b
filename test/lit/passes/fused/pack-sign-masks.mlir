// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-pack-sign-masks --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-pack-sign-masks --split-input-file | FileCheck %s --check-prefix=CPU

#x = affine_map<(n, c, k) -> (n, c, k)>

// A value that the backward pass only compares with zero becomes a bit, computed from the
// stored value.
// CHECK-LABEL: brew.program @mask
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} outs({{.*}} : tensor<16x4x64xbf16>, tensor<16x4x64xi1>)
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: %[[W:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK: %[[S:.*]] = arith.cmpf ogt, %[[W]]
// CHECK: linalg.yield %[[R]], %[[S]] : bf16, i1
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[Y]]#1 : tensor<16x4x64xbf16>, tensor<16x4x64xi1>)
// CHECK-NEXT: ^bb0(%[[D:.*]]: bf16, %[[P:.*]]: i1, %{{.*}}: bf16):
// CHECK-NOT: arith.cmpf
// CHECK: arith.select %[[P]],
// CHECK: brew.pin data "y", %[[Y]]#0
// CPU-LABEL: brew.program @mask
// CPU-NOT: xi1
brew.program @mask train {
  %x, %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "dy"]} : tensor<16x4x64xbf16>, tensor<16x4x64xbf16>
  %e = tensor.empty() : tensor<16x4x64xbf16>
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<16x4x64xbf16>) outs(%e : tensor<16x4x64xbf16>) attrs = {brew.layer = "relu"} {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %m = arith.maximumf %w, %zero : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<16x4x64xbf16>
  %dx = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dy, %y : tensor<16x4x64xbf16>, tensor<16x4x64xbf16>) outs(%e : tensor<16x4x64xbf16>) attrs = {brew.backward, brew.layer = "relu"} {
  ^bb0(%d: bf16, %a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %p = arith.cmpf ogt, %w, %zero : f32
    %dw = arith.extf %d : bf16 to f32
    %s = arith.select %p, %dw, %zero : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<16x4x64xbf16>
  brew.pin data "y", %y : tensor<16x4x64xbf16>
  brew.pin data "dx", %dx : tensor<16x4x64xbf16>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>

// Not applied if a reader needs the value, nor to small values, rows that are not full bytes,
// and readers of the same pass.
// CHECK-LABEL: brew.program @others
// CHECK-NOT: xi1
brew.program @others train {
  %x, %small, %odd = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "o"]} : tensor<16x4x64xf32>, tensor<1x2x8xf32>, tensor<16x4x65xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4x64xf32>
  %es = tensor.empty() : tensor<1x2x8xf32>
  %eo = tensor.empty() : tensor<16x4x65xf32>
  %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) attrs = {brew.layer = "relu"} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<16x4x64xf32>
  %used = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) attrs = {brew.backward, brew.layer = "relu"} {
  ^bb0(%a: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %s = arith.select %p, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x4x64xf32>
  %same = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %x : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%e : tensor<16x4x64xf32>) attrs = {brew.layer = "other"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %s = arith.select %p, %b, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x4x64xf32>
  %ys = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%small : tensor<1x2x8xf32>) outs(%es : tensor<1x2x8xf32>) attrs = {brew.layer = "small"} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x2x8xf32>
  %ds = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ys, %small : tensor<1x2x8xf32>, tensor<1x2x8xf32>) outs(%es : tensor<1x2x8xf32>) attrs = {brew.backward, brew.layer = "small"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %s = arith.select %p, %b, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x2x8xf32>
  %yo = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%odd : tensor<16x4x65xf32>) outs(%eo : tensor<16x4x65xf32>) attrs = {brew.layer = "odd"} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<16x4x65xf32>
  %do = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%yo, %odd : tensor<16x4x65xf32>, tensor<16x4x65xf32>) outs(%eo : tensor<16x4x65xf32>) attrs = {brew.backward, brew.layer = "odd"} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %s = arith.select %p, %b, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x4x65xf32>
  brew.pin data "used", %used : tensor<16x4x64xf32>
  brew.pin data "same", %same : tensor<16x4x64xf32>
  brew.pin data "ds", %ds : tensor<1x2x8xf32>
  brew.pin data "do", %do : tensor<16x4x65xf32>
}

// -----

// An update of no parameters is empty.
// CHECK-LABEL: brew.program @update
// CHECK-NEXT: }
brew.program @update train role update {
}
