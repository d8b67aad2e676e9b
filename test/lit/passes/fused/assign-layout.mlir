// RUN: %brew-opt %s --brew-assign-layout | FileCheck %s --check-prefixes=CHECK,CRSK,NHWC
// RUN: %brew-opt %s --brew-assign-layout='layout=nhwc no-library=all' | FileCheck %s --check-prefixes=CHECK,CRSK,NHWC
// RUN: %brew-opt %s --brew-assign-layout='layout=nchw' | FileCheck %s --check-prefixes=CHECK,KCRS,NCHW
// RUN: %brew-opt %s --brew-assign-layout='no-library=conv' | FileCheck %s --check-prefixes=CHECK,CRSK,NHWC
// RUN: %brew-opt %s --brew-assign-layout='no-library=all' | FileCheck %s --check-prefixes=CHECK,CRSK,NHWC

// GPUs require channels-last if products use tensor cores. Without calls nothing requires it.
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-assign-layout | FileCheck %s --check-prefixes=CHECK,KCRS,NCHW
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-assign-layout=precision=tf32 | FileCheck %s --check-prefixes=CHECK,KRSC,NHWC
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_75 --brew-assign-layout=precision=tf32 | FileCheck %s --check-prefixes=CHECK,KCRS,NCHW
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_75 --brew-assign-layout=precision=f16 | FileCheck %s --check-prefixes=CHECK,KCRS,NHWC

// With a vendor convolution in the net, activations and their gradients are channels-last.
// Parameters and stored gradients keep their order, except if tensor cores read the parameters
// directly, and for weights of few channels on a CPU. The inner product's weights are split
// into its bottom's dimensions, in the bottom's memory order, in every program and in the
// solver's state.

// KCRS: brew.param @conv.0 : tensor<4x3x3x3xf32>
// KRSC: brew.param @conv.0 : tensor<4x3x3x3xf32, #brew.layout<0, 2, 3, 1>>
// CRSK: brew.param @conv.0 : tensor<4x3x3x3xf32, #brew.layout<1, 2, 3, 0>>
// NHWC: brew.param @ip.0 : tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
// NCHW: brew.param @ip.0 : tensor<5x4x2x2xf32>
// CHECK: brew.param @flat.0 : tensor<6x5xf32>
brew.param @conv.0 : tensor<4x3x3x3xf32> {layer = "conv", index = 0 : i64, file_dims = array<i64: 4, 3, 3, 3>}
brew.param @ip.0 : tensor<5x16xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 5, 16>}
brew.param @flat.0 : tensor<6x5xf32> {layer = "flat", index = 0 : i64, file_dims = array<i64: 6, 5>}

// CHECK-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  // NHWC: brew.data_input {{.*}} : tensor<2x3x4x4xf32, #brew.layout<0, 2, 3, 1>>
  // NCHW: brew.data_input {{.*}} : tensor<2x3x4x4xf32>{{$}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.param_value @conv.0 : tensor<4x3x3x3xf32>
  // NHWC: brew.convolution {{.*}} -> tensor<2x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // NCHW: brew.convolution {{.*}} -> tensor<2x4x2x2xf32>{{$}}
  %c = brew.convolution "conv"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x2x2xf32>
  // NHWC: brew.param_value @ip.0 : tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // NCHW: brew.param_value @ip.0 : tensor<5x4x2x2xf32>
  %v = brew.param_value @ip.0 : tensor<5x16xf32>
  // CHECK: brew.inner_product "ip"{{.*}} -> tensor<2x5xf32>
  %i = brew.inner_product "ip"(%c, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x4x2x2xf32>, tensor<5x16xf32>) -> tensor<2x5xf32>
  %u = brew.param_value @flat.0 : tensor<6x5xf32>
  // CHECK: brew.inner_product "flat"{{.*}} : (tensor<2x5xf32>, tensor<6x5xf32>) -> tensor<2x6xf32>
  %f = brew.inner_product "flat"(%i, %u) {num_output = 6 : i64, axis = 1 : i64, tops = ["f"]} : (tensor<2x5xf32>, tensor<6x5xf32>) -> tensor<2x6xf32>
  // NHWC: brew.inner_product_backward_weights "ip"{{.*}} -> tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // NCHW: brew.inner_product_backward_weights "ip"{{.*}} -> tensor<5x4x2x2xf32>
  %dv = brew.inner_product_backward_weights "ip"(%c, %i) {axis = 1 : i64} : (tensor<2x4x2x2xf32>, tensor<2x5xf32>) -> tensor<5x16xf32>
  // NHWC: brew.inner_product_backward_data "ip"{{.*}} -> tensor<2x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  %dc = brew.inner_product_backward_data "ip"(%i, %v) {axis = 1 : i64} : (tensor<2x5xf32>, tensor<5x16xf32>) -> tensor<2x4x2x2xf32>
  // KCRS: brew.convolution_backward_weights "conv"{{.*}} -> tensor<4x3x3x3xf32>
  // KRSC: brew.convolution_backward_weights "conv"{{.*}} -> tensor<4x3x3x3xf32, #brew.layout<0, 2, 3, 1>>
  // CRSK: brew.convolution_backward_weights "conv"{{.*}} -> tensor<4x3x3x3xf32, #brew.layout<1, 2, 3, 0>>
  %dw = brew.convolution_backward_weights "conv"(%x, %dc) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x3x4x4xf32>, tensor<2x4x2x2xf32>) -> tensor<4x3x3x3xf32>
  brew.store_gradient %dw, @conv.0 : tensor<4x3x3x3xf32>
  // NHWC: brew.store_gradient %{{.*}}, @ip.0 : tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  brew.store_gradient %dv, @ip.0 : tensor<5x16xf32>
}

// CHECK-LABEL: brew.program @update
brew.program @update train {
  %s = brew.solver_scalar learning_rate : tensor<f32>
  %v = brew.param_value @ip.0 : tensor<5x16xf32>
  // NHWC: brew.param_gradient @ip.0 : tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // NHWC: brew.param_state @ip.0[0] : tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // NHWC: brew.sgd_update{{.*}} -> (tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>)
  // NCHW: brew.sgd_update{{.*}} -> (tensor<5x4x2x2xf32>, tensor<5x4x2x2xf32>, tensor<5x4x2x2xf32>)
  %g = brew.param_gradient @ip.0 : tensor<5x16xf32>
  %h = brew.param_state @ip.0[0] : tensor<5x16xf32>
  %nw, %nh, %u = brew.sgd_update(%v, %g, %h, %s, %s, %s, %s) {lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L2>} : (tensor<5x16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<5x16xf32>, tensor<5x16xf32>, tensor<5x16xf32>)
  brew.store_param %nw, @ip.0 : tensor<5x16xf32>
  brew.store_state %nh, @ip.0[0] : tensor<5x16xf32>
}
