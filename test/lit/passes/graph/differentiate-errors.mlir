// RUN: %brew-opt %s --brew-differentiate --verify-diagnostics --split-input-file

// A parameter below the labels would need their gradient, which does not exist.
brew.param @p : tensor<2xf32> {layer = "bias", index = 0 : i64}
brew.program @labels train differentiate {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<2xf32>
  %p = brew.param_value @p : tensor<2xf32>
  %b = brew.bias "bias"(%l, %p) {axis = 0 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error @below {{layer 'loss': cannot backpropagate to label inputs}}
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %b) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>)
}

// -----

// propagate_down: false for the labels avoids the error.
brew.param @p : tensor<2xf32> {layer = "bias", index = 0 : i64}
brew.program @cut train differentiate {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<2xf32>
  %p = brew.param_value @p : tensor<2xf32>
  %b = brew.bias "bias"(%l, %p) {axis = 0 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %b) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, propagate_down = array<i1: true, false>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>)
}

// -----

// Threshold is discontinuous, and Caffe has no gradient for it either.
brew.param @p : tensor<2xf32> {layer = "bias", index = 0 : i64}
brew.program @threshold train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %p = brew.param_value @p : tensor<2xf32>
  %b = brew.bias "bias"(%x, %p) {axis = 0 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error @below {{layer 't': Threshold has no gradient, but a parameter before it needs one}}
  %t = brew.threshold "t"(%b) {threshold = 0.0 : f32, loss_weights = array<f32: 1.0>, tops = ["t"]} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

// Labels through which nothing is learned (ArgMax is blocked) need no gradient.
brew.param @p : tensor<3xf32> {layer = "bias", index = 0 : i64}
brew.program @blocked_labels train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %p = brew.param_value @p : tensor<3xf32>
  %b = brew.bias "bias"(%x, %p) {axis = 1 : i64, num_axes = 1 : i64, tops = ["b"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %l = brew.threshold "t"(%b) {threshold = 0.0 : f32, propagate_down = array<i1: false>, tops = ["l"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = brew.reduction "r"(%l) {kind = #brew<reduction_kind sum>, axis = 1 : i64, coeff = 0.5 : f32, tops = ["n"]} : (tensor<2x3xf32>) -> tensor<2xf32>
  %loss, %prob, %count, %status = brew.softmax_loss "loss"(%b, %n) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>, tensor<i32>)
}
