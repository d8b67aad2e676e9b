// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/solver/Solver.td

// The assembly of every update round-trips.

brew.param @ip.0 : tensor<2xf32> {layer = "ip", index = 0 : i64}
brew.program @update train {
  %w = brew.param_value @ip.0 : tensor<2xf32>
  %g = brew.param_gradient @ip.0 : tensor<2xf32>
  %h = brew.param_state @ip.0[0] : tensor<2xf32>
  // CHECK: brew.solver_scalar learning_rate : tensor<f32>
  %s0 = brew.solver_scalar learning_rate : tensor<f32>
  // CHECK: brew.solver_scalar weight_decay : tensor<f32>
  %s1 = brew.solver_scalar weight_decay : tensor<f32>
  // CHECK: brew.solver_scalar gradient_scale : tensor<f32>
  %s2 = brew.solver_scalar gradient_scale : tensor<f32>
  // CHECK: brew.solver_scalar momentum : tensor<f32>
  %s3 = brew.solver_scalar momentum : tensor<f32>
  // CHECK: brew.solver_scalar momentum2 : tensor<f32>
  %s4 = brew.solver_scalar momentum2 : tensor<f32>
  // CHECK: brew.solver_scalar delta : tensor<f32>
  %s5 = brew.solver_scalar delta : tensor<f32>
  // CHECK: brew.solver_scalar rms_decay : tensor<f32>
  %s6 = brew.solver_scalar rms_decay : tensor<f32>
  // CHECK: brew.solver_scalar bias_correction : tensor<f32>
  %s7 = brew.solver_scalar bias_correction : tensor<f32>
  // CHECK: brew.sgd_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L2>}
  %sgd:3 = brew.sgd_update(%w, %g, %h, %s0, %s1, %s2, %s3) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L2>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.nesterov_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L2>}
  %nesterov:3 = brew.nesterov_update(%w, %g, %h, %s0, %s1, %s2, %s3) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L2>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.adagrad_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L2>}
  %adagrad:3 = brew.adagrad_update(%w, %g, %h, %s0, %s1, %s2, %s3) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L2>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.rmsprop_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L2>}
  %rmsprop:3 = brew.rmsprop_update(%w, %g, %h, %s0, %s1, %s2, %s3, %s4) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L2>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.adadelta_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L1>}
  %adadelta:4 = brew.adadelta_update(%w, %g, %h, %h, %s0, %s1, %s2, %s3, %s4) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.adam_update(%{{.*}}) {decay_mult = 5.000000e-01 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L1>}
  %adam:4 = brew.adam_update(%w, %g, %h, %h, %s0, %s1, %s2, %s3, %s4, %s5, %s6) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  brew.store_param %adam#0, @ip.0 : tensor<2xf32>
  // CHECK: %[[S:.*]] = brew.all_gradients accumulated : tensor<32xf32>
  %sums = brew.all_gradients accumulated : tensor<32xf32>
  // CHECK: brew.all_gradients : tensor<32xf32>
  %all = brew.all_gradients : tensor<32xf32>
  // CHECK: brew.store_all_gradients %[[S]] : tensor<32xf32>
  brew.store_all_gradients %sums : tensor<32xf32>
  // CHECK: brew.store_all_gradients %{{.*}} accumulated : tensor<32xf32>
  brew.store_all_gradients %all accumulated : tensor<32xf32>
}
