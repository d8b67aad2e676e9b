// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s plan %source/dialects/Plan/Plan.td

// The assembly of every operation round-trips.

// CHECK: plan.arena transient size 256
plan.arena transient size 256
// CHECK: plan.arena parameters size 64
plan.arena parameters size 64
// CHECK: plan.arena gradients size 64
plan.arena gradients size 64
// CHECK: plan.arena state size 64
plan.arena state size 64
// CHECK: plan.arena scalars size 1024
plan.arena scalars size 1024
// CHECK: plan.arena constants size 64
plan.arena constants size 64
// CHECK: plan.constant[0] dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
plan.constant[0] dense<[1.0, 2.0]> : tensor<2xf32>
// CHECK: plan.param @ip.0[64] : memref<4x4xf32, strided<[1, 4]>> {decay_mult = 1.000000e+00 : f32, file_dims = array<i64: 4, 4>, filler = #plan.filler<"type: 'xavier'">, index = 0 : i64, layer = "ip", layer_type = "InnerProduct", lr_mult = 2.000000e+00 : f32, shared_name = "w", sharers = [#plan.sharer<"b"[0], "InnerProduct">], state_slots = 1 : i64}
plan.param @ip.0[64] : memref<4x4xf32, strided<[1, 4]>> {layer = "ip", index = 0 : i64, file_dims = array<i64: 4, 4>, filler = #plan.filler<"type: 'xavier'">, lr_mult = 2.0 : f32, decay_mult = 1.0 : f32, shared_name = "w", sharers = [#plan.sharer<"b"[0], "InnerProduct">], layer_type = "InnerProduct", state_slots = 1 : i64}
// CHECK: plan.kernel @k attributes {in_place = array<i64: -1>, layers = ["a", "b"]} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
// CHECK-NEXT: brew.yield %[[A]] : tensor<4xf32>
plan.kernel @k attributes {in_place = array<i64: -1>, layers = ["a", "b"]} {
^bb0(%a: tensor<4xf32>):
  brew.yield %a : tensor<4xf32>
}
// CHECK-LABEL: plan.program @main attributes {arena_bytes = 256 : i64, blobs = {x = array<i64: 4>}, caffe_bytes = 32 : i64, lower_bound_bytes = 128 : i64, params = {}, test_phase} {
plan.program @main attributes {arena_bytes = 256 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 32 : i64, blobs = {x = array<i64: 4>}, params = {}, test_phase} {
  // CHECK: %[[X:.*]] = plan.buffer "x" transient[0] live [0, 3] pinned : memref<4xf32>
  %x = plan.buffer "x" transient[0] live [0, 3] pinned : memref<4xf32>
  // CHECK: %[[Y:.*]] = plan.buffer "y" parameters[64] : memref<4xf32>
  %y = plan.buffer "y" parameters[64] : memref<4xf32>
  %i = plan.buffer "st" transient[64] live [0, 0] : memref<i32>
  %n = plan.buffer "n" transient[128] live [0, 0] : memref<1x1x4x4xf32>
  %w = plan.buffer "w" transient[128] live [0, 0] : memref<1x1x1x1xf32>
  // CHECK: plan.data_input "in" "Data"(%[[X]], %{{.*}}) {config = "name: 'in'", folder = "/a b"} : memref<4xf32>, memref<i32>
  plan.data_input "in" "Data"(%x, %i) {config = "name: 'in'", folder = "/a b"} : memref<4xf32>, memref<i32>
  // CHECK: plan.launch @k(%[[X]], %[[Y]]) {backward, layers = ["a"]} : memref<4xf32>, memref<4xf32>
  plan.launch @k(%x, %y) {layers = ["a"], backward} : memref<4xf32>, memref<4xf32>
  // CHECK: plan.convolution forward x %[[N:.*]] w %[[W:.*]] b %[[X]] y %[[N]] {dilation = array<i64: 1, 1>, flops = 7 : i64, group = 1 : i64, kernel = array<i64: 1, 1>, layers = ["c"], pad = array<i64: 0, 0>, relu = 5.000000e-01 : f32, stride = array<i64: 1, 1>} :
  plan.convolution forward x %n w %w b %x y %n {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, relu = 0.5 : f32, layers = ["c"], flops = 7 : i64} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>, memref<4xf32>, memref<1x1x4x4xf32>
  // CHECK: plan.convolution forward x %[[N]] w %[[W]] b %[[X]] sum %[[N]] y %[[N]] {
  plan.convolution forward x %n w %w b %x sum %n y %n {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, relu = 0.5 : f32, layers = ["c"], flops = 7 : i64} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>, memref<4xf32>, memref<1x1x4x4xf32>, memref<1x1x4x4xf32>
  // CHECK: plan.convolution backward_data x %[[N]] w %[[W]] y %[[N]] {backward, dilation
  plan.convolution backward_data x %n w %w y %n {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, backward} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>, memref<1x1x4x4xf32>
  // CHECK: plan.inner_product backward_weights x %[[N]] w %[[N]] y %[[N]] {axis = 1 : i64, transpose} :
  plan.inner_product backward_weights x %n w %n y %n {axis = 1 : i64, transpose} : memref<1x1x4x4xf32>, memref<1x1x4x4xf32>, memref<1x1x4x4xf32>
  // CHECK: plan.copy %[[X]] to %[[Y]] : memref<4xf32>, memref<4xf32>
  plan.copy %x to %y : memref<4xf32>, memref<4xf32>
  // CHECK: plan.host_call backward_data "m.L" "h"(%[[X]], %[[Y]], %[[Y]], %[[X]]) {backward, flops = 0 : i64, gradients_of = array<i64: 0>, layers = ["h"], operandSegmentSizes = array<i32: 1, 1, 1, 1>, param_str = "p", settings = "s"} : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  plan.host_call backward_data "m.L" "h"(%x, %y, %y, %x) {settings = "s", param_str = "p", gradients_of = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1>, layers = ["h"], backward, flops = 0 : i64} : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  // CHECK: plan.all_reduce_start 1(%[[X]]) to(%[[Y]]) {backward, flops = 0 : i64} : memref<4xf32> to memref<4xf32>
  plan.all_reduce_start 1(%x) to(%y) {backward, flops = 0 : i64} : memref<4xf32> to memref<4xf32>
  // CHECK: plan.all_reduce_wait 1(%[[Y]]) : memref<4xf32>
  plan.all_reduce_wait 1(%y) : memref<4xf32>
  // CHECK: plan.all_reduce_start 2(%[[X]]) to(%[[Y]]) {statistic, transfer_type = bf16} : memref<4xf32> to memref<4xf32>
  plan.all_reduce_start 2(%x) to(%y) {statistic, transfer_type = bf16} : memref<4xf32> to memref<4xf32>
  // CHECK: plan.all_reduce_wait 2(%[[Y]]) {statistic} : memref<4xf32>
  plan.all_reduce_wait 2(%y) {statistic} : memref<4xf32>
  // CHECK: plan.loop 3 last_iteration_steps 1 reads(%[[X]] : memref<4xf32>) initial(%{{.*}} : memref<4xf32>) carried(%{{.*}} : memref<4xf32>) writes(%{{.*}} : memref<4xf32>) attributes {layers = ["l"]} {
  // CHECK: plan.launch @k(%{{.*}}, %{{.*}}) {strides = array<i64: 0, -16>}
  plan.loop 3 last_iteration_steps 1 reads(%x : memref<4xf32>) initial(%y : memref<4xf32>) carried(%y : memref<4xf32>) writes(%y : memref<4xf32>) attributes {layers = ["l"]} {
    plan.launch @k(%x, %y) {strides = array<i64: 0, -16>} : memref<4xf32>, memref<4xf32>
  }
  %key = plan.buffer "drop.random_key" transient[192] live [0, 0] : memref<2xi32>
  // CHECK: plan.random_key "drop", %{{.*}} : memref<2xi32>
  plan.random_key "drop", %key : memref<2xi32>
  // CHECK: plan.output_gradient "x", %[[X]] : memref<4xf32>
  plan.output_gradient "x", %x : memref<4xf32>
  // CHECK: plan.output %[[X]] "x" loss_weight 5.000000e-01 unreported : memref<4xf32>
  plan.output %x "x" loss_weight 0.5 unreported : memref<4xf32>
  // CHECK: plan.pin diff "x", %[[X]] : memref<4xf32>
  plan.pin diff "x", %x : memref<4xf32>
  // CHECK: plan.pin_layer_value top 0[2], %[[X]] : memref<4xf32>
  plan.pin_layer_value top 0[2], %x : memref<4xf32>
  // CHECK: plan.check_labels %{{.*}}, %[[X]] limit 10 layer "loss" blob "l" : memref<i32>, memref<4xf32>
  plan.check_labels %i, %x limit 10 layer "loss" blob "l" : memref<i32>, memref<4xf32>
}
