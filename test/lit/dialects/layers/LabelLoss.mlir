// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/loss/LabelLoss.td

// CHECK-LABEL: brew.program @p train
brew.program @p train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x3xf32>
  %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l"]} : tensor<4xf32>
  %h = brew.data_input "in" "InfogainLoss" {config = "", folder = "", tops = []} : tensor<3x3xf32>
  // CHECK: brew.hinge_loss "h"(%{{.*}}, %{{.*}}) {squared, tops = ["h"]}
  %a, %sa = brew.hinge_loss "h"(%x, %l) {squared, tops = ["h"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.hinge_loss "h"(%{{.*}}, %{{.*}}) {ignore_label = 2 : i64, tops = ["g"]}
  %g, %sg = brew.hinge_loss "h"(%x, %l) {ignore_label = 2 : i64, tops = ["g"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.multinomial_logistic_loss "m"(%{{.*}}, %{{.*}}) {tops = ["m"]}
  %m, %sm = brew.multinomial_logistic_loss "m"(%x, %l) {tops = ["m"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
  // CHECK: brew.infogain_loss "i"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64, ignore_label = 2 : i64, normalization = #brew<normalization full>, tops = ["i"]}
  %i:4 = brew.infogain_loss "i"(%x, %l, %h) {axis = 1 : i64, ignore_label = 2 : i64, normalization = #brew<normalization full>, tops = ["i"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<3x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}
