// RUN: %brew-opt %s --brew-elide-roundings | FileCheck %s

#id = affine_map<(i) -> (i)>

// A value that is rounded only to be widened again stays as it is.
// CHECK-LABEL: brew.program @inner
// CHECK: ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[IN]]
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[X]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[B]], %[[A]]
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[C]]
// CHECK-NEXT: linalg.yield %[[R]]
brew.program @inner train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8xbf16>
  %e = tensor.empty() : tensor<8xbf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xbf16>) outs(%e : tensor<8xbf16>) {
  ^bb0(%v: bf16, %o: bf16):
    %0 = arith.extf %v : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.addf %3, %0 : f32
    %5 = arith.truncf %4 : f32 to bf16
    %6 = arith.extf %5 : bf16 to f32
    %7 = arith.mulf %6, %3 : f32
    %8 = arith.truncf %7 : f32 to bf16
    linalg.yield %8 : bf16
  } -> tensor<8xbf16>
  brew.pin data "y", %y : tensor<8xbf16>
}

// A value outside the range of f16 must overflow.
// CHECK-LABEL: brew.program @overflow
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: arith.extf %[[R]]
brew.program @overflow train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = arith.truncf %v : f32 to f16
    %1 = arith.extf %0 : f16 to f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  brew.pin data "y", %y : tensor<8xf32>
}

// The nest reads the stored value like other readers; widening to another type than the
// original one does not undo the rounding.
// CHECK-LABEL: brew.program @stored
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: %[[W:.*]] = arith.extf %[[R]]
// CHECK: %[[T:.*]] = arith.truncf %[[W]] : f32 to f16
// CHECK: arith.extf %[[T]] : f16 to f64
brew.program @stored train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8xf32>
  %e = tensor.empty() : tensor<8xbf16>
  %f = tensor.empty() : tensor<8xf64>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e, %f : tensor<8xbf16>, tensor<8xf64>) {
  ^bb0(%v: f32, %o: bf16, %p: f64):
    %0 = arith.truncf %v : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.truncf %1 : f32 to f16
    %3 = arith.extf %2 : f16 to f64
    linalg.yield %0, %3 : bf16, f64
  } -> (tensor<8xbf16>, tensor<8xf64>)
  brew.pin data "y", %y#0 : tensor<8xbf16>
  brew.pin data "z", %y#1 : tensor<8xf64>
}

// A stored value has the sign of the exact one.
// CHECK-LABEL: brew.program @sign
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: bf16, %{{.*}}: i1):
// CHECK: arith.truncf %[[IN]]
// CHECK-NOT: arith.extf
// CHECK: arith.cmpf ogt, %[[IN]],
brew.program @sign train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8xf32>
  %e = tensor.empty() : tensor<8xbf16>
  %f = tensor.empty() : tensor<8xi1>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e, %f : tensor<8xbf16>, tensor<8xi1>) {
  ^bb0(%v: f32, %o: bf16, %p: i1):
    %zero = arith.constant 0.0 : f32
    %0 = arith.truncf %v : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.cmpf ogt, %1, %zero : f32
    linalg.yield %0, %2 : bf16, i1
  } -> (tensor<8xbf16>, tensor<8xi1>)
  brew.pin data "y", %y#0 : tensor<8xbf16>
}
