// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/elementwise/Neuron.td

brew.param @p.0 : tensor<3xf32> {layer = "p", index = 0 : i64}
brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @p.0 : tensor<3xf32>
  // CHECK: brew.absval "n"(%{{.*}}) {tops = ["a"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  %a = brew.absval "n"(%x) {tops = ["a"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.bnll "n"(%{{.*}}) {tops = ["b"]}
  %b = brew.bnll "n"(%x) {tops = ["b"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.clip "n"(%{{.*}}) {max = 2.000000e+00 : f32, min = -1.000000e+00 : f32, tops = ["c"]}
  %c = brew.clip "n"(%x) {min = -1.0 : f32, max = 2.0 : f32, tops = ["c"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.dropout "n"(%{{.*}}, %{{.*}}) {ratio = 5.000000e-01 : f32, tops = ["q"]} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<*xf32>
  %key = brew.random_key "n" : tensor<2xi32>
  %q = brew.dropout "n"(%x, %key) {ratio = 0.5 : f32, tops = ["q"]} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<*xf32>
  // CHECK: brew.elu "n"(%{{.*}}) {alpha = 5.000000e-01 : f32, tops = ["d"]}
  %d = brew.elu "n"(%x) {alpha = 0.5 : f32, tops = ["d"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.exp "n"(%{{.*}}) {base = 2.000000e+00 : f32, scale = 3.000000e+00 : f32, shift = 4.000000e+00 : f32, tops = ["e"]}
  %e = brew.exp "n"(%x) {base = 2.0 : f32, scale = 3.0 : f32, shift = 4.0 : f32, tops = ["e"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.hard_swish "n"(%{{.*}}) {tops = ["f"]}
  %f = brew.hard_swish "n"(%x) {tops = ["f"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.log "n"(%{{.*}}) {scale = 3.000000e+00 : f32, shift = 4.000000e+00 : f32, tops = ["g"]}
  %g = brew.log "n"(%x) {scale = 3.0 : f32, shift = 4.0 : f32, tops = ["g"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.prelu "n"(%{{.*}}, %{{.*}}) {tops = ["h"]}
  %h = brew.prelu "n"(%x, %w) {tops = ["h"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  // CHECK: brew.prelu "n"(%{{.*}}, %{{.*}}) {channel_shared, loss_weights = array<f32: 2.000000e+00>, propagate_down = array<i1: false>, tops = ["i"]}
  %i = brew.prelu "n"(%x, %w) {channel_shared, loss_weights = array<f32: 2.0>, propagate_down = array<i1: false>, tops = ["i"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  // CHECK: brew.relu6 "n"(%{{.*}}) {negative_slope = 2.500000e-01 : f32, tops = ["j"]}
  %j = brew.relu6 "n"(%x) {negative_slope = 0.25 : f32, tops = ["j"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.sigmoid "n"(%{{.*}}) {tops = ["k"]}
  %k = brew.sigmoid "n"(%x) {tops = ["k"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.swish "n"(%{{.*}}) {beta = 2.000000e+00 : f32, tops = ["l"]}
  %l = brew.swish "n"(%x) {beta = 2.0 : f32, tops = ["l"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.tanh "n"(%{{.*}}) {tops = ["m"]}
  %m = brew.tanh "n"(%x) {tops = ["m"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.threshold "n"(%{{.*}}) {threshold = 5.000000e-01 : f32, tops = ["o"]}
  %o = brew.threshold "n"(%x) {threshold = 0.5 : f32, tops = ["o"]} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: brew.mish "n"(%{{.*}}) {tops = ["mish"]}
  %mish = brew.mish "n"(%x) {tops = ["mish"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}
