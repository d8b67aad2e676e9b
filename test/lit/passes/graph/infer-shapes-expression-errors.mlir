// RUN: %brew-opt %s --brew-infer-shapes --split-input-file --verify-diagnostics

brew.program @main test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<3xf32>
  // expected-error@+1 {{layer 'e': bottom 'z' has shape (3), which does not match the leading dimensions of bottom 'x', (2, 3)}}
  %y = brew.expression "e"(%x, %z) {expr = "x + z", names = ["x", "z"], axes = array<i64>, tops = ["y"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
}

// -----

brew.param @e.0 : tensor<*xf32> {layer = "e", index = 0 : i64}
brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %p = brew.param_value @e.0 : tensor<*xf32>
  // expected-error@+1 {{layer 'e': param(0) is a vector along axis 2, but the top has 2 dimensions}}
  %y = brew.expression "e"(%x, %p) {expr = "x + param(0)", names = ["x"], axes = array<i64: 2>, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}
