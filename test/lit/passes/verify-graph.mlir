// RUN: %brew-opt %s --brew-verify-graph --verify-diagnostics --split-input-file

brew.program @good train {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
}

// -----

brew.program @unranked train {
  // expected-error @below {{phase graph: a value has no static shape}}
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
}

// -----

brew.program @dynamic train {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{phase graph: a value has no static shape}}
  %y = brew.relu "r"(%x) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<?x3xf32>
}

// -----

// Values inside kernels count as well.
brew.program @nested train {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %c = arith.constant 2 : index
    // expected-error @below {{phase graph: a value has no static shape}}
    %e = tensor.empty(%c) : tensor<?xf32>
    brew.yield %a : tensor<2xf32>
  }
}
