// RUN: %brew-opt %s --brew-build-update | FileCheck %s

// Scalars have the parameters' precision.
brew.param @ip.0 : tensor<4xf64> {layer = "ip", index = 0 : i64}
brew.program @forward_backward train {
  %g = brew.fill 1.0 : tensor<4xf64>
  brew.store_gradient %g, @ip.0 : tensor<4xf64>
}
// CHECK-LABEL: brew.program @update
// CHECK: brew.solver_scalar learning_rate : tensor<f64>
// CHECK: brew.solver_scalar gradient_scale : tensor<f64>
// CHECK: brew.sgd_update{{.*}} -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
