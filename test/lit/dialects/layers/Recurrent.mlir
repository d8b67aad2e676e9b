// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/recurrent/Recurrent.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x2x3xf32>
  %cont = brew.data_input "in" "Input" {config = "", folder = "", tops = ["cont"]} : tensor<4x2xf32>
  %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["w"]} : tensor<20x3xf32>
  // CHECK: brew.lstm "l"(%{{.*}}, %{{.*}}, %{{.*}}) {expose_hidden, has_static, num_output = 5 : i64, tops = ["y"]}
  %y = brew.lstm "l"(%x, %cont, %w) {expose_hidden, has_static, num_output = 5 : i64, tops = ["y"]} : (tensor<4x2x3xf32>, tensor<4x2xf32>, tensor<20x3xf32>) -> tensor<*xf32>
  // CHECK: brew.rnn "r"(%{{.*}}, %{{.*}}) {num_output = 5 : i64, tops = ["z"]}
  %z = brew.rnn "r"(%x, %cont) {num_output = 5 : i64, tops = ["z"]} : (tensor<4x2x3xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  // CHECK: brew.lstm "m"(%{{.*}}, %{{.*}}) {complete_sequences, gradient_limit = 5.000000e-01 : f32, num_output = 5 : i64, tops = []}
  %m = brew.lstm "m"(%x, %w) {complete_sequences, gradient_limit = 0.5 : f32, num_output = 5 : i64, tops = []} : (tensor<4x2x3xf32>, tensor<20x3xf32>) -> tensor<*xf32>
  // CHECK: brew.conv_lstm "e"(%{{.*}}, %{{.*}}) {dilation = array<i64: 1, 1>, group = 2 : i64, ignore_x, kernel = array<i64: 3, 1>, num_output = 4 : i64, pad = array<i64: 1, 0>, peephole_axes = 2 : i64, peephole_axis = 3 : i64, stride = array<i64: 1, 1>, tops = ["e"]}
  %e = brew.conv_lstm "e"(%x, %cont) {dilation = array<i64: 1, 1>, group = 2 : i64, ignore_x, kernel = array<i64: 3, 1>, num_output = 4 : i64, pad = array<i64: 1, 0>, peephole_axes = 2 : i64, peephole_axis = 3 : i64, stride = array<i64: 1, 1>, tops = ["e"]} : (tensor<4x2x3xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  // CHECK: brew.mean_field "f"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {classes = 3 : i64, iterations = 2 : i64, settings = "s", test_phase, tops = ["f"]}
  %f = brew.mean_field "f"(%x, %x, %x, %w, %w, %w) {classes = 3 : i64, iterations = 2 : i64, settings = "s", test_phase, tops = ["f"]} : (tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<20x3xf32>, tensor<20x3xf32>, tensor<20x3xf32>) -> tensor<*xf32>
  // CHECK: brew.run_count "n"() {first = 2 : i64, tops = []}
  %n = brew.run_count "n"() {first = 2 : i64, tops = []} : () -> tensor<*xf32>
  // CHECK: brew.lstm_unit "u"(%{{.*}}, %{{.*}}, %{{.*}}) {tops = ["c", "h"]}
  %u:7 = brew.lstm_unit "u"(%x, %x, %cont) {tops = ["c", "h"]} : (tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %gates = brew.data_input "in" "Input" {config = "", folder = "", tops = ["g"]} : tensor<4x2x20xf32>
  %h = brew.data_input "in" "Input" {config = "", folder = "", tops = ["h"]} : tensor<1x2x5xf32>
  %wh = brew.data_input "in" "Input" {config = "", folder = "", tops = ["wh"]} : tensor<20x5xf32>
  // CHECK: brew.lstm_steps "s"(%{{.*}}, %{{.*}}, %[[H:.*]], %[[H]], %{{.*}}) {tops = ["y"]}
  %s:10 = brew.lstm_steps "s"(%gates, %cont, %h, %h, %wh) {tops = ["y"]} : (tensor<4x2x20xf32>, tensor<4x2xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<20x5xf32>) -> (tensor<4x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>)
  // CHECK: brew.lstm_steps_backward "s" dy %{{.*}} dc_last %[[H]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
  %b:3 = brew.lstm_steps_backward "s" dy %s#0 dc_last %h(%cont, %wh, %s#4, %s#5, %s#6, %s#7, %s#8, %s#9) : (tensor<4x2x5xf32>, tensor<1x2x5xf32>, tensor<4x2xf32>, tensor<20x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>, tensor<4x2x5xf32>) -> (tensor<4x2x20xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  %v = brew.data_input "in" "Input" {config = "", folder = "", tops = ["v"]} : tensor<5x5xf32>
  // CHECK: brew.rnn_steps "t"(%{{.*}}, %{{.*}}, %[[H]], %{{.*}}) {tops = []}
  %t:3 = brew.rnn_steps "t"(%s#0, %cont, %h, %v) {tops = []} : (tensor<4x2x5xf32>, tensor<4x2xf32>, tensor<1x2x5xf32>, tensor<5x5xf32>) -> (tensor<4x2x5xf32>, tensor<1x2x5xf32>, tensor<4x2x5xf32>)
  // CHECK: brew.rnn_steps_backward "t" dh_last %[[H]](%{{.*}}, %{{.*}}, %{{.*}}) :
  %r:2 = brew.rnn_steps_backward "t" dh_last %h(%cont, %v, %t#0) : (tensor<1x2x5xf32>, tensor<4x2xf32>, tensor<5x5xf32>, tensor<4x2x5xf32>) -> (tensor<4x2x5xf32>, tensor<1x2x5xf32>)
}
