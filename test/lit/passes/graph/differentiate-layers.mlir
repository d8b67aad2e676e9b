// RUN: %brew-opt %s --brew-pin-blobs='blobs=all' --brew-differentiate='pin=all' --split-input-file --mlir-print-local-scope | FileCheck %s

// The backward pass of a layer's program starts from the gradients of its tops, which the caller
// may read again. A bottom gets a gradient if it is marked.
brew.param @ip.0 : tensor<3x4xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @"layer:ip"
brew.program @"layer:ip" train differentiate attributes {brew.layer_program} {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "x" "Input" {brew.gradient, config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.param_value @ip.0 : tensor<3x4xf32>
  %y = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // CHECK: %[[DY:.*]] = brew.output_gradient "y"
  // CHECK: %[[DW:.*]] = brew.inner_product_backward_weights "ip"(%[[X]], %[[DY]])
  // CHECK: %[[DX:.*]] = brew.inner_product_backward_data "ip"(%[[DY]],
  // CHECK: brew.store_gradient %[[DW]], @ip.0
  // CHECK: brew.pin diff "x", %[[DX]]
  // CHECK: brew.pin diff "y", %[[DY]]
}

// -----

// The labels get no gradient, and none is pinned.
// CHECK-LABEL: brew.program @"layer:loss"
brew.program @"layer:loss" train differentiate attributes {brew.layer_program} {
  %x = brew.data_input "x" "Input" {brew.gradient, config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %l = brew.data_input "l" "Input" {config = "", folder = "", tops = ["l"]} : tensor<2xf32>
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["loss", "prob"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>)
  // CHECK: %[[DLOSS:.*]] = brew.output_gradient "loss"
  // CHECK: %[[DX:.*]] = brew.softmax_loss_backward "loss"({{.*}}, %[[DLOSS]])
  // CHECK-NEXT: brew.pin diff "x", %[[DX]]
  // CHECK-NEXT: brew.pin diff "loss", %[[DLOSS]]
  // CHECK-NOT: brew.pin diff "l"
}

// -----

// A layer that cannot be differentiated has a forward pass only.
// CHECK-LABEL: brew.program @"layer:a" train attributes {
// CHECK-SAME: brew.no_backward = "layer 'a': ArgMax has no gradient
brew.program @"layer:a" train differentiate attributes {brew.layer_program} {
  %x = brew.data_input "x" "Input" {brew.gradient, config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %y = brew.argmax "a"(%x) {out_max_val = false, top_k = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<2x1x1xf32>
  // CHECK-NOT: brew.output_gradient
  // CHECK-NOT: brew.pin diff
}
