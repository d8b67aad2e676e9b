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

// -----

// The time steps of a ConvLSTM become operations of their own. Gradients of its exposed states are
// exact in the fork. Without a gradient, the first state is not differentiated.

// CHECK-LABEL: brew.program @steps train
// CHECK-DAG: %[[H0:.*]] = brew.param_value @c.state0.steps
// CHECK-DAG: %[[C0:.*]] = brew.param_value @c.state1.steps
// CHECK: %[[CONT:.*]]:2 = brew.slice "c"(%{{.*}}) {axis = 0 : i64, points = array<i64: 1>, tops = []} : (tensor<2x1xf32>)
// CHECK: %[[HM:.*]] = brew.scale "c"(%[[H0]], %[[CONT]]#0) {axis = 0 : i64, num_axes = 2 : i64, propagate_down = array<i1: false, false>, tops = []}
// CHECK: %[[GATES:.*]] = brew.convolution "c"(%[[HM]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<1x1x8x3x3xf32>
// CHECK: %[[CELL:.*]] = brew.reshape "c"(%[[C0]])
// CHECK: %[[FLAT:.*]] = brew.reshape "c"(%[[GATES]]) {{.*}} -> tensor<1x1x72xf32>
// CHECK: %[[C1:.*]], %[[H1:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = brew.lstm_unit "c"(%[[CELL]], %[[FLAT]], %[[CONT]]#0) {propagate_down = array<i1: false, true, false>, tops = []}
// CHECK: brew.scale {{.*}} propagate_down = array<i1: true, false>
// CHECK: brew.lstm_unit {{.*}} {propagate_down = array<i1: true, true, false>
// CHECK: brew.concat "c"({{.*}}) {axis = 0 : i64, tops = ["y"]}
// CHECK-DAG: brew.store_param %{{.*}}, @c.state0.steps
// CHECK-DAG: brew.store_param %{{.*}}, @c.state1.steps
brew.param @c.0 : tensor<1xf32> {layer = "c", index = 0 : i64}
brew.param @c.2 : tensor<8x2x1x1xf32> {layer = "c", index = 2 : i64}
brew.param @c.3 : tensor<8xf32> {layer = "c", index = 3 : i64}
brew.program @steps train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1x5x3x3xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["cont"]} : tensor<2x1xf32>
  %none = brew.param_value @c.0 : tensor<1xf32>
  %w = brew.param_value @c.2 : tensor<8x2x1x1xf32>
  %b = brew.param_value @c.3 : tensor<8xf32>
  %y = brew.conv_lstm "c"(%x, %cont, %none, %none, %w, %b, %none, %none) {dilation = array<i64: 1, 1>, group = 1 : i64, ignore_x, kernel = array<i64: 1, 1>, num_output = 2 : i64, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>, tops = ["y"]} : (tensor<2x1x5x3x3xf32>, tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<8x2x1x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x2x3x3xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x1x2x3x3xf32>
}

// -----

// The iterations of mean-field inference share one filter, which the runtime computes. The image
// has no gradient.

// CHECK-LABEL: brew.program @field test
// CHECK: %[[W:.*]] = brew.reshape "f"(%{{.*}}) {{.*}} -> tensor<2x2x1x1xf32>
// CHECK: %[[P:.*]] = brew.softmax "f"(%[[START:.*]]) {axis = 1 : i64, tops = []}
// CHECK: %[[F:.*]]:2 = brew.host_layer "f"(%[[IMAGE:.*]], %[[P]]) {kind = "MultiStageMeanfield", param_str = "", propagate_down = array<i1: false>, settings = "s", test_phase, tops = []}
// CHECK: %[[S:.*]] = brew.convolution "f"(%[[F]]#0, %[[W]])
// CHECK: %[[B:.*]] = brew.convolution "f"(%[[F]]#1, %{{.*}})
// CHECK: %[[M:.*]] = brew.eltwise "f"(%[[S]], %[[B]]) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = []}
// CHECK: %[[PAIRWISE:.*]] = brew.convolution "f"(%[[M]], %{{.*}})
// CHECK: %[[Q:.*]] = brew.eltwise "f"(%[[UNARY:.*]], %[[PAIRWISE]]) {coeff = array<f32: 1.000000e+00, -1.000000e+00>, kind = #brew<eltwise_kind sum>, tops = []}
// CHECK: brew.softmax "f"(%[[Q]])
// CHECK: brew.eltwise "f"(%[[UNARY]], %{{.*}}) {coeff = array<f32: 1.000000e+00, -1.000000e+00>, kind = #brew<eltwise_kind sum>, tops = ["y"]}
brew.param @f.0 : tensor<1x1x2x2xf32> {layer = "f", index = 0 : i64}
brew.program @field test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x3x4xf32>
  %start = brew.data_input "in" "Input" {config = "", folder = "", tops = ["start"]} : tensor<1x2x3x4xf32>
  %image = brew.data_input "in" "Input" {config = "", folder = "", tops = ["image"]} : tensor<1x3x3x4xf32>
  %w = brew.param_value @f.0 : tensor<1x1x2x2xf32>
  %y = brew.mean_field "f"(%x, %start, %image, %w, %w, %w) {iterations = 2 : i64, settings = "s", test_phase, tops = ["y"]} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3x3x4xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x2x3x4xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<1x2x3x4xf32>
}
