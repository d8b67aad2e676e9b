// RUN: %brew-opt %s --brew-attach-target --brew-build-loops --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target --brew-build-loops=no-library=ip --split-input-file | FileCheck %s --check-prefix=GENERATED

// The loop carries the masked hidden state and the cell state. Nests before it compute the
// indicators of the next steps and the first states. Without gradients only the top is stacked.

// CHECK-LABEL: brew.program @forward test
// CHECK: %[[NEXT:.*]] = linalg.generic
// CHECK: %[[H:.*]] = linalg.generic
// CHECK: %[[C:.*]] = linalg.generic
// CHECK: %{{.*}}, %[[STATES:.*]]:2, %{{.*}} = brew.loop "l" 3
// CHECK-SAME: sequences(%{{.*}}, %{{.*}}, %[[NEXT]] : tensor<3x2x20xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
// CHECK-SAME: initial(%[[H]], %[[C]] : tensor<1x2x5xf32>, tensor<1x2x5xf32>)
// CHECK-SAME: stacked(tensor<3x2x5xf32>) carried(tensor<1x2x5xf32>, tensor<1x2x5xf32>) scratch(tensor<1x2x20xf32>)
// CHECK: ^bb0(%[[GATES:.*]]: tensor<1x2x20xf32, {strides = array<i64: 40, 20, 1>}>,
// CHECK: %[[PRODUCT:.*]] = brew.inner_product "l"
// CHECK: %[[CELL:.*]]:3 = brew.kernel "l"
// CHECK: brew.yield %[[CELL]]#0, %[[CELL]]#1, %[[CELL]]#2, %[[PRODUCT]]
// CHECK: brew.store_param %[[STATES]]#1, @l.c

// GENERATED-LABEL: brew.program @forward test
// GENERATED: brew.loop
// GENERATED-NOT: brew.inner_product
// GENERATED: %[[PRODUCT:.*]] = brew.kernel "l"
// GENERATED: linalg.generic {{.*}}"reduction"
// GENERATED: brew.kernel "l"
brew.param @l.c : tensor<1x2x5xf32> {layer = "l", index = 0 : i64}
brew.program @forward test {
  %gates = brew.data_input "in" "Input" {config = "", folder = "", tops = ["g"]} : tensor<3x2x20xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<3x2xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x2x5xf32>
  %wh = brew.data_input "in" "Input" {config = "", folder = "", tops = ["wh"]} : tensor<20x5xf32>
  %c = brew.param_value @l.c : tensor<1x2x5xf32>
  %s:10 = brew.lstm_steps "l"(%gates, %cont, %h, %c, %wh) {tops = ["y"]} : (tensor<3x2x20xf32>, tensor<3x2xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<20x5xf32>) -> (tensor<3x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>, tensor<3x2x5xf32>)
  brew.store_param %s#2, @l.c : tensor<1x2x5xf32>
  brew.output %s#0 "y" loss_weight 0.0 : tensor<3x2x5xf32>
}

// -----

// The backward pass runs in reverse order. Without a gradient of the first state, the last
// iteration needs no product.

// CHECK-LABEL: brew.program @backward test
// CHECK: linalg.generic
// CHECK: %[[ZERO:.*]] = linalg.generic
// CHECK: brew.loop "l" 3 reverse last_iteration_steps 1
// CHECK-SAME: initial(%[[ZERO]] :
// CHECK: %[[DX:.*]]:2 = brew.kernel "l_backward"
// CHECK: %[[PRODUCT:.*]] = brew.inner_product_backward_data "l"(%[[DX]]#1,
// CHECK: brew.yield %[[DX]]#0, %[[PRODUCT]], %[[DX]]#1
// CHECK: brew.output

// With it, a nest masks the state after the loop.
// CHECK: %{{.*}}, %[[CARRIED:[a-z_0-9]*]], %{{.*}} = brew.loop "m" 3 reverse sequences
// CHECK: linalg.generic {{.*}} ins(%[[CARRIED]] :
brew.program @backward test {
  %dy = brew.data_input "in" "Input" {config = "", folder = "", tops = ["dy"]} : tensor<3x2x5xf32>
  %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["y"]} : tensor<3x2x5xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<3x2xf32>
  %wh = brew.data_input "in" "Input" {config = "", folder = "", tops = ["wh"]} : tensor<5x5xf32>
  %dx, %dh0 = brew.rnn_steps_backward "l" dy %dy(%cont, %wh, %y) {brew.backward} : (tensor<3x2x5xf32>, tensor<3x2xf32>, tensor<5x5xf32>, tensor<3x2x5xf32>) -> (tensor<3x2x5xf32>, tensor<1x2x5xf32>)
  brew.output %dx "dx" loss_weight 0.0 : tensor<3x2x5xf32>
  %dx2, %dh2 = brew.rnn_steps_backward "m" dy %dy(%cont, %wh, %y) {brew.backward} : (tensor<3x2x5xf32>, tensor<3x2xf32>, tensor<5x5xf32>, tensor<3x2x5xf32>) -> (tensor<3x2x5xf32>, tensor<1x2x5xf32>)
  brew.output %dh2 "dh" loss_weight 0.0 : tensor<1x2x5xf32>
}

// -----

// Operands of 16 bits: the nest widens them, and a product that is no library call sums in f32.

// CHECK-LABEL: brew.program @narrow test
// CHECK: brew.loop
// CHECK: brew.inner_product "l"(%{{.*}}, %{{.*}}) {{.*}} -> tensor<1x2x5xbf16>
// CHECK: arith.extf
// CHECK: math.tanh
// CHECK: arith.truncf

// GENERATED-LABEL: brew.program @narrow test
// GENERATED: brew.kernel "l"
// GENERATED: linalg.generic {{.*}}"reduction"
// GENERATED: arith.extf
// GENERATED: -> tensor<1x2x5xf32>
// GENERATED: arith.truncf
// GENERATED: -> tensor<1x2x5xbf16>
brew.program @narrow test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2x5xbf16>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<3x2xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x2x5xbf16>
  %wh = brew.data_input "in" "Input" {config = "", folder = "", tops = ["wh"]} : tensor<5x5xbf16>
  %y, %last, %hm = brew.rnn_steps "l"(%x, %cont, %h, %wh) {tops = []} : (tensor<3x2x5xbf16>, tensor<3x2xf32>, tensor<1x2x5xbf16>, tensor<5x5xbf16>) -> (tensor<3x2x5xf32>, tensor<1x2x5xbf16>, tensor<3x2x5xbf16>)
  brew.output %y "y" loss_weight 0.0 : tensor<3x2x5xf32>
}
