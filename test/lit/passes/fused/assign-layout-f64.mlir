// RUN: %brew-opt %s --brew-assign-layout | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-assign-layout | FileCheck %s --check-prefix=GPU

// Double precision has no vendor convolutions. Generated ones read vectors of channels on a CPU.
// CHECK: brew.convolution {{.*}} -> tensor<2x4x2x2xf64, #brew.layout<0, 2, 3, 1>>
// GPU: brew.convolution {{.*}} -> tensor<2x4x2x2xf64>{{$}}
brew.param @conv.0 : tensor<4x3x3x3xf64> {layer = "conv", index = 0 : i64, file_dims = array<i64: 4, 3, 3, 3>}
brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf64>
  %w = brew.param_value @conv.0 : tensor<4x3x3x3xf64>
  %c = brew.convolution "conv"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf64>, tensor<4x3x3x3xf64>) -> tensor<2x4x2x2xf64>
}
