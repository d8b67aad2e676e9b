// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4x3xf32>
  // expected-error @below {{layer 'f': the selector has shape (4, 3); it needs one element for each item: all its dimensions but the first must be 1}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xi32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<f32>
  // expected-error @below {{layer 'f': the selector has shape (); it needs one element for each item}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<f32>) -> (tensor<*xf32>, tensor<*xi32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %z, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "s"]} : tensor<4x3xf32>, tensor<5x3xf32>, tensor<4x1x1xf32>
  // expected-error @below {{layer 'f': bottom 1 has shape (5, 3), but the selector has 4 items}}
  %y:2, %c, %p = brew.filter "f"(%x, %z, %s) {tops = ["y", "w"]} : (tensor<4x3xf32>, tensor<5x3xf32>, tensor<4x1x1xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi32>, tensor<*xi32>)
}
