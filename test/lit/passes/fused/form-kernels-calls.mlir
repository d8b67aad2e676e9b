// RUN: %brew-opt %s --brew-lower-to-nests --brew-form-kernels --brew-verify-fused --split-input-file | FileCheck %s

// A vendor call stays between kernels. The second one reads its result, so it cannot be added
// to the first, however little work there is.
// CHECK-LABEL: brew.program @call_between
brew.program @call_between test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  %v = brew.data_input "vin" "Input" {config = "", folder = "", tops = ["v"]} : tensor<6x6xf32>
  // CHECK: %[[A:.*]] = brew.kernel "a"
  // CHECK: %[[I:.*]] = brew.inner_product "ip"(%[[A]],
  // CHECK: brew.kernel "b"(%[[I]], %[[A]])
  %a = brew.relu "a"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %i = brew.inner_product "ip"(%a, %v) {num_output = 6 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
  %b = brew.eltwise "b"(%i, %a) {kind = #brew<eltwise_kind sum>, coeff = array<f32: 1.0, 1.0>, tops = ["b"]} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  brew.output %b "b" loss_weight 0.0 : tensor<2x6xf32>
}

// -----

// Siblings (both read x) share a kernel if nothing between them reads the first, which then
// moves after the call.
// CHECK-LABEL: brew.program @siblings
brew.program @siblings test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  %v = brew.data_input "vin" "Input" {config = "", folder = "", tops = ["v"]} : tensor<6x6xf32>
  // CHECK-NOT: brew.kernel
  // CHECK: brew.inner_product "ip"
  // CHECK-NEXT: brew.kernel "a_b"{{.*}} -> (tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK-NOT: brew.kernel
  // CHECK: brew.output
  %a = brew.relu "a"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %i = brew.inner_product "ip"(%x, %v) {num_output = 6 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
  %b = brew.eltwise "b"(%i, %x) {kind = #brew<eltwise_kind sum>, coeff = array<f32: 1.0, 1.0>, tops = ["b"]} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  brew.output %a "a" loss_weight 0.0 : tensor<2x6xf32>
  brew.output %b "b" loss_weight 0.0 : tensor<2x6xf32>
}

// -----

// Kernels of the forward and the backward pass of a net are marked as such.
// CHECK-LABEL: brew.program @backward
brew.program @backward train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  // CHECK: brew.kernel "s_backward"{{.*}}{backward, layers = ["s"]}
  %d = brew.softmax_backward "s"(%x, %x) {axis = 1 : i64, brew.backward} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  brew.pin diff "x", %d : tensor<2x6xf32>
}
