// RUN: %brew-opt %s --brew-pin-blobs='output-gradients=y' --brew-differentiate='output-gradients=y' --verify-diagnostics --split-input-file

// A data layer has no learnable parameter below it.
brew.program @data train differentiate {
  // expected-error @below {{--output-gradient: no learnable parameter gets a gradient through blob 'y'}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y"]} : tensor<2x4xf32>
}

// -----

// There is a parameter, but propagate_down blocks its gradient.
brew.param @ip.0 : tensor<3x4xf32> {layer = "ip", index = 0 : i64}
brew.program @blocked train differentiate {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.param_value @ip.0 : tensor<3x4xf32>
  %i = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-error @below {{--output-gradient: no learnable parameter gets a gradient through blob 'y'}}
  %r = brew.relu "relu"(%i) {negative_slope = 0.0 : f32, propagate_down = array<i1: false>, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// -----

// expected-error @unknown {{--output-gradient: the net that learns has no blob 'y'; did you mean 'y1'?}}
module {
  brew.program @forward_backward train differentiate {
    %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y1"]} : tensor<2x4xf32>
  }
  brew.program @test_0 test {
    %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y"]} : tensor<2x4xf32>
  }
}

// -----

// A blob of integers has no gradient.
brew.program @integers train differentiate {
  // expected-error @below {{--output-gradient: blob 'y' has an integer type, which has no gradient}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y"]} : tensor<2xi32>
}

// -----

// The number of the blob's items is only known at run time.
brew.program @counted train differentiate {
  %x, %n = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y", "n"]} : tensor<2x4xf32>, tensor<i32>
  // expected-error @below {{--output-gradient: the number of items of blob 'y' is only known at run time; reduce it first}}
  brew.pin "count" "y", %n : tensor<i32>
}
