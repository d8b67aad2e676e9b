// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/shape/Resample.td

brew.program @main test {
  %x, %a = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "a"]} : tensor<1x4x2x2xf32>, tensor<1x4xf32>
  // CHECK: brew.shuffle_channel "s"(%[[X:.*]]) {group = 2 : i64, tops = ["s"]}
  %s = brew.shuffle_channel "s"(%x) {group = 2 : i64, tops = ["s"]} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.reorg "r"(%[[X]]) {reverse, stride = 2 : i64, tops = ["r"]}
  %r = brew.reorg "r"(%x) {reverse, stride = 2 : i64, tops = ["r"]} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.reorg_backward "r"(%{{.*}}) {reverse, stride = 2 : i64} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
  %dr = brew.reorg_backward "r"(%r) {reverse, stride = 2 : i64} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: brew.upsample "u"(%[[X]]) {scale = array<i64: 2, 3>, tops = ["u"]}
  %u = brew.upsample "u"(%x) {scale = array<i64: 2, 3>, tops = ["u"]} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.interp "i"(%[[X]]) {pad_beg = 0 : i64, pad_end = 0 : i64, shrink = 1 : i64, size = array<i64: 5, 7>, tops = ["i"], zoom = 1 : i64}
  %i = brew.interp "i"(%x) {size = array<i64: 5, 7>, zoom = 1 : i64, shrink = 1 : i64, pad_beg = 0 : i64, pad_end = 0 : i64, tops = ["i"]} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.interp "j"(%[[X]], %[[X]]) {pad_beg = -1 : i64
  %j = brew.interp "j"(%x, %x) {size = array<i64>, zoom = 1 : i64, shrink = 1 : i64, pad_beg = -1 : i64, pad_end = 0 : i64, tops = ["j"]} : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.interp_backward "i"(%{{.*}}) {pad_beg = 0 : i64, pad_end = 0 : i64} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
  %di = brew.interp_backward "i"(%i) {pad_beg = 0 : i64, pad_end = 0 : i64} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: brew.axpy "a"(%{{.*}}, %[[X]], %[[X]]) {tops = ["z"]}
  %z = brew.axpy "a"(%a, %x, %x) {tops = ["z"]} : (tensor<1x4xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.resize "e"(%[[X]]) {after = -5.000000e-01 : f32, axis = 2 : i64, before = 5.000000e-01 : f32, scale = array<f32: 1.000000e+00, 2.000000e+00>, single_reads_first, size = array<i64: 5, 0>, tops = ["e"]}
  %e = brew.resize "e"(%x) {size = array<i64: 5, 0>, scale = array<f32: 1.0, 2.0>, axis = 2 : i64, before = 0.5 : f32, after = -0.5 : f32, single_reads_first, tops = ["e"]} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  // CHECK: brew.resize_backward "e"(%{{.*}}) {after = 0.000000e+00 : f32, align_corners, axis = 1 : i64, before = 0.000000e+00 : f32, nearest, zero_outside} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
  %de = brew.resize_backward "e"(%e) {axis = 1 : i64, before = 0.0 : f32, after = 0.0 : f32, align_corners, nearest, zero_outside} : (tensor<*xf32>) -> tensor<1x4x2x2xf32>
}
