// RUN: %brew-opt %s --brew-fold-casts --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// An elementwise nest reads and writes narrow tensors itself.
// CHECK-LABEL: brew.program @elementwise
brew.program @elementwise test {
  // CHECK: %[[X:.*]] = brew.fill 1.000000e+00 : tensor<2x4xbf16>
  %x = brew.fill 1.0 : tensor<2x4xbf16>
  %w = brew.cast "a"(%x) : (tensor<2x4xbf16>) -> tensor<2x4xf32>
  // CHECK-NOT: brew.cast
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<2x4xbf16>
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x4xbf16>) outs(%[[E]] : tensor<2x4xbf16>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
  // CHECK-NEXT: %[[A:.*]] = arith.extf %[[IN]] : bf16 to f32
  // CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[A]] : f32
  // CHECK-NEXT: %[[C:.*]] = arith.truncf %[[B]] : f32 to bf16
  // CHECK-NEXT: linalg.yield %[[C]] : bf16
  %e = tensor.empty() : tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %n = brew.cast "b"(%y) : (tensor<2x4xf32>) -> tensor<2x4xbf16>
  // CHECK-NEXT: } -> tensor<2x4xbf16>
  // CHECK-NEXT: brew.pin data "y", %[[Y]] : tensor<2x4xbf16>
  brew.pin data "y", %n : tensor<2x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A reduction accumulates in f32; the rounding follows in a separate nest, named after its
// layer. Extracted elements are widened where they are extracted.
// CHECK-LABEL: brew.program @reduction
brew.program @reduction test {
  // CHECK: %[[X:.*]] = brew.fill 1.000000e+00 : tensor<2x4xf16>
  %x = brew.fill 1.0 : tensor<2x4xf16>
  %w = brew.cast "a"(%x) : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x4xf16>) outs(%{{.*}} : tensor<2xf32>)
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: %[[PICKED:.*]] = tensor.extract %[[X]][%{{.*}}, %{{.*}}] : tensor<2x4xf16>
  // CHECK-NEXT: arith.extf %[[PICKED]] : f16 to f32
  // CHECK: } -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%w : tensor<2x4xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.constant 0 : index
    %p = tensor.extract %w[%i, %c] : tensor<2x4xf32>
    %s = arith.addf %in, %out : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<2xf32>) {{.*}}brew.backward, brew.layer = "ip"
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %n = brew.cast "ip"(%sum) {brew.backward} : (tensor<2xf32>) -> tensor<2xf16>
  // CHECK: brew.pin data "y", %[[Y]] : tensor<2xf16>
  brew.pin data "y", %n : tensor<2xf16>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A cast to f32 and back is removed. A cast that a call or a sink reads becomes a nest. A nest
// with another f32 reader keeps its result.
// CHECK-LABEL: brew.program @others
brew.program @others test {
  // CHECK: %[[X:.*]] = brew.param_value @ip.1 : tensor<4xbf16>
  %x = brew.param_value @ip.1 : tensor<4xbf16>
  %w = brew.cast "a"(%x) : (tensor<4xbf16>) -> tensor<4xf32>
  %back = brew.cast "a"(%w) : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xbf16>) {{.*}}brew.layer = "a"
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xbf16>) outs(%{{.*}} : tensor<4xf32>)
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  // CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xbf16>)
  %n = brew.cast "b"(%y) : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: brew.pin data "w", %[[W]] : tensor<4xf32>
  // CHECK-NEXT: brew.pin data "back", %[[X]] : tensor<4xbf16>
  // CHECK-NEXT: brew.pin data "y", %[[Y]] : tensor<4xf32>
  // CHECK-NEXT: brew.pin data "n", %[[N]] : tensor<4xbf16>
  brew.pin data "w", %w : tensor<4xf32>
  brew.pin data "back", %back : tensor<4xbf16>
  brew.pin data "y", %y : tensor<4xf32>
  brew.pin data "n", %n : tensor<4xbf16>
}
