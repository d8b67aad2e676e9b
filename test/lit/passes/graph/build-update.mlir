// RUN: %brew-opt %s --brew-build-update | FileCheck %s --check-prefixes=CHECK,L2
// RUN: %brew-opt %s --brew-build-update='regularization=L1' | FileCheck %s --check-prefixes=CHECK,L1

brew.param @conv.0 : tensor<2x3xf32> {layer = "conv", index = 0 : i64, lr_mult = 0.5 : f32, decay_mult = 0.25 : f32}
brew.param @conv.1 : tensor<2xf32> {layer = "conv", index = 1 : i64, lr_mult = 2.0 : f32, decay_mult = 0.0 : f32}
// No gradient is stored for @frozen.0, so it is not updated.
brew.param @frozen.0 : tensor<5xf32> {layer = "frozen", index = 0 : i64, lr_mult = 0.0 : f32}
brew.program @forward_backward train {
  %w = brew.fill 1.0 : tensor<2x3xf32>
  %b = brew.fill 1.0 : tensor<2xf32>
  brew.store_gradient %w, @conv.0 : tensor<2x3xf32>
  brew.store_gradient %b, @conv.1 : tensor<2xf32>
}

// The four scalars are read once; multipliers become constants of each update.
// CHECK-LABEL: brew.program @update train role update {
// CHECK-NEXT: %[[RATE:.*]] = brew.solver_scalar learning_rate : tensor<f32>
// CHECK-NEXT: %[[DECAY:.*]] = brew.solver_scalar weight_decay : tensor<f32>
// CHECK-NEXT: %[[SCALE:.*]] = brew.solver_scalar gradient_scale : tensor<f32>
// CHECK-NEXT: %[[MOMENTUM:.*]] = brew.solver_scalar momentum : tensor<f32>
// CHECK-NEXT: %[[W:.*]] = brew.param_value @conv.0 : tensor<2x3xf32>
// CHECK-NEXT: %[[G:.*]] = brew.param_gradient @conv.0 : tensor<2x3xf32>
// CHECK-NEXT: %[[H:.*]] = brew.param_state @conv.0[0] : tensor<2x3xf32>
// CHECK-NEXT: %[[NW:.*]], %[[NH:.*]], %{{.*}} = brew.sgd_update(%[[W]], %[[G]], %[[H]], %[[RATE]], %[[DECAY]], %[[SCALE]], %[[MOMENTUM]])
// CHECK-SAME: decay_mult = 2.500000e-01 : f32, lr_mult = 5.000000e-01 : f32
// L2-SAME: #brew<regularization L2>
// L1-SAME: #brew<regularization L1>
// CHECK-NEXT: brew.store_param %[[NW]], @conv.0 : tensor<2x3xf32>
// CHECK-NEXT: brew.store_state %[[NH]], @conv.0[0] : tensor<2x3xf32>
// CHECK-NEXT: %[[W:.*]] = brew.param_value @conv.1 : tensor<2xf32>
// CHECK-NEXT: %[[G:.*]] = brew.param_gradient @conv.1 : tensor<2xf32>
// CHECK-NEXT: %[[H:.*]] = brew.param_state @conv.1[0] : tensor<2xf32>
// CHECK-NEXT: brew.sgd_update(%[[W]], %[[G]], %[[H]], %[[RATE]], %[[DECAY]], %[[SCALE]], %[[MOMENTUM]])
// CHECK-SAME: decay_mult = 0.000000e+00 : f32, lr_mult = 2.000000e+00 : f32
// CHECK: brew.store_param %{{.*}}, @conv.1
// CHECK-NEXT: brew.store_state %{{.*}}, @conv.1[0]
// CHECK-NOT: @frozen.0
// CHECK: }
