// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/precision/Precision.td

// CHECK-LABEL: brew.program @f
brew.program @f train {
  %s = brew.fill 0.0 : tensor<f32>
  %x = brew.fill 1.0 : tensor<2x3xf32>
  // CHECK: brew.cast "ip"(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %n = brew.cast "ip"(%x) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  // CHECK: brew.loss_scale "loss_scale"(%{{.*}}) {initial = 6.553600e+04 : f64} : (tensor<f32>) -> tensor<f32>
  %scale = brew.loss_scale "loss_scale"(%s) {initial = 65536.0 : f64} : (tensor<f32>) -> tensor<f32>
  // CHECK: brew.loss_gradient "loss"(%{{.*}}) {weight = 5.000000e-01 : f64} : (tensor<f32>) -> tensor<2x3xf32>
  %dloss = brew.loss_gradient "loss"(%scale) {weight = 0.5 : f64} : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK: brew.scale_gradient "ip"(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %sg = brew.scale_gradient "ip"(%x, %scale) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: brew.unscale "ip"(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %g = brew.unscale "ip"(%dloss, %scale) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: brew.count_non_finite "loss_scale"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %count = brew.count_non_finite "loss_scale"(%s, %g, %x) : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  // CHECK: brew.select_if_zero "ip"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w = brew.select_if_zero "ip"(%count, %g, %x) : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: brew.update_loss_scale "loss_scale"(%{{.*}}, %{{.*}}, %{{.*}}) {window = 2000 : i64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %next, %good, %none = brew.update_loss_scale "loss_scale"(%scale, %s, %count) {window = 2000 : i64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
}
