// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.param @p : tensor<*xf32> {layer = "p", index = 0 : i64}
brew.program @prelu test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %p = brew.param_value @p : tensor<*xf32>
  // expected-error @below {{layer 'p': PReLU needs a bottom of at least 2 dimensions (N, C, ...), not 1}}
  %y = brew.prelu "p"(%x, %p) {tops = ["y"]} : (tensor<2xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @p : tensor<*xf32> {layer = "s", index = 0 : i64}
brew.program @axis test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %p = brew.param_value @p : tensor<*xf32>
  // expected-error @below {{layer 's': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.scale "s"(%x, %p) {axis = 2 : i64, num_axes = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @p : tensor<*xf32> {layer = "s", index = 0 : i64}
brew.program @num_axes test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %p = brew.param_value @p : tensor<*xf32>
  // expected-error @below {{layer 's': num_axes 2 from axis 1 reaches beyond the bottom's 2 dimensions}}
  %y = brew.scale "s"(%x, %p) {axis = 1 : i64, num_axes = 2 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @second_bottom test {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<2x3xf32>, tensor<2xf32>
  // expected-error @below {{layer 's': the second bottom's shape does not match the first's from axis 1 on}}
  %y = brew.scale "s"(%x, %s) {axis = 1 : i64, num_axes = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xf32>
}
