// RUN: %brew-opt %s --brew-attach-target --brew-pack-convolution-operands=no-library=all --verify-diagnostics

brew.program @main test {
  // expected-error @below {{this value has no static shape: brew-infer-shapes runs before this pass}}
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<*xf32>, tensor<5x3x1x1xf32>
  %y = brew.convolution "y"(%x, %w) {num_output = 5 : i64, kernel = array<i64: 1>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, tops = ["y"]} : (tensor<*xf32>, tensor<5x3x1x1xf32>) -> tensor<*xf32>
}
