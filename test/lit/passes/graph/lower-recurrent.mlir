// RUN: %brew-opt %s --brew-lower-recurrent --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-lower-recurrent='exact-hidden-gradients' --split-input-file | FileCheck %s --check-prefix=EXACT

// One product computes the input's contribution to the gates for the full sequence. One operation
// computes the time steps. The state persists between runs in parameters that weight files do not
// contain.

// CHECK-DAG: brew.param @l.state0.p : tensor<1x3x5xf32> {brew.persistent
// CHECK-DAG: brew.param @l.state1.p : tensor<1x3x5xf32> {brew.persistent
// CHECK-LABEL: brew.program @p train
brew.param @l.0 : tensor<20x4xf32> {layer = "l", index = 0 : i64}
brew.param @l.1 : tensor<20xf32> {layer = "l", index = 1 : i64}
brew.param @l.2 : tensor<20x5xf32> {layer = "l", index = 2 : i64}
brew.program @p train {
  // CHECK: %[[X:.*]] = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4xf32>
  // CHECK: %[[CONT:.*]] = brew.data_input
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["cont"]} : tensor<2x3xf32>
  %w = brew.param_value @l.0 : tensor<20x4xf32>
  %b = brew.param_value @l.1 : tensor<20xf32>
  %wh = brew.param_value @l.2 : tensor<20x5xf32>
  // CHECK-DAG: %[[H0:.*]] = brew.param_value @l.state0.p
  // CHECK-DAG: %[[C0:.*]] = brew.param_value @l.state1.p
  // CHECK: %[[XW:.*]] = brew.inner_product "l"(%[[X]], %{{.*}}, %{{.*}}) {axis = 2 : i64, num_output = 20 : i64
  // CHECK: %[[Y:.*]], %[[H2:.*]], %[[C2:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = brew.lstm_steps "l"(%[[XW]], %[[CONT]], %[[H0]], %[[C0]], %{{.*}}) {propagate_down = array<i1: true, false, true, true, true>, tops = ["y"]}
  // CHECK-DAG: brew.store_param %[[H2]], @l.state0.p
  // CHECK-DAG: brew.store_param %[[C2]], @l.state1.p
  %y = brew.lstm "l"(%x, %cont, %w, %b, %wh) {num_output = 5 : i64, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<20x4xf32>, tensor<20xf32>, tensor<20x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: brew.output %[[Y]] "y"
  brew.output %y "y" loss_weight 0.0 : tensor<2x3x5xf32>
}

// -----

// Exposed state is a bottom and a top, and nothing persists. Caffe propagates no gradient through
// it; exact-hidden-gradients does.
// EXACT-NOT: no_gradient

// CHECK-LABEL: brew.program @q train
// CHECK-NOT: brew.store_param
// CHECK: %[[H:.*]] = brew.split "r"(%{{.*}}) {brew.no_gradient = "bottom 4", propagate_down = array<i1: false>, tops = []}
// CHECK: %[[SUM:.*]] = brew.bias "r"(%{{.*}}, %{{.*}}) {axis = 1 : i64, num_axes = 2 : i64
// CHECK: %[[Y:.*]], %[[LAST:.*]], %{{.*}} = brew.rnn_steps "r"(%[[SUM]], %{{.*}}, %[[H]], %{{.*}}) {propagate_down = array<i1: true, false, true, true>, tops = []}
// CHECK: %[[OUT:.*]] = brew.inner_product "r"(%[[Y]]
// CHECK: brew.tanh "r"(%[[OUT]]) {loss_weights = array<f32: 5.000000e-01>, tops = ["y"]}
// CHECK: brew.split "r"(%[[LAST]]) {brew.no_gradient = "top 't'", loss_weights = array<f32: 0.000000e+00>, propagate_down = array<i1: false>, tops = ["t"]}
// EXACT: brew.split "r"(%{{.*}}) {loss_weights = array<f32: 0.000000e+00>, tops = ["t"]}
brew.param @r.0 : tensor<5x4xf32> {layer = "r", index = 0 : i64}
brew.param @r.1 : tensor<5xf32> {layer = "r", index = 1 : i64}
brew.param @r.2 : tensor<5x5xf32> {layer = "r", index = 2 : i64}
brew.param @r.3 : tensor<5x5xf32> {layer = "r", index = 3 : i64}
brew.param @r.4 : tensor<5xf32> {layer = "r", index = 4 : i64}
brew.param @r.5 : tensor<5x6xf32> {layer = "r", index = 5 : i64}
brew.program @q train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["cont"]} : tensor<1x3xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x3x5xf32>
  %static = brew.data_input "in" "Input" {config = "", folder = "", tops = ["s"]} : tensor<3x6xf32>
  %ws = brew.param_value @r.5 : tensor<5x6xf32>
  %w0 = brew.param_value @r.0 : tensor<5x4xf32>
  %w1 = brew.param_value @r.1 : tensor<5xf32>
  %w2 = brew.param_value @r.2 : tensor<5x5xf32>
  %w3 = brew.param_value @r.3 : tensor<5x5xf32>
  %w4 = brew.param_value @r.4 : tensor<5xf32>
  %y, %t = brew.rnn "r"(%x, %cont, %static, %h, %w0, %w1, %ws, %w2, %w3, %w4) {expose_hidden, has_static, loss_weights = array<f32: 0.5, 0.0>, num_output = 5 : i64, tops = ["y", "t"]} : (tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<3x6xf32>, tensor<1x3x5xf32>, tensor<5x4xf32>, tensor<5xf32>, tensor<5x6xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5xf32>) -> (tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  brew.output %t "t" loss_weight 0.0 : tensor<1x3x5xf32>
}
