// RUN: %brew-opt %s --brew-verify-graph --verify-diagnostics --split-input-file

brew.program @good train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
}

// -----

brew.program @unranked train {
  // expected-error @below {{phase graph: a value has no static shape}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
}

// -----

brew.program @dynamic train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{phase graph: a value has no static shape}}
  %y = brew.relu "r"(%x) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<?x3xf32>
}

// -----

// Values inside kernels are checked too.
brew.program @nested train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %c = arith.constant 2 : index
    // expected-error @below {{phase graph: a value has no static shape}}
    %e = tensor.empty(%c) : tensor<?xf32>
    brew.yield %a : tensor<2xf32>
  }
}

// -----

brew.program @split train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{phase graph: this layer should have been replaced}}
  %y = brew.split "s"(%x) {tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

brew.program @recurrent train {
  %x, %c, %w, %b, %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "c", "w", "b", "h"]} : tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<20x4xf32>, tensor<20xf32>, tensor<20x5xf32>
  // expected-error @below {{phase graph: this layer should have been replaced}}
  %y = brew.lstm "l"(%x, %c, %w, %b, %h) {num_output = 5 : i64, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<20x4xf32>, tensor<20xf32>, tensor<20x5xf32>) -> tensor<2x3x5xf32>
}

// -----

// A parameter that does not learn needs no gradient.
brew.param @fixed : tensor<2xf32> {layer = "b", index = 0 : i64, lr_mult = 0.0 : f32}
brew.param @learns : tensor<2xf32> {layer = "b", index = 1 : i64}
brew.program @forward_backward train differentiate {
  %f = brew.param_value @fixed : tensor<2xf32>
  // expected-error @below {{phase graph: parameter @learns is learnable but has no gradient}}
  %w = brew.param_value @learns : tensor<2xf32>
}

// -----

brew.param @w : tensor<2xf32> {layer = "b", index = 0 : i64}
brew.program @forward_backward train differentiate {
  // expected-error @below {{phase graph: parameter @w has a gradient but no update}}
  %w = brew.param_value @w : tensor<2xf32>
  brew.store_gradient %w, @w : tensor<2xf32>
}
brew.program @update train role update {
  %w = brew.param_value @w : tensor<2xf32>
}

// -----

brew.program @forward_backward train differentiate {
  // expected-error @below {{phase graph: there is no parameter @none}}
  %w = brew.param_value @none : tensor<2xf32>
}
