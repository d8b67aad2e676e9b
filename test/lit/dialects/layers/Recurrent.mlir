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
  // CHECK: brew.lstm_unit "u"(%{{.*}}, %{{.*}}, %{{.*}}) {tops = ["c", "h"]}
  %u:7 = brew.lstm_unit "u"(%x, %x, %cont) {tops = ["c", "h"]} : (tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
}
