// RUN: %brew-opt %s --brew-differentiate='pin=x loss-scale=1024' --brew-build-update='loss-scale=1024 loss-scale-window=500' | FileCheck %s
// RUN: %brew-opt %s --brew-differentiate='pin=x loss-scale=1024' --brew-build-update='loss-scale=1024 loss-scale-window=500' --brew-attach-target=gpu-arch=sm_90 --brew-lower-precision=type=f16 | FileCheck %s --check-prefix=NARROW

// Losses are multiplied by a persistent scale; gradients are divided by it where they leave the
// program, and non-finite ones are counted.

// CHECK-DAG: brew.param @loss_scale.value : tensor<f32> {brew.persistent
// CHECK-DAG: brew.param @loss_scale.good : tensor<f32> {brew.persistent
// CHECK-DAG: brew.param @loss_scale.non_finite : tensor<f32> {brew.persistent
brew.param @ip.0 : tensor<3x8xf32> {layer = "ip", index = 0 : i64}
brew.param @idle.0 : tensor<4xf32> {layer = "idle", index = 0 : i64}
// CHECK-LABEL: brew.program @forward_backward
// NARROW-LABEL: brew.program @forward_backward
brew.program @forward_backward train differentiate {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<1x8xf32>, tensor<1xf32>
  %v = brew.param_value @ip.0 : tensor<3x8xf32>
  // No loss depends on this parameter, so its gradient is 0.
  %u = brew.param_value @idle.0 : tensor<4xf32>
  %i = brew.inner_product "ip"(%x, %v) {num_output = 3 : i64, axis = 1 : i64, propagate_down = array<i1: true, true>, tops = ["x"]} : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<1x3xf32>
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 0.5>, tops = ["loss"]} : (tensor<1x3xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<1x3xf32>, tensor<f32>, tensor<i32>)
  // CHECK: %[[STATE:.*]] = brew.param_value @loss_scale.value : tensor<f32>
  // CHECK-NEXT: %[[SCALE:.*]] = brew.loss_scale "loss_scale"(%[[STATE]]) {initial = 1.024000e+03 : f64}
  // CHECK-NEXT: %[[SEED:.*]] = brew.loss_gradient "loss"(%[[SCALE]]) {weight = 5.000000e-01 : f64}
  // CHECK-NEXT: %[[DI:.*]] = brew.softmax_loss_backward "loss"(%{{.*}}, %{{.*}}, %{{.*}}, %[[SEED]])
  // CHECK: %[[G:.*]] = brew.unscale "ip"(%{{.*}}, %[[SCALE]]) {brew.backward}
  // CHECK-NEXT: brew.store_gradient %[[G]], @ip.0
  // CHECK-NEXT: %[[ZERO:.*]] = brew.fill 0.000000e+00 {brew.backward, brew.layer = "{{.*}}"} : tensor<4xf32>
  // CHECK-NEXT: brew.store_gradient %[[ZERO]], @idle.0
  // CHECK-NEXT: %[[DIFF:.*]] = brew.unscale "in"
  // CHECK-NEXT: brew.pin diff "x", %[[DIFF]]
  // CHECK-NEXT: %[[BEFORE:.*]] = brew.param_value @loss_scale.non_finite
  // CHECK-NEXT: %[[COUNT:.*]] = brew.count_non_finite "loss_scale"(%[[BEFORE]], %[[G]], %[[ZERO]]) {brew.backward}
  // CHECK-NEXT: brew.store_param %[[COUNT]], @loss_scale.non_finite
  // The scaled gradient is 16 bits wide; the stored one never is.
  // NARROW: brew.softmax_loss_backward
  // NARROW-NEXT: brew.cast "loss"{{.*}} -> tensor<1x3xf16>
  // NARROW: %[[DV:.*]] = brew.inner_product_backward_weights {{.*}} -> tensor<3x8xf32>
  // NARROW: %[[G:.*]] = brew.unscale "ip"(%[[DV]],
  // NARROW-NEXT: brew.store_gradient %[[G]], @ip.0
}

// An update with non-finite gradients changes nothing but the scale.
// CHECK-LABEL: brew.program @update
// CHECK-NEXT: %[[BAD:.*]] = brew.param_value @loss_scale.non_finite : tensor<f32>
// CHECK: %[[W:.*]] = brew.param_value @ip.0
// CHECK: %[[H:.*]] = brew.param_state @ip.0[0]
// CHECK: %[[NW:.*]], %[[NH:.*]], %{{.*}} = brew.sgd_update(%[[W]],
// CHECK-NEXT: %[[CW:.*]] = brew.select_if_zero "ip"(%[[BAD]], %[[NW]], %[[W]])
// CHECK-NEXT: brew.store_param %[[CW]], @ip.0
// CHECK-NEXT: %[[CH:.*]] = brew.select_if_zero "ip"(%[[BAD]], %[[NH]], %[[H]])
// CHECK-NEXT: brew.store_state %[[CH]], @ip.0[0]
// CHECK: %[[SCALE:.*]] = brew.loss_scale "loss_scale"
// CHECK: %[[NS:.*]], %[[NG:.*]], %[[NONE:.*]] = brew.update_loss_scale "loss_scale"(%[[SCALE]], %{{.*}}, %{{.*}}) {window = 500 : i64}
// CHECK-NEXT: brew.store_param %[[NS]], @loss_scale.value
// CHECK-NEXT: brew.store_param %[[NG]], @loss_scale.good
// CHECK-NEXT: brew.store_param %[[NONE]], @loss_scale.non_finite
