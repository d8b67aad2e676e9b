// RUN: %brew-opt %s --brew-verify-import --verify-diagnostics --split-input-file

// An import contains layers, data layers, parameter reads and sinks.
brew.param @b : tensor<*xf32> {layer = "b", index = 0 : i64}
brew.program @good train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
  %b = brew.param_value @b : tensor<*xf32>
  %y = brew.bias "b"(%x, %b) {axis = 1 : i64, num_axes = 1 : i64, tops = ["y"]} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<*xf32>
  brew.pin data "y", %y : tensor<*xf32>
}

// -----

brew.program @gradient train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
  // expected-error @below {{phase import: this operation is not a layer}}
  %d = brew.softmax_backward "s"(%x, %x) {axis = 1 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

// The operation belongs to a layer, but to its backward pass.
brew.program @backward train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
  // expected-error @below {{phase import: there are no gradients yet}}
  %y = brew.relu "r"(%x) {brew.backward, negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @b : tensor<*xf32> {layer = "b", index = 0 : i64}
brew.program @stored train {
  %b = brew.param_value @b : tensor<*xf32>
  // expected-error @below {{phase import: there are no gradients yet}}
  brew.store_gradient %b, @b : tensor<*xf32>
}

// -----

// Only data layers have shapes.
brew.program @shapes train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{phase import: shapes are not known yet}}
  %y = brew.relu "r"(%x) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// -----

brew.program @parameter train {
  // expected-error @below {{phase import: there is no parameter @b}}
  %b = brew.param_value @b : tensor<*xf32>
}

// -----

// expected-error @unknown {{phase import: this operation has no location in a prototxt}}
brew.program @place train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32> loc(unknown)
}

// -----

brew.program @constant train {
  // expected-error @below {{phase import: this operation is not a layer}}
  %x = arith.constant dense<0.0> : tensor<2xf32>
}
