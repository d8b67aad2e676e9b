// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-form-kernels --brew-verify-fused --mlir-print-local-scope | FileCheck %s

// Values that the caller reads before it writes the output gradient are computed before it,
// although all work is small enough for one kernel; other values may come later.
// CHECK-LABEL: brew.program @main
brew.program @main train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %h = brew.power "hidden"(%x) {power = 2.0 : f32, scale = 1.0 : f32, shift = 0.0 : f32, tops = ["h"]} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[Y:.*]] = brew.kernel "hidden_y"
  %y = brew.power "y"(%h) {power = 1.0 : f32, scale = 3.0 : f32, shift = 0.0 : f32, tops = ["y"]} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: brew.output %[[Y]] "y"
  brew.output %y "y" loss_weight 0.0 : tensor<4xf32>
  // CHECK-NEXT: %[[SEED:.*]] = brew.output_gradient "y"
  %seed = brew.output_gradient "y" {brew.backward} : tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = brew.kernel "d{{.*}}"(%{{.*}})
  %d = brew.eltwise "d"(%seed, %y) {brew.backward, kind = #brew<eltwise_kind prod>, coeff = array<f32>, tops = ["d"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: brew.pin diff "y", %[[D]]
  brew.pin diff "y", %d : tensor<4xf32>
}
