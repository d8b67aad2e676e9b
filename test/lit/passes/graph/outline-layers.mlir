// RUN: %brew-opt %s --brew-outline-layers | FileCheck %s

// CHECK: brew.param @ip.0
brew.param @ip.0 : tensor<5x3xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 5, 3>}
brew.param @bn.0 : tensor<5xf32> {layer = "bn", index = 0 : i64, file_dims = array<i64: 5>, lr_mult = 0.0 : f32}

// CHECK-NOT: brew.program @main
brew.program @main train differentiate {
  %x = brew.data_input "x" "Input" {config = "name: 'x' type: 'Input' top: 'x'", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %t = brew.data_input "t" "Data" {config = "name: 't' type: 'Data' top: 't'", folder = "", tops = ["t"]} : tensor<2x5xf32>
  %w = brew.param_value @ip.0 : tensor<5x3xf32>
  %y = brew.inner_product "ip"(%x, %w) {axis = 1 : i64, num_output = 5 : i64, tops = ["ip"]} : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  %z = brew.relu "relu"(%y) {negative_slope = 0.0 : f32, tops = ["ip"]} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %loss = brew.euclidean_loss "loss"(%z, %t) {loss_weights = array<f32: 2.0>, tops = ["loss"]} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<f32>
  %n = brew.relu "n"(%x) {negative_slope = 0.0 : f32, propagate_down = array<i1: true>, tops = ["n"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  brew.output %loss "loss" loss_weight 2.0 : tensor<f32>
}

// A layer that reads data is a program; one of type Input is not.
// CHECK: brew.program @"layer:t" train differentiate attributes {brew.layer_program} {
// CHECK-NEXT: brew.data_input "t" "Data"

// CHECK: brew.program @"layer:ip" train differentiate attributes {brew.layer_program} {
// CHECK-NEXT: %[[X:.*]] = brew.data_input "x" "Input" {config = "name: \22x\22 type: \22Input\22 top: \22x\22 input_param { shape { dim: 2 dim: 3 } }", folder = "", tops = ["x"]}
// CHECK-NEXT: %[[W:.*]] = brew.param_value @ip.0
// CHECK-NEXT: brew.inner_product "ip"(%[[X]], %[[W]])
// CHECK-NEXT: {{^ *}$}}

// The bottom of a layer that works in place has a name of its own. It depends on a learnable
// parameter and so gets a gradient.
// CHECK: brew.program @"layer:relu"
// CHECK-NEXT: %[[Y:.*]] = brew.data_input "ip.bottom" "Input" {brew.gradient,
// CHECK-NEXT: brew.relu "relu"(%[[Y]]) {{.*}}tops = ["ip"]

// Losses have no weight; labels get no gradient.
// CHECK: brew.program @"layer:loss"
// CHECK-NEXT: brew.data_input "ip" "Input" {brew.gradient,
// CHECK-NEXT: brew.data_input "t" "Input" {config
// CHECK-NEXT: brew.euclidean_loss "loss"(%{{.*}}, %{{.*}}) {tops = ["loss"]}
// CHECK-NEXT: {{^ *}$}}

// CHECK: brew.program @"layer:n"
// CHECK-NEXT: brew.data_input "x" "Input" {brew.gradient,
