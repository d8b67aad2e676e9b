// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/BrewOps.td %source/dialects/Brew/BrewCore.td %source/dialects/Brew/layers/convolution/Convolution.td %source/dialects/Brew/layers/elementwise/Elementwise.td %source/dialects/Brew/layers/loss/Loss.td %source/dialects/Brew/layers/pooling/Pooling.td %source/dialects/Brew/layers/reduction/Reduction.td

// The assembly of every operation round-trips.

// CHECK: brew.param @conv.0 : tensor<*xf32> {decay_mult = 0.000000e+00 : f32, file_dims = array<i64: 2, 3>, filler = #plan.filler<"type: 'xavier'">, index = 0 : i64, layer = "conv", layer_type = "Convolution", lr_mult = 5.000000e-01 : f32, permissive, shared_name = "w", sharers = [#plan.sharer<"b"[0], "Convolution">]}
brew.param @conv.0 : tensor<*xf32> {layer = "conv", index = 0 : i64, file_dims = array<i64: 2, 3>, filler = #plan.filler<"type: 'xavier'">, lr_mult = 0.5 : f32, decay_mult = 0.0 : f32, shared_name = "w", sharers = [#plan.sharer<"b"[0], "Convolution">], permissive, layer_type = "Convolution"}
// Defaults are not printed.
// CHECK: brew.param @conv.1 : tensor<4xf64, #brew.layout<0>> {index = 1 : i64, layer = "conv"}
brew.param @conv.1 : tensor<4xf64, #brew.layout<0>> {layer = "conv", index = 1 : i64, lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, layer_type = ""}

// CHECK-LABEL: brew.program @forward_backward train differentiate attributes {blobs = {x = array<i64: 1, 2>}, caffe_bytes = 16 : i64, params = {conv = [array<i64: 2, 3>]}} {
brew.program @forward_backward train differentiate attributes {blobs = {x = array<i64: 1, 2>}, params = {conv = [array<i64: 2, 3>]}, caffe_bytes = 16 : i64} {
  // CHECK: %[[X:.*]]:2 = brew.data_input "in" "Data" {config = "name: 'in'", folder = "/a b", tops = ["x", "l"]} : tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<1xf32>
  %x, %l = brew.data_input "in" "Data" {config = "name: 'in'", folder = "/a b", tops = ["x", "l"]} : tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<1xf32>
  // CHECK: %[[W:.*]] = brew.param_value @conv.0 : tensor<2x2x3x3xf32>
  %w = brew.param_value @conv.0 : tensor<2x2x3x3xf32>
  // CHECK: %[[B:.*]] = brew.param_gradient @conv.1 : tensor<2xf32>
  %b = brew.param_gradient @conv.1 : tensor<2xf32>
  // CHECK: brew.param_state @conv.1[3] : tensor<2xf32>
  %h = brew.param_state @conv.1[3] : tensor<2xf32>
  // CHECK: brew.solver_scalar learning_rate : tensor<f32>
  %s0 = brew.solver_scalar learning_rate : tensor<f32>
  // CHECK: brew.solver_scalar momentum : tensor<f32>
  %s1 = brew.solver_scalar momentum : tensor<f32>
  // CHECK: brew.solver_scalar weight_decay : tensor<f64>
  %s2 = brew.solver_scalar weight_decay : tensor<f64>
  // CHECK: brew.solver_scalar gradient_scale : tensor<f32>
  %s3 = brew.solver_scalar gradient_scale : tensor<f32>
  // CHECK: %[[C:.*]] = brew.convolution "conv"(%[[X]]#0, %[[W]], %[[B]]) {dilation = array<i64: 1, 2>, group = 2 : i64, kernel = array<i64: 3, 1>, loss_weights = array<f32: 5.000000e-01>, num_output = 2 : i64, pad = array<i64: 0, 1>, propagate_down = array<i1: true, false>, relu = 2.500000e-01 : f32, stride = array<i64: 1, 2>, tops = ["c"]}
  %c = brew.convolution "conv"(%x, %w, %b) {num_output = 2 : i64, kernel = array<i64: 3, 1>, stride = array<i64: 1, 2>, pad = array<i64: 0, 1>, dilation = array<i64: 1, 2>, group = 2 : i64, relu = 0.25 : f32, loss_weights = array<f32: 0.5>, propagate_down = array<i1: true, false>, tops = ["c"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<2x2x3x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  // Without a bias:
  // CHECK: brew.convolution "plain"(%[[X]]#0, %[[W]]) {
  %c2 = brew.convolution "plain"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c2"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<2x2x3x3xf32>) -> tensor<*xf32>
  // CHECK: brew.convolution_sum "conv+sum"(%[[X]]#0, %[[W]], %[[S:.*]], %[[B]]) {dilation = array<i64: 1, 1>, group = 1 : i64, kernel = array<i64: 3, 3>, pad = array<i64: 0, 0>, relu = 2.500000e-01 : f32, stride = array<i64: 1, 1>, tops = ["s"]} :
  %cs = brew.convolution_sum "conv+sum"(%x, %w, %c2, %b) {tops = ["s"], kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, relu = 0.25 : f32} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<2x2x3x3xf32>, tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  // CHECK: brew.convolution_backward_data "conv"(%{{.*}}, %[[W]]) {dilation = array<i64: 1, 1>, group = 1 : i64, kernel = array<i64: 3, 3>, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>} :
  %dx = brew.convolution_backward_data "conv"(%c, %w) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<*xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: brew.convolution_backward_data "conv"(%{{.*}}, %[[W]], %{{.*}}) {dilation = array<i64: 1, 1>, group = 1 : i64, kernel = array<i64: 3, 3>, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>} :
  %dxs = brew.convolution_backward_data "conv"(%c, %w, %dx) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<*xf32>, tensor<2x2x3x3xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: %{{.*}}, %{{.*}} = brew.convolution_backward_weights "conv"
  %dw, %db = brew.convolution_backward_weights "conv"(%x, %c) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<*xf32>) -> (tensor<2x2x3x3xf32>, tensor<2xf32>)
  // CHECK: brew.deconvolution "deconv"{{.*}} {axis = 2 : i64, dilation = array<i64>, group = 1 : i64, kernel = array<i64: 3>, num_output = 2 : i64, pad = array<i64: 1>, pad_end = array<i64: -1>, same, stride = array<i64: 2>, tops = ["d"]}
  %d = brew.deconvolution "deconv"(%x, %w) {axis = 2 : i64, num_output = 2 : i64, kernel = array<i64: 3>, stride = array<i64: 2>, pad = array<i64: 1>, pad_end = array<i64: -1>, same, dilation = array<i64>, group = 1 : i64, tops = ["d"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<2x2x3x3xf32>) -> tensor<*xf32>
  // CHECK: brew.im2col "im"{{.*}} {dilation = array<i64>, kernel = array<i64: 3>, pad = array<i64>, stride = array<i64>, tops = ["im"]}
  %im = brew.im2col "im"(%x) {axis = 1 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, tops = ["im"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<*xf32>
  // CHECK: brew.col2im "im"
  %ci = brew.col2im "im"(%im) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>} : (tensor<*xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: %[[DW:.*]] = brew.deformable_windows "de"(%{{.*}}, %[[DO:.*]]) {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, offset_groups = 2 : i64, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>, tops = ["de"]}
  %do = brew.data_input "offsets" "Input" {config = "", folder = "", tops = ["o"]} : tensor<1x36x2x2xf32>
  %de = brew.deformable_windows "de"(%dx, %do) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, offset_groups = 2 : i64, tops = ["de"]} : (tensor<1x2x4x4xf32>, tensor<1x36x2x2xf32>) -> tensor<1x2x6x6xf32>
  // CHECK: brew.deformable_windows_backward "de"(%[[DW]], %[[DO]]) {dilation = array<i64: 1, 1>
  %ddx = brew.deformable_windows_backward "de"(%de, %do) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, offset_groups = 2 : i64} : (tensor<1x2x6x6xf32>, tensor<1x36x2x2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: brew.deformable_windows_backward_offsets "de"(%[[DW]], %{{.*}}, %[[DO]]) {dilation = array<i64: 1, 1>
  %ddo = brew.deformable_windows_backward_offsets "de"(%de, %dx, %do) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, offset_groups = 2 : i64} : (tensor<1x2x6x6xf32>, tensor<1x2x4x4xf32>, tensor<1x36x2x2xf32>) -> tensor<1x36x2x2xf32>
  // CHECK: brew.inner_product "ip"{{.*}} {axis = -1 : i64, num_output = 5 : i64, relu = 0.000000e+00 : f32, tops = ["i"], transpose}
  %i = brew.inner_product "ip"(%c, %w) {num_output = 5 : i64, axis = -1 : i64, transpose, relu = 0.0 : f32, tops = ["i"]} : (tensor<*xf32>, tensor<2x2x3x3xf32>) -> tensor<2x5xf32>
  // CHECK: brew.inner_product_backward_data "ip"{{.*}} {axis = 1 : i64, transpose}
  %dx2 = brew.inner_product_backward_data "ip"(%i, %w) {axis = 1 : i64, transpose} : (tensor<2x5xf32>, tensor<2x2x3x3xf32>) -> tensor<*xf32>
  // CHECK: brew.inner_product_backward_weights "ip"{{.*}} {axis = 1 : i64}
  %dw2 = brew.inner_product_backward_weights "ip"(%c, %i) {axis = 1 : i64} : (tensor<*xf32>, tensor<2x5xf32>) -> tensor<*xf32>
  // CHECK: brew.max_pooling "max"{{.*}} {floor, global, kernel = array<i64: 2, 2>
  %p, %argmax = brew.max_pooling "max"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, global, floor, tops = ["p"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> (tensor<*xf32>, tensor<*xi8>)
  // CHECK: brew.max_pooling "masked"{{.*}} {bins = 2 : i64,{{.*}} -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi8>)
  %pm, %mask, %argmax2 = brew.max_pooling "masked"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, bins = 2 : i64, tops = ["pm", "mask"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi8>)
  // CHECK: brew.max_unpooling "un"{{.*}} {pad_out = array<i64: 0, 1>, scale = array<i64: 2, 2>, size = array<i64>, tops = ["un"]} : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  %un, %us = brew.max_unpooling "un"(%pm, %mask) {size = array<i64>, scale = array<i64: 2, 2>, pad_out = array<i64: 0, 1>, tops = ["un"]} : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.max_unpooling_backward "un"
  %dun = brew.max_unpooling_backward "un"(%un, %mask) : (tensor<*xf32>, tensor<*xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: brew.max_pooling_backward "max"
  %dp = brew.max_pooling_backward "max"(%p, %argmax) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>} : (tensor<*xf32>, tensor<*xi8>) -> tensor<1x2x4x4xf32>
  // CHECK: brew.average_pooling "ave"
  %v = brew.average_pooling "ave"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["v"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<*xf32>
  // CHECK: brew.average_pooling_backward "ave"
  %dv = brew.average_pooling_backward "ave"(%v) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>} : (tensor<*xf32>) -> tensor<1x2x4x4xf32>
  // CHECK: brew.random_key "key" : tensor<2xi32>
  %key = brew.random_key "key" : tensor<2xi32>
  // CHECK: brew.constant "loss" "loss class weights" dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %classes = brew.constant "loss" "loss class weights" dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: brew.stochastic_pooling "sp"(%[[X]]#0, %{{.*}}) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0>, stride = array<i64: 2, 2>, tops = ["sp"]}
  %drawn, %chosen = brew.stochastic_pooling "sp"(%x, %key) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["sp"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<2xi32>) -> (tensor<*xf32>, tensor<*xi8>)
  // CHECK: brew.weighted_pooling "wp"(%[[X]]#0)
  %wp = brew.weighted_pooling "wp"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["wp"]} : (tensor<1x2x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<*xf32>
  // CHECK: brew.relu "relu"{{.*}} {negative_slope = 1.000000e-01 : f32, tops = ["r"]}
  %r = brew.relu "relu"(%p) {negative_slope = 0.1 : f32, tops = ["r"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.power "power"{{.*}} {power = 2.000000e+00 : f32, scale = 3.000000e+00 : f32, shift = 4.000000e+00 : f32, tops = ["q"]}
  %q = brew.power "power"(%r) {power = 2.0 : f32, scale = 3.0 : f32, shift = 4.0 : f32, tops = ["q"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.bias "bias"{{.*}} {axis = 1 : i64, num_axes = -1 : i64, tops = ["bias"]}
  %bias = brew.bias "bias"(%q, %b) {axis = 1 : i64, num_axes = -1 : i64, tops = ["bias"]} : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  // CHECK: brew.scale "scale"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64, num_axes = -1 : i64, tops = ["scale"]}
  %scale = brew.scale "scale"(%q, %b, %b) {axis = 1 : i64, num_axes = -1 : i64, tops = ["scale"]} : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  // CHECK: brew.eltwise "prod"{{.*}}kind = #brew<eltwise_kind prod>
  %e0 = brew.eltwise "prod"(%q, %r, %r) {kind = #brew<eltwise_kind prod>, coeff = array<f32>, tops = ["e0"]} : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.eltwise "sum"{{.*}}coeff = array<f32: 1.000000e+00, -2.000000e+00>, kind = #brew<eltwise_kind sum>
  %e1 = brew.eltwise "sum"(%q, %r) {kind = #brew<eltwise_kind sum>, coeff = array<f32: 1.0, -2.0>, tops = ["e1"]} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.eltwise "max"{{.*}}kind = #brew<eltwise_kind max>
  %e2 = brew.eltwise "max"(%q, %r) {kind = #brew<eltwise_kind max>, coeff = array<f32>, tops = ["e2"]} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.reduction "sum"{{.*}} {axis = 0 : i64, coeff = 2.000000e+00 : f32, kind = #brew<reduction_kind sum>
  %t0 = brew.reduction "sum"(%q) {kind = #brew<reduction_kind sum>, axis = 0 : i64, coeff = 2.0 : f32, tops = ["t0"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: #brew<reduction_kind asum>
  %t1 = brew.reduction "asum"(%q) {kind = #brew<reduction_kind asum>, axis = 0 : i64, coeff = 2.0 : f32, tops = ["t1"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: #brew<reduction_kind sumsq>
  %t2 = brew.reduction "sumsq"(%q) {kind = #brew<reduction_kind sumsq>, axis = 0 : i64, coeff = 2.0 : f32, tops = ["t2"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: #brew<reduction_kind mean>
  %t3 = brew.reduction "mean"(%q) {kind = #brew<reduction_kind mean>, axis = 0 : i64, coeff = 2.0 : f32, tops = ["t3"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: %[[S:.*]] = brew.softmax "soft"{{.*}} {axis = 1 : i64, tops = ["s"]}
  %s = brew.softmax "soft"(%q) {axis = 1 : i64, tops = ["s"]} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.softmax_backward "soft"(%[[S]], %{{.*}}) {axis = 1 : i64}
  %ds = brew.softmax_backward "soft"(%s, %q) {axis = 1 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: %[[LOSS:.*]], %[[P:.*]], %[[N:.*]], %[[STATUS:.*]] = brew.softmax_loss "loss"{{.*}} {axis = 1 : i64, ignore_label = 255 : i64, loss_weights = array<f32: 1.000000e+00>, normalization = #brew<normalization full>, tops = ["loss"]}
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%i, %l) {axis = 1 : i64, ignore_label = 255 : i64, normalization = #brew<normalization full>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<2x5xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<*xf32>, tensor<*xf32>, tensor<i32>)
  // CHECK: #brew<normalization batch_size>
  %loss2:4 = brew.softmax_loss "loss2"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization batch_size>, tops = ["loss2"]} : (tensor<2x5xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<*xf32>, tensor<*xf32>, tensor<i32>)
  // CHECK: #brew<normalization none>
  %loss3:4 = brew.softmax_loss "loss3"(%i, %l) {axis = 1 : i64, normalization = #brew<normalization none>, tops = ["loss3"]} : (tensor<2x5xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<*xf32>, tensor<*xf32>, tensor<i32>)
  // CHECK: brew.softmax_loss "loss4"(%{{.*}}, %{{.*}}, %[[CW:.*]]) {axis
  %cw = brew.data_input "loss4" "SoftmaxWithLoss" {config = "", folder = "", tops = []} : tensor<5xf32>
  %loss4:4 = brew.softmax_loss "loss4"(%i, %l, %cw) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["loss4"]} : (tensor<2x5xf32>, tensor<1xf32>, tensor<5xf32>) -> (tensor<f32>, tensor<*xf32>, tensor<*xf32>, tensor<i32>)
  // CHECK: brew.softmax_loss_backward "loss4"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[CW]]) {axis = 1 : i64}
  %dl4 = brew.softmax_loss_backward "loss4"(%loss4#1, %l, %loss4#2, %loss4#0, %cw) {axis = 1 : i64} : (tensor<*xf32>, tensor<1xf32>, tensor<*xf32>, tensor<f32>, tensor<5xf32>) -> tensor<*xf32>
  // CHECK: brew.softmax_loss_backward "loss"(%[[P]], %{{.*}}, %[[N]], %[[LOSS]]) {axis = 1 : i64, ignore_label = 255 : i64}
  %dl = brew.softmax_loss_backward "loss"(%prob, %l, %n, %loss) {axis = 1 : i64, ignore_label = 255 : i64} : (tensor<*xf32>, tensor<1xf32>, tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  // CHECK: brew.check_labels %[[STATUS]], %{{.*}} limit 5 layer "loss" blob "l" : tensor<i32>, tensor<1xf32>
  brew.check_labels %status, %l limit 5 layer "loss" blob "l" : tensor<i32>, tensor<1xf32>
  // CHECK: brew.label_losses "each"(%[[P]], %{{.*}}) {axis = 1 : i64, ignore_label = 255 : i64, tops = ["each"]}
  %each = brew.label_losses "each"(%prob, %l) {axis = 1 : i64, ignore_label = 255 : i64, tops = ["each"]} : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
  // CHECK: brew.accuracy "acc"{{.*}} {axis = 1 : i64, ignore_label = 3 : i64, top_k = 5 : i64, tops = ["a"]}
  %a, %per, %st = brew.accuracy "acc"(%i, %l) {axis = 1 : i64, top_k = 5 : i64, ignore_label = 3 : i64, tops = ["a"]} : (tensor<2x5xf32>, tensor<1xf32>) -> (tensor<f32>, tensor<*xf32>, tensor<i32>)
  // CHECK: brew.split "split"
  %sp:2 = brew.split "split"(%q) {tops = ["sp0", "sp1"]} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.silence "quiet"(%{{.*}}#0, %{{.*}}#1) {tops = []}
  brew.silence "quiet"(%sp#0, %sp#1) {tops = []} : (tensor<*xf32>, tensor<*xf32>) -> ()
  // CHECK: brew.fill 1.500000e+00 : tensor<f32>
  %f = brew.fill 1.5 : tensor<f32>
  // CHECK: brew.reinterpret %{{.*}} : tensor<2x5xf32> -> tensor<10xf32>
  %re = brew.reinterpret %i : tensor<2x5xf32> -> tensor<10xf32>
  // CHECK: brew.sgd_update(%{{.*}}, %{{.*}}) {decay_mult = 1.000000e+00 : f32, lr_mult = 2.000000e+00 : f32, regularization = #brew<regularization L1>}
  %nw, %nh, %u = brew.sgd_update(%b, %b, %h, %s0, %s1, %s0, %s3) {lr_mult = 2.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: brew.store_param %{{.*}}, @conv.1 : tensor<2xf32>
  brew.store_param %nw, @conv.1 : tensor<2xf32>
  // CHECK: brew.store_gradient %{{.*}}, @conv.1 : tensor<2xf32>
  brew.store_gradient %db, @conv.1 : tensor<2xf32>
  // CHECK: brew.store_state %{{.*}}, @conv.1[3] : tensor<2xf32>
  brew.store_state %nh, @conv.1[3] : tensor<2xf32>
  // CHECK: brew.output %[[LOSS]] "loss" loss_weight 1.000000e+00 : tensor<f32>
  brew.output %loss "loss" loss_weight 1.0 : tensor<f32>
  // CHECK: brew.output %{{.*}} "i" loss_weight 2.500000e-01 unreported : tensor<2x5xf32>
  brew.output %i "i" loss_weight 0.25 unreported : tensor<2x5xf32>
  // CHECK: brew.pin diff "w", %{{.*}} : tensor<2x2x3x3xf32>
  brew.pin diff "w", %dw : tensor<2x2x3x3xf32>
  // CHECK: brew.pin_layer_value bottom_diff 3[1], %{{.*}} : tensor<2x2x3x3xf32>
  brew.pin_layer_value bottom_diff 3[1], %dw : tensor<2x2x3x3xf32>
  // CHECK: brew.kernel "k"(%{{.*}}) {backward, layers = ["a", "b"]} : (tensor<2x5xf32>) -> tensor<2x5xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x5xf32>):
  // CHECK-NEXT: brew.yield %[[A]] : tensor<2x5xf32>
  %k = brew.kernel "k"(%i) {backward, layers = ["a", "b"]} : (tensor<2x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%k0: tensor<2x5xf32>):
    brew.yield %k0 : tensor<2x5xf32>
  }
  // CHECK: brew.kernel "empty"() : () -> () {
  // CHECK-NEXT: brew.yield
  brew.kernel "empty"() : () -> () {
    brew.yield
  }
}
// CHECK-LABEL: brew.program @test_0 test role test {
brew.program @test_0 test role test {
}
// CHECK-LABEL: brew.program @main test {
brew.program @main test role main {
}

// CHECK-LABEL: brew.program @loop test
brew.program @loop test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2x4xf32>
  %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["w"]} : tensor<4x4xf32>
  %zero = brew.data_input "in" "Input" {config = "", folder = "", tops = ["zero"]} : tensor<1x2x4xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = brew.loop "l" 3 reverse last_iteration_steps 1 sequences(%{{.*}} : tensor<3x2x4xf32>) invariants(%{{.*}} : tensor<4x4xf32>) initial(%{{.*}} : tensor<1x2x4xf32>) stacked(tensor<3x2x4xf32>) carried(tensor<1x2x4xf32>) scratch(tensor<1x2x4xf32>) {
  %y, %last, %p = brew.loop "l" 3 reverse last_iteration_steps 1 sequences(%x : tensor<3x2x4xf32>) invariants(%w : tensor<4x4xf32>) initial(%zero : tensor<1x2x4xf32>) stacked(tensor<3x2x4xf32>) carried(tensor<1x2x4xf32>) scratch(tensor<1x2x4xf32>) {
  ^bb0(%item: tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>, %weights: tensor<4x4xf32>, %carried: tensor<1x2x4xf32>):
    %product = brew.inner_product "l"(%carried, %weights) {axis = 2 : i64, num_output = 4 : i64, tops = []} : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32>
    %k:2 = brew.kernel "k"(%product, %item) : (tensor<1x2x4xf32>, tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>) -> (tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>, tensor<1x2x4xf32>) {
    ^bb0(%a: tensor<1x2x4xf32>, %b: tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>):
      brew.yield %b, %a : tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>, tensor<1x2x4xf32>
    }
    brew.yield %k#0, %k#1, %product : tensor<1x2x4xf32, {strides = array<i64: 8, 4, 1>}>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  }
}
