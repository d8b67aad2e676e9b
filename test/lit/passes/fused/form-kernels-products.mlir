// RUN: %brew-opt %s --brew-attach-target --brew-lower-to-nests=no-library=all --brew-form-kernels --split-input-file | FileCheck %s

// A product forms a kernel of its own on a CPU, if it does not share all loops of its results with
// its neighbours: fused with the ReLU that it reads, it would run pixel by pixel, and read its
// weights for each of them.
// CHECK-LABEL: brew.program @product
brew.program @product test {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>, tensor<64x128x1x1xf32>
  // CHECK: %[[A:.*]] = brew.kernel "a"
  // CHECK: brew.kernel "y"(%[[A]],
  %a = brew.relu "a"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>
  %y = brew.convolution_backward_data "y"(%a, %w) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>, tensor<64x128x1x1xf32>) -> tensor<4x128x28x28xf32, #brew.layout<0, 2, 3, 1>>
  brew.output %y "y" loss_weight 0.0 : tensor<4x128x28x28xf32, #brew.layout<0, 2, 3, 1>>
}

// -----

// A nest that reuses its inputs little joins the ReLU.
// CHECK-LABEL: brew.program @little_reuse
brew.program @little_reuse test {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>, tensor<64x2x1x1xf32>
  // CHECK: brew.kernel "a_y"
  %a = brew.relu "a"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>
  %y = brew.convolution_backward_data "y"(%a, %w) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<4x64x28x28xf32, #brew.layout<0, 2, 3, 1>>, tensor<64x2x1x1xf32>) -> tensor<4x2x28x28xf32, #brew.layout<0, 2, 3, 1>>
  brew.output %y "y" loss_weight 0.0 : tensor<4x2x28x28xf32, #brew.layout<0, 2, 3, 1>>
}
