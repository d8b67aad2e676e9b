// RUN: %brew-opt %s --brew-attach-target=bf16=true --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,CALLS,ONEDNN
// RUN: %brew-opt %s --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %brew-opt %s --brew-attach-target --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_75 --brew-lower-precision=type=f16 --split-input-file | FileCheck %s --check-prefix=HALF

// A Turing GPU's library multiplies f16, but not bf16.
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_75 --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80,sm_75 --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-lower-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,CALLS,CUDNN

// The chain loss <- ip <- pool <- conv. Parameters are rounded once, together; activations
// between layers are bf16; the loss, its probabilities and the parameters' gradients are f32.

brew.param @conv.0 : tensor<2x1x3x3xf32> {layer = "conv", index = 0 : i64}
brew.param @conv.1 : tensor<2xf32> {layer = "conv", index = 1 : i64}
brew.param @ip.0 : tensor<3x2xf32> {layer = "ip", index = 0 : i64}
// CHECK-LABEL: brew.program @forward_backward
// HALF-LABEL: brew.program @forward_backward
brew.program @forward_backward train {
  // CHECK-NEXT: %[[W:.*]] = brew.param_value @conv.0
  // CHECK-NEXT: %[[B:.*]] = brew.param_value @conv.1
  // CHECK-NEXT: %[[V:.*]] = brew.param_value @ip.0
  // CHECK-NEXT: %[[WN:.*]] = brew.cast "conv"(%[[W]]) : (tensor<2x1x3x3xf32>) -> tensor<2x1x3x3xbf16>
  // CHECK-NEXT: %[[BN:.*]] = brew.cast "conv"(%[[B]]) : (tensor<2xf32>) -> tensor<2xbf16>
  // CHECK-NEXT: %[[VN:.*]] = brew.cast "ip"(%[[V]]) : (tensor<3x2xf32>) -> tensor<3x2xbf16>
  // HALF: brew.cast "conv"{{.*}} -> tensor<2x1x3x3xf16>
  // The data layer delivers f32; only the convolution reads it rounded.
  // CHECK: %[[IN:.*]]:2 = brew.data_input {{.*}} : tensor<1x1x4x4xf32>, tensor<1xf32>
  // CHECK: %[[X:.*]] = brew.cast "conv"(%[[IN]]#0) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xbf16>
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<1x1x4x4xf32>, tensor<1xf32>
  %w = brew.param_value @conv.0 : tensor<2x1x3x3xf32>
  %b = brew.param_value @conv.1 : tensor<2xf32>
  // CALLS: %[[C:.*]] = brew.convolution "conv"(%[[X]], %[[WN]], %[[BN]]) {{.*}} -> tensor<1x2x2x2xbf16>
  // CALLS-NEXT: %[[CW:.*]] = brew.cast "conv"(%[[C]]) {{.*}} -> tensor<1x2x2x2xf32>
  // HALF: brew.convolution {{.*}} -> tensor<1x2x2x2xf16>
  // Without such calls the operands are rounded nevertheless.
  // WIDE-DAG: %[[WW:.*]] = brew.cast "conv"(%[[WN]]) {{.*}} -> tensor<2x1x3x3xf32>
  // WIDE: %[[C32:.*]] = brew.convolution {{.*}} -> tensor<1x2x2x2xf32>
  // WIDE-NEXT: %[[C:.*]] = brew.cast "conv"(%[[C32]]) {{.*}} -> tensor<1x2x2x2xbf16>
  // WIDE-NEXT: %[[CW:.*]] = brew.cast "conv"(%[[C]]) {{.*}} -> tensor<1x2x2x2xf32>
  %c = brew.convolution "conv"(%x, %w, %b) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  // A layer computes in f32 between casts; the values that it saves stay f32.
  // CHECK: %[[P32:.*]], %[[A:.*]] = brew.max_pooling "pool"(%[[CW]]) {{.*}} -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xi8>)
  // CHECK-NEXT: %[[P:.*]] = brew.cast "pool"(%[[P32]]) {{.*}} -> tensor<1x2x1x1xbf16>
  %p, %a = brew.max_pooling "pool"(%c) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<1x2x2x2xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xi8>)
  // A view moves narrow elements.
  // CHECK: %[[F:.*]] = brew.reinterpret %[[P]] : tensor<1x2x1x1xbf16> -> tensor<1x2xbf16>
  %f = brew.reinterpret %p : tensor<1x2x1x1xf32> -> tensor<1x2xf32>
  %v = brew.param_value @ip.0 : tensor<3x2xf32>
  // CALLS: %[[I:.*]] = brew.inner_product "ip"(%[[F]], %[[VN]]) {{.*}} -> tensor<1x3xbf16>
  // CHECK: %[[IW:.*]] = brew.cast "ip"(%{{.*}}) {{.*}} (tensor<1x3xbf16>) -> tensor<1x3xf32>
  %i = brew.inner_product "ip"(%f, %v) {num_output = 3 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
  // Labels are integers and must stay exact.
  // CHECK: %[[LOSS:.*]], %[[PROB:.*]], %[[N:.*]], %{{.*}} = brew.softmax_loss "loss"(%[[IW]], %[[IN]]#1)
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<1x3xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<1x3xf32>, tensor<f32>, tensor<i32>)
  // CHECK-NEXT: brew.output %[[LOSS]] "loss"
  brew.output %loss "loss" loss_weight 1.0 : tensor<f32>
  %dloss = brew.fill 1.0 : tensor<f32>
  // CHECK: %[[DI32:.*]] = brew.softmax_loss_backward "loss"(%[[PROB]], %[[IN]]#1, %[[N]]
  // CHECK-NEXT: %[[DI:.*]] = brew.cast "loss"(%[[DI32]]) {brew.backward} {{.*}} -> tensor<1x3xbf16>
  %di = brew.softmax_loss_backward "loss"(%prob, %l, %n, %dloss) {axis = 1 : i64, brew.backward} : (tensor<1x3xf32>, tensor<1xf32>, tensor<f32>, tensor<f32>) -> tensor<1x3xf32>
  // An inner product returns sums over narrow operands in f32.
  // CALLS: %[[DV:.*]] = brew.inner_product_backward_weights "ip"(%[[F]], %[[DI]]) {{.*}} -> tensor<3x2xf32>
  // WIDE: %[[DV:.*]] = brew.inner_product_backward_weights "ip"({{.*}}) {{.*}} -> tensor<3x2xf32>
  %dv = brew.inner_product_backward_weights "ip"(%f, %di) {axis = 1 : i64, brew.backward} : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<3x2xf32>
  %df = brew.inner_product_backward_data "ip"(%di, %v) {axis = 1 : i64, brew.backward} : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  %dp = brew.reinterpret %df {brew.backward} : tensor<1x2xf32> -> tensor<1x2x1x1xf32>
  %dc = brew.max_pooling_backward "pool"(%dp, %a) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, brew.backward} : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xi8>) -> tensor<1x2x2x2xf32>
  // A convolution's weight gradients have the type in which they are stored or, if the library
  // cannot return that, the type of its operands; the sum for the bias is a nest over the
  // narrow gradient.
  // ONEDNN: %[[DW32:.*]] = brew.convolution_backward_weights "conv"(%[[X]], %[[DC:.*]]) {{.*}} : (tensor<1x1x4x4xbf16>, tensor<1x2x2x2xbf16>) -> tensor<2x1x3x3xf32>
  // CUDNN: %[[DW:.*]] = brew.convolution_backward_weights "conv"(%[[X]], %[[DC:.*]]) {{.*}} : (tensor<1x1x4x4xbf16>, tensor<1x2x2x2xbf16>) -> tensor<2x1x3x3xbf16>
  // CALLS: %[[DCW:.*]] = brew.cast "conv"(%[[DC]]) {brew.backward} {{.*}} -> tensor<1x2x2x2xf32>
  // CALLS: %[[DB:.*]] = linalg.generic {{.*}} ins(%[[DCW]] : tensor<1x2x2x2xf32>)
  // ONEDNN: } -> tensor<2xf32>
  // WIDE: %[[DW32:.*]], %[[DB:.*]] = brew.convolution_backward_weights {{.*}} -> (tensor<2x1x3x3xf32>, tensor<2xf32>)
  %dw, %db = brew.convolution_backward_weights "conv"(%x, %dc) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, brew.backward} : (tensor<1x1x4x4xf32>, tensor<1x2x2x2xf32>) -> (tensor<2x1x3x3xf32>, tensor<2xf32>)
  // CUDNN: %[[DW32:.*]] = brew.cast "conv"(%[[DW]]) {brew.backward} {{.*}} -> tensor<2x1x3x3xf32>
  // CHECK-NEXT: brew.store_gradient %[[DW32]], @conv.0
  // CHECK-NEXT: brew.store_gradient %[[DB]], @conv.1
  // CHECK-NEXT: brew.store_gradient %[[DV]], @ip.0
  brew.store_gradient %dw, @conv.0 : tensor<2x1x3x3xf32>
  brew.store_gradient %db, @conv.1 : tensor<2xf32>
  brew.store_gradient %dv, @ip.0 : tensor<3x2xf32>
}

// The solver's arithmetic does not change.
// CHECK-LABEL: brew.program @update
// CHECK-NOT: bf16
// CHECK: brew.store_state
brew.program @update train {
  %w = brew.param_value @ip.0 : tensor<3x2xf32>
  %g = brew.param_gradient @ip.0 : tensor<3x2xf32>
  %h = brew.param_state @ip.0[0] : tensor<3x2xf32>
  %s = brew.fill 1.0 : tensor<f32>
  %nw, %nh, %u = brew.sgd_update(%w, %g, %h, %s, %s, %s, %s) {lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L2>} : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
  %cw = brew.select_if_zero "ip"(%s, %nw, %w) : (tensor<f32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  brew.store_param %cw, @ip.0 : tensor<3x2xf32>
  brew.store_state %nh, @ip.0[0] : tensor<3x2xf32>
}

// -----

// Labels stay exact through operations that only move or map them; so do slices of a data
// layer's top. An activation that only sinks read is not rounded; one that has other readers is
// pinned rounded.
// CHECK-LABEL: brew.program @exact
brew.program @exact test {
  // CHECK: %[[IN:.*]]:2 = brew.data_input
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x4xf32>, tensor<2x2xf32>
  // CHECK-NEXT: %[[CUT:.*]] = brew.subview "slice"(%[[IN]]#1) {{.*}} -> tensor<2x1xf32>
  // CHECK-NEXT: %[[SHIFT:.*]] = brew.power "shift"(%[[CUT]]) {{.*}} -> tensor<2x1xf32>
  %c = brew.subview "slice"(%l) {offsets = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %s = brew.power "shift"(%c) {power = 1.0 : f32, scale = 1.0 : f32, shift = -1.0 : f32, tops = ["s"]} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[E32:.*]] = brew.exp "exp"(%[[IN]]#0)
  // CHECK-NEXT: %[[E:.*]] = brew.cast "exp"(%[[E32]]) {{.*}} -> tensor<2x4xbf16>
  // CHECK-NEXT: %[[EW:.*]] = brew.cast "exp"(%[[E]]) {{.*}} -> tensor<2x4xf32>
  %e = brew.exp "exp"(%x) {scale = 1.0 : f32, shift = 0.0 : f32, tops = ["e"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: brew.accuracy "accuracy"(%[[EW]], %[[SHIFT]])
  %a, %perclass, %status = brew.accuracy "accuracy"(%e, %s) {axis = 1 : i64, top_k = 1 : i64, tops = ["a"]} : (tensor<2x4xf32>, tensor<2x1xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<i32>)
  // CHECK-NEXT: %[[T:.*]] = brew.tanh "tanh"(%[[EW]])
  // CHECK-NEXT: brew.pin data "e", %[[EW]]
  // CHECK-NEXT: brew.output %[[T]] "t"
  %t = brew.tanh "tanh"(%e) {tops = ["t"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  brew.pin data "e", %e : tensor<2x4xf32>
  brew.output %t "t" loss_weight 0.0 : tensor<2x4xf32>
}

// -----

// A constant or a data layer's top that is concatenated with a narrow tensor becomes narrow.
// CHECK-LABEL: brew.program @joined
brew.program @joined test {
  // CHECK: %[[X:.*]] = brew.data_input
  // CHECK: %[[XN:.*]] = brew.cast "join"(%[[X]]) {{.*}} -> tensor<2x4xbf16>
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  // CHECK: %[[Z:.*]] = brew.fill 0.000000e+00 : tensor<2x4xbf16>
  %z = brew.fill 0.0 : tensor<2x4xf32>
  // CHECK: %[[T:.*]] = brew.cast "tanh"{{.*}} -> tensor<2x4xbf16>
  %t = brew.tanh "tanh"(%x) {tops = ["t"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: brew.concat_view "join"(%[[T]], %[[XN]], %[[Z]]) {{.*}} -> tensor<2x12xbf16>
  %j = brew.concat_view "join"(%t, %x, %z) {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  brew.output %j "j" loss_weight 0.0 : tensor<2x12xf32>
}

// -----

// Labels stay exact through a Filter and other layers that move them, and so does a selector
// that barely exceeds 0; other operands are rounded.
// CHECK-LABEL: brew.program @filtered
brew.program @filtered test {
  // CHECK: %[[IN:.*]]:3 = brew.data_input
  %x, %l, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l", "s"]} : tensor<2x4xf32>, tensor<1x2xf32>, tensor<2xf32>
  // CHECK-NEXT: %[[E:.*]] = brew.exp "exp"
  // CHECK-NEXT: %[[P:.*]] = brew.permute "permute"
  // CHECK-NEXT: %[[Y:.*]]:2, %[[COUNT:.*]], %{{.*}} = brew.filter "f"(%{{.*}}#0, %[[P]], %[[E]])
  // CHECK-NEXT: %[[YN:.*]] = brew.cast "f"(%[[Y]]#0) {{.*}} -> tensor<2x4xbf16>
  // CHECK-NEXT: %[[YW:.*]] = brew.cast "f"(%[[YN]])
  // CHECK-NEXT: %[[M:.*]] = brew.mask_items "a"(%[[Y]]#1, %[[COUNT]])
  // CHECK-NEXT: brew.accuracy "a"(%[[YW]], %[[M]])
  %e = brew.exp "exp"(%s) {scale = 1.0 : f32, shift = 0.0 : f32, tops = ["e"]} : (tensor<2xf32>) -> tensor<2xf32>
  %p = brew.permute "permute"(%l) {order = array<i64: 1, 0>, tops = ["p"]} : (tensor<1x2xf32>) -> tensor<2x1xf32>
  %y:2, %c, %position = brew.filter "f"(%x, %p, %e) {tops = ["y", "u"]} : (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<i32>, tensor<2xi32>)
  %m = brew.mask_items "a"(%y#1, %c) {fill = -5.0 : f64} : (tensor<2x1xf32>, tensor<i32>) -> tensor<2x1xf32>
  %a, %perclass, %status = brew.accuracy "a"(%y#0, %m) {axis = 1 : i64, top_k = 1 : i64, ignore_label = -5 : i64, tops = ["a"]} : (tensor<2x4xf32>, tensor<2x1xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<i32>)
  brew.output %a "a" loss_weight 0.0 : tensor<f32>
}

// -----

// An operation without a declaration (dialects/Brew/PrecisionInterface.td) keeps operands and
// results exact.
// CHECK-LABEL: brew.program @silent
brew.program @silent test {
  // CHECK: brew.data_input
  %x, %c = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "c"]} : tensor<2x4xf32>, tensor<f32>
  // CHECK-NEXT: %[[T:.*]] = brew.tanh "t"
  %t = brew.tanh "t"(%x) {tops = ["t"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[U:.*]] = brew.select_if_zero "u"(%{{.*}}, %[[T]], %{{.*}})
  %u = brew.select_if_zero "u"(%c, %t, %x) : (tensor<f32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: brew.tanh "v"(%[[U]])
  %v = brew.tanh "v"(%u) {tops = ["v"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  brew.output %v "v" loss_weight 0.0 : tensor<2x4xf32>
}

// -----

// Loops have narrow operands if the target's products do; otherwise the operands of their products
// are rounded, and the loop rounds the hidden state.

// CALLS-LABEL: brew.program @loop test
// CALLS: brew.rnn_steps {{.*}} : (tensor<3x2x5xbf16>, tensor<3x2xf32>, tensor<1x2x5xbf16>, tensor<5x5xbf16>) -> (tensor<3x2x5xf32>, tensor<1x2x5xbf16>, tensor<3x2x5xbf16>)
// WIDE-LABEL: brew.program @loop test
// WIDE: %[[NARROW:.*]] = brew.cast {{.*}} : (tensor<5x5xf32>) -> tensor<5x5xbf16>
// WIDE: %[[WIDE:.*]] = brew.cast {{.*}}(%[[NARROW]]) {{.*}} -> tensor<5x5xf32>
// WIDE: brew.rnn_steps "l"(%{{.*}}, %{{.*}}, %{{.*}}, %[[WIDE]]) {rounded = bf16, tops = []}
brew.param @l.2 : tensor<5x5xf32> {layer = "l", index = 2 : i64}
brew.program @loop test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2x5xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["c"]} : tensor<3x2xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x2x5xf32>
  %wh = brew.param_value @l.2 : tensor<5x5xf32>
  %y, %last, %hm = brew.rnn_steps "l"(%x, %cont, %h, %wh) {tops = []} : (tensor<3x2x5xf32>, tensor<3x2xf32>, tensor<1x2x5xf32>, tensor<5x5xf32>) -> (tensor<3x2x5xf32>, tensor<1x2x5xf32>, tensor<3x2x5xf32>)
  brew.output %y "y" loss_weight 0.0 : tensor<3x2x5xf32>
}
