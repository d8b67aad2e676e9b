// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.param @m : tensor<*xf32> {layer = "n", index = 0 : i64}
brew.program @scalar train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<f32>
  %m = brew.param_value @m : tensor<*xf32>
  // expected-error @below {{layer 'n': a bottom without dimensions has no channels}}
  %y = brew.batch_norm_global "n"(%x, %m, %m, %m) {eps = 0.1 : f32, tops = ["y"]} : (tensor<f32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @lrn test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'n': LRN needs a bottom of 4 dimensions (N, C, H, W), not 2}}
  %y = brew.lrn "n"(%x) {size = 5 : i64, alpha = 1.0 : f32, beta = 0.75 : f32, k = 1.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @mvn test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x3x4x5xf32>
  // expected-error @below {{layer 'n': MVN takes a bottom of at most 4 dimensions, not 5}}
  %y, %s = brew.mvn "n"(%x) {eps = 0.1 : f32, tops = ["y"]} : (tensor<1x2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.param @s : tensor<*xf32> {layer = "n", index = 0 : i64}
brew.program @normalize test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3xf32>
  %s = brew.param_value @s : tensor<*xf32>
  // expected-error @below {{layer 'n': Normalize needs a bottom of at least 2 dimensions (N, C, ...), not 1}}
  %y, %i = brew.normalize "n"(%x, %s) {eps = 0.1 : f32, tops = ["y"]} : (tensor<3xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}
