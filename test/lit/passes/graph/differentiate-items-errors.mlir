// RUN: %brew-opt %s --brew-differentiate --verify-diagnostics --split-input-file

// The selector depends on a parameter, but Filter has no gradient for its selector.
brew.param @w.0 : tensor<4xf32> {layer = "w", index = 0 : i64}
brew.program @p train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %s = brew.param_value @w.0 : tensor<4xf32>
  // expected-error @below {{layer 'f': cannot backpropagate to its selector}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>, tensor<4xi32>)
  %r = brew.reduction "r"(%y) {axis = 0 : i64, coeff = 1.0 : f32, kind = #brew<reduction_kind sum>, loss_weights = array<f32: 1.0>, tops = ["r"]} : (tensor<4xf32>) -> tensor<f32>
}
