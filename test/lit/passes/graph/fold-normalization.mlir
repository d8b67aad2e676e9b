// RUN: %brew-opt %s --brew-fold-normalization --split-input-file | FileCheck %s

// `prepare` computes the folded weights and bias of a convolution from the parameters in weight
// files.
// CHECK: brew.param @c.0.folded : tensor<2x3x1x1xf32> {brew.derived, file_dims = array<i64: 2, 3, 1, 1>, index = 0 : i64, layer = "c"}
// CHECK: brew.param @c.1.folded : tensor<2xf32> {brew.derived
// CHECK: brew.program @prepare test role prepare
// CHECK-DAG: %[[W:.*]] = brew.param_value @c.0
// CHECK-DAG: brew.param_value @n.0
// CHECK-DAG: brew.param_value @n.1
// CHECK-DAG: brew.param_value @n.2
// CHECK-DAG: math.sqrt
// CHECK-DAG: brew.param_value @s.0
// CHECK-DAG: brew.param_value @s.1
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[W]], %{{.*}} : tensor<2x3x1x1xf32>, tensor<2xf32>)
// CHECK: brew.store_param %[[N]], @c.0.folded
// CHECK: brew.store_param %{{.*}}, @c.1.folded
// CHECK-LABEL: brew.program @deploy
// CHECK-NOT: brew.batch_norm
// CHECK-NOT: brew.scale
// CHECK-DAG: %[[FW:.*]] = brew.param_value @c.0.folded
// CHECK-DAG: %[[FB:.*]] = brew.param_value @c.1.folded
// CHECK: %[[Y:.*]] = brew.convolution "c+n+s"(%{{.*}}, %[[FW]], %[[FB]]) {{{.*}}tops = ["z"]}
// CHECK-NEXT: brew.output %[[Y]] "z"
brew.param @c.0 : tensor<2x3x1x1xf32> {layer = "c", index = 0 : i64}
brew.param @n.0 : tensor<2xf32> {layer = "n", index = 0 : i64}
brew.param @n.1 : tensor<2xf32> {layer = "n", index = 1 : i64}
brew.param @n.2 : tensor<1xf32> {layer = "n", index = 2 : i64}
brew.param @s.0 : tensor<2xf32> {layer = "s", index = 0 : i64}
brew.param @s.1 : tensor<2xf32> {layer = "s", index = 1 : i64}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4x4xf32>
  %w = brew.param_value @c.0 : tensor<2x3x1x1xf32>
  %m = brew.param_value @n.0 : tensor<2xf32>
  %v = brew.param_value @n.1 : tensor<2xf32>
  %f = brew.param_value @n.2 : tensor<1xf32>
  %s = brew.param_value @s.0 : tensor<2xf32>
  %t = brew.param_value @s.1 : tensor<2xf32>
  %c = brew.convolution "c"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %n = brew.batch_norm_global "n"(%c, %m, %v, %f) {eps = 0.1 : f32, tops = ["n"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<1x2x4x4xf32>
  %z = brew.scale "s"(%n, %s, %t) {axis = 1 : i64, num_axes = 1 : i64, tops = ["z"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<1x2x4x4xf32>
}

// -----

// The value in between has another reader: only the scale that replaces the normalization is
// computed in `prepare`.
// CHECK-LABEL: brew.program @deploy
// CHECK: %[[C:.*]] = brew.convolution "c"
// CHECK: brew.scale "n"(%[[C]], %{{.*}}, %{{.*}}) {axis = 1 : i64, num_axes = 1 : i64, tops = ["n"]}
brew.param @c.0 : tensor<2x3x1x1xf32> {layer = "c", index = 0 : i64}
brew.param @n.0 : tensor<2xf32> {layer = "n", index = 0 : i64}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4x4xf32>
  %w = brew.param_value @c.0 : tensor<2x3x1x1xf32>
  %m = brew.param_value @n.0 : tensor<2xf32>
  %c = brew.convolution "c"(%x, %w) {num_output = 2 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %n = brew.batch_norm_global "n"(%c, %m, %m) {eps = 0.1 : f32, tops = ["n"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  brew.pin data "c", %c : tensor<1x2x4x4xf32>
  brew.output %n "n" loss_weight 0.0 : tensor<1x2x4x4xf32>
}

// -----

// Not folded: the outputs of this convolution are dimension 2, but the channels of the
// normalization are dimension 1.
// CHECK-LABEL: brew.program @deploy
// CHECK: %[[C:.*]] = brew.convolution "c"
// CHECK: brew.scale "n"(%[[C]]
brew.param @c.0 : tensor<2x3x1xf32> {layer = "c", index = 0 : i64}
brew.param @n.0 : tensor<2xf32> {layer = "n", index = 0 : i64}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x3x4xf32>
  %w = brew.param_value @c.0 : tensor<2x3x1xf32>
  %m = brew.param_value @n.0 : tensor<2xf32>
  %c = brew.convolution "c"(%x, %w) {axis = 2 : i64, num_output = 2 : i64, kernel = array<i64: 1>, stride = array<i64: 1>, pad = array<i64: 0>, dilation = array<i64: 1>, group = 1 : i64, tops = ["c"]} : (tensor<1x2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<1x2x2x4xf32>
  %n = brew.batch_norm_global "n"(%c, %m, %m) {eps = 0.1 : f32, tops = ["n"]} : (tensor<1x2x2x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x4xf32>
  brew.output %n "n" loss_weight 0.0 : tensor<1x2x2x4xf32>
}

// -----

// Weights that training changes cannot be folded.
// CHECK-NOT: @prepare
// CHECK-LABEL: brew.program @test_0
// CHECK: brew.batch_norm_global
brew.param @n.0 : tensor<2xf32> {layer = "n", index = 0 : i64}
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x4x4xf32>
  %m = brew.param_value @n.0 : tensor<2xf32>
  %n = brew.batch_norm_global "n"(%x, %m, %m) {eps = 0.1 : f32, tops = ["n"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  brew.output %n "n" loss_weight 0.0 : tensor<1x2x4x4xf32>
}
