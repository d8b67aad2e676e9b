// RUN: %brew-opt %s --brew-unroll-recurrent --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-unroll-recurrent='exact-hidden-gradients' --split-input-file | FileCheck %s --check-prefix=EXACT

// Two time steps. One product computes the input's contribution to the gates for the full
// sequence. Each time step adds the contribution of the hidden state and runs one LSTM unit. The
// state persists between runs in parameters that weight files do not contain.

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
  // CHECK: %[[STEPS:.*]]:2 = brew.slice "l"(%[[XW]])
  // CHECK: %[[CONTS:.*]]:2 = brew.slice "l"(%[[CONT]])
  // CHECK-SAME: propagate_down = array<i1: false>
  // CHECK: %[[M0:.*]] = brew.scale "l"(%[[H0]], %[[CONTS]]#0)
  // CHECK: %[[HW0:.*]] = brew.inner_product "l"(%[[M0]]
  // CHECK: %[[G0:.*]] = brew.eltwise "l"(%[[HW0]], %[[STEPS]]#0)
  // CHECK: %[[C1:.*]], %[[H1:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = brew.lstm_unit "l"(%[[C0]], %[[G0]], %[[CONTS]]#0)
  // CHECK: %[[M1:.*]] = brew.scale "l"(%[[H1]], %[[CONTS]]#1)
  // CHECK: %[[HW1:.*]] = brew.inner_product "l"(%[[M1]]
  // CHECK: %[[G1:.*]] = brew.eltwise "l"(%[[HW1]], %[[STEPS]]#1)
  // CHECK: %[[C2:.*]], %[[H2:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = brew.lstm_unit "l"(%[[C1]], %[[G1]], %[[CONTS]]#1)
  // CHECK: %[[Y:.*]] = brew.concat "l"(%[[H1]], %[[H2]]) {axis = 0 : i64, tops = ["y"]}
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
// CHECK: %[[H:.*]] = brew.split "r"(%{{.*}}) {brew.no_gradient = "bottom 3", propagate_down = array<i1: false>, tops = []}
// CHECK: brew.scale "r"(%[[H]],
// CHECK: brew.tanh
// CHECK: brew.split "r"(%{{.*}}) {brew.no_gradient = "top 't'", propagate_down = array<i1: false>, tops = ["t"]}
// EXACT: brew.split "r"(%{{.*}}) {tops = ["t"]}
brew.param @r.0 : tensor<5x4xf32> {layer = "r", index = 0 : i64}
brew.param @r.1 : tensor<5xf32> {layer = "r", index = 1 : i64}
brew.param @r.2 : tensor<5x5xf32> {layer = "r", index = 2 : i64}
brew.param @r.3 : tensor<5x5xf32> {layer = "r", index = 3 : i64}
brew.param @r.4 : tensor<5xf32> {layer = "r", index = 4 : i64}
brew.program @q train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["cont"]} : tensor<1x3xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x3x5xf32>
  %w0 = brew.param_value @r.0 : tensor<5x4xf32>
  %w1 = brew.param_value @r.1 : tensor<5xf32>
  %w2 = brew.param_value @r.2 : tensor<5x5xf32>
  %w3 = brew.param_value @r.3 : tensor<5x5xf32>
  %w4 = brew.param_value @r.4 : tensor<5xf32>
  %y, %t = brew.rnn "r"(%x, %cont, %h, %w0, %w1, %w2, %w3, %w4) {expose_hidden, num_output = 5 : i64, tops = ["y", "t"]} : (tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<1x3x5xf32>, tensor<5x4xf32>, tensor<5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5xf32>) -> (tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  brew.output %t "t" loss_weight 0.0 : tensor<1x3x5xf32>
}
