// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-lower-precision | FileCheck %s

// Weights of fused convolutions are rounded before their concatenation, with all other
// parameters; each slice of the weight gradient becomes f32 where it is stored, after
// everything else.
// CHECK-LABEL: brew.program @joined
brew.param @a.0 : tensor<8x4x1x1xf32> {layer = "a", index = 0 : i64}
brew.param @b.0 : tensor<16x4x1x1xf32> {layer = "b", index = 0 : i64}
brew.program @joined train {
  // CHECK-NEXT: %[[A:.*]] = brew.param_value @a.0
  // CHECK-NEXT: %[[B:.*]] = brew.param_value @b.0
  // CHECK-NEXT: %[[AN:.*]] = brew.cast "a"(%[[A]])
  // CHECK-NEXT: %[[BN:.*]] = brew.cast "a"(%[[B]])
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4x6x6xf32>
  %a = brew.param_value @a.0 : tensor<8x4x1x1xf32>
  %b = brew.param_value @b.0 : tensor<16x4x1x1xf32>
  // CHECK: %[[W:.*]] = brew.concat_view "a"(%[[AN]], %[[BN]]) {axis = 0 : i64} : (tensor<8x4x1x1xbf16>, tensor<16x4x1x1xbf16>) -> tensor<24x4x1x1xbf16>
  %w = brew.concat_view "a"(%a, %b) {axis = 0 : i64} : (tensor<8x4x1x1xf32>, tensor<16x4x1x1xf32>) -> tensor<24x4x1x1xf32>
  // CHECK: %[[Y:.*]] = brew.convolution "a"(%{{.*}}, %[[W]])
  %y = brew.convolution "a"(%x, %w) {num_output = 24 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<2x4x6x6xf32>, tensor<24x4x1x1xf32>) -> tensor<2x24x6x6xf32>
  // CHECK: %[[DW:.*]] = brew.convolution_backward_weights "a"{{.*}} -> tensor<24x4x1x1xbf16>
  %dw = brew.convolution_backward_weights "a"(%x, %y) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x4x6x6xf32>, tensor<2x24x6x6xf32>) -> tensor<24x4x1x1xf32>
  // CHECK-NEXT: %[[DA:.*]] = brew.subview "a"(%[[DW]])
  // CHECK-NEXT: %[[DB:.*]] = brew.subview "b"(%[[DW]])
  %da = brew.subview "a"(%dw) {offsets = array<i64: 0, 0, 0, 0>} : (tensor<24x4x1x1xf32>) -> tensor<8x4x1x1xf32>
  %db = brew.subview "b"(%dw) {offsets = array<i64: 8, 0, 0, 0>} : (tensor<24x4x1x1xf32>) -> tensor<16x4x1x1xf32>
  // CHECK: brew.convolution_backward_data
  %dx = brew.convolution_backward_data "a"(%y, %w) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x24x6x6xf32>, tensor<24x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  brew.pin diff "x", %dx : tensor<2x4x6x6xf32>
  // CHECK: %[[DA32:.*]] = brew.cast "{{.*}}"(%[[DA]])
  // CHECK-NEXT: brew.store_gradient %[[DA32]], @a.0
  // CHECK-NEXT: %[[DB32:.*]] = brew.cast "{{.*}}"(%[[DB]])
  // CHECK-NEXT: brew.store_gradient %[[DB32]], @b.0
  brew.store_gradient %da, @a.0 : tensor<8x4x1x1xf32>
  brew.store_gradient %db, @b.0 : tensor<16x4x1x1xf32>
}
