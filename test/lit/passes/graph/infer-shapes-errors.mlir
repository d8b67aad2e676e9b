// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  // expected-error @below {{layer 'in': the shape of its data is not known}}
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': kernel_size has 2 values; the bottom has 0 spatial dimensions}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': axis 3 is outside the bottom's 3 dimensions}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, axis = 3 : i64, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x5x6xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': stride has 2 values; the bottom has 3 spatial dimensions}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64: 1, 2>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, tops = ["y"]} : (tensor<2x3x4x5x6xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': kernel 5 is larger than the padded input 4}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 5>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x1xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': pad 1 and 2 leave nothing of the output width 3}}
  %y = brew.deconvolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64: 1>, pad_end = array<i64: 2>, dilation = array<i64>, group = 1 : i64, tops = ["y"]} : (tensor<2x3x4x1xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': bottom has 3 channels, which group 2 does not divide}}
  %y = brew.deconvolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 2 : i64, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  // expected-error @below {{layer 'c': axis -5 is outside the bottom's 4 dimensions}}
  %y = brew.im2col "c"(%x) {kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, axis = -5 : i64, tops = ["y"]} : (tensor<2x3x4x4xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x3x9xf32>
  // expected-error @below {{layer 'p': the bottom is too small for a level of 4 bins: its height is 3}}
  %y, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 0, 0>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, bins = 4 : i64, tops = ["y"]} : (tensor<1x3x3x9xf32>) -> (tensor<*xf32>, tensor<*xi8>)
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x5x5xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': bottom has 3 channels, which group 2 does not divide}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 2 : i64, tops = ["y"]} : (tensor<1x3x5x5xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x4x5x5xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': num_output 3 is not a multiple of group 2}}
  %y = brew.convolution "c"(%x, %w) {num_output = 3 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 2 : i64, tops = ["y"]} : (tensor<1x4x5x5xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4x9xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': kernel height 7 is larger than the padded input height 6}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 7, 7>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<1x3x4x9xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x9x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': kernel width 5 (dilated) is larger than the padded input width 4}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 2, 2>, group = 1 : i64, tops = ["y"]} : (tensor<1x3x9x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'p': pooling needs a bottom of 4 dimensions (N, C, H, W), not 2}}
  %y, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, tops = ["y"]} : (tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xi8>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x5x5xf32>
  // expected-error @below {{layer 'p': pad 3 must be smaller than kernel 3}}
  %y, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 3, 3>, tops = ["y"]} : (tensor<1x3x5x5xf32>) -> (tensor<*xf32>, tensor<*xi8>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x5x5xf32>
  // expected-error @below {{layer 'p': kernel height 6 is larger than the padded input height 5}}
  %y, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 6, 6>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, tops = ["y"]} : (tensor<1x3x5x5xf32>) -> (tensor<*xf32>, tensor<*xi8>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x9x5xf32>
  // expected-error @below {{layer 'p': kernel width 8 is larger than the padded input width 7}}
  %y, %a = brew.max_pooling "p"(%x) {kernel = array<i64: 8, 8>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, tops = ["y"]} : (tensor<1x3x9x5xf32>) -> (tensor<*xf32>, tensor<*xi8>)
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.inner_product "c"(%x, %w) {num_output = 4 : i64, axis = 2 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': axis 3 is outside the bottom's 2 dimensions}}
  %y = brew.bias "c"(%x, %w) {axis = 3 : i64, num_axes = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': num_axes 2 from axis 1 reaches beyond the bottom's 2 dimensions}}
  %y = brew.bias "c"(%x, %w) {axis = 1 : i64, num_axes = 2 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3x4xf32>, tensor<4xf32>
  // expected-error @below {{layer 'b': the second bottom's shape does not match the first's from axis 1 on}}
  %y = brew.bias "b"(%x, %l) {axis = 1 : i64, num_axes = 1 : i64, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<3x2xf32>
  // expected-error @below {{layer 'e': bottoms differ in shape: (2, 3), (3, 2)}}
  %y = brew.eltwise "e"(%x, %l) {kind = #brew<eltwise_kind sum>, coeff = array<f32>, tops = ["y"]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'r': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.reduction "r"(%x) {kind = #brew<reduction_kind sum>, axis = 2 : i64, coeff = 1.0 : f32, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 's': axis -3 is outside the bottom's 2 dimensions}}
  %y = brew.softmax "s"(%x) {axis = -3 : i64, tops = ["y"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<2xf32>
  // expected-error @below {{layer 'loss': axis 2 is outside the bottom's 2 dimensions}}
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %l) {axis = 2 : i64, normalization = #brew<normalization valid>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3x4xf32>, tensor<2xf32>
  // expected-error @below {{layer 'loss': the number of labels (2) must match the number of predictions (8): with scores of shape N, C, H, W on axis 1, labels are N, H, W}}
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %l) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["loss"]} : (tensor<2x3x4xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<2xf32>
  %w = brew.data_input "loss" "SoftmaxWithLoss" {config = "", folder = "", tops = []} : tensor<2xf32>
  // expected-error @below {{layer 'loss': class_weighting is given 2 times; it takes one for each of the 3 classes}}
  %loss, %prob, %n, %status = brew.softmax_loss "loss"(%x, %l, %w) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["loss"]} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<2xf32>
  // expected-error @below {{layer 'acc': top_k 4 is larger than the number of classes 3}}
  %a, %per, %status = brew.accuracy "acc"(%x, %l) {axis = 1 : i64, top_k = 4 : i64, tops = ["a"]} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %l = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "l"]} : tensor<2x3xf32>, tensor<3xf32>
  // expected-error @below {{layer 'acc': the number of labels (3) must match the number of predictions (2)}}
  %a, %per, %status = brew.accuracy "acc"(%x, %l) {axis = 1 : i64, top_k = 1 : i64, tops = ["a"]} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi32>)
}

// -----

// Sharing without PERMISSIVE: shapes must be equal.
// expected-note @below {{layer 'first' owns the parameter}}
brew.param @first.0 : tensor<*xf32> {layer = "first", index = 0 : i64, shared_name = "w", sharers = [#plan.sharer<"second"[0], "InnerProduct">]}
brew.program @p train {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x4xf32>, tensor<2x3xf32>
  %w = brew.param_value @first.0 : tensor<*xf32>
  %y = brew.inner_product "first"(%x, %w) {num_output = 6 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<*xf32>
  %v = brew.param_value @first.0 : tensor<*xf32>
  // expected-error @below {{layer 'second': shares parameter 'w' but needs it as (8, 3), not as (6, 4)}}
  %u = brew.inner_product "second"(%z, %v) {num_output = 8 : i64, axis = 1 : i64, tops = ["u"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

// PERMISSIVE sharing still needs the same number of elements.
// expected-note @below {{layer 'first' owns the parameter}}
brew.param @first.0 : tensor<*xf32> {layer = "first", index = 0 : i64, shared_name = "w", sharers = [#plan.sharer<"second"[0], "InnerProduct">], permissive}
brew.program @p train {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x4xf32>, tensor<2x3xf32>
  %w = brew.param_value @first.0 : tensor<*xf32>
  %y = brew.inner_product "first"(%x, %w) {num_output = 6 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<*xf32>
  %v = brew.param_value @first.0 : tensor<*xf32>
  // expected-error @below {{layer 'second': shares parameter 'w' but needs it as (7, 3), not as (6, 4)}}
  %u = brew.inner_product "second"(%z, %v) {num_output = 7 : i64, axis = 1 : i64, tops = ["u"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

// The training and the test program read one parameter: their data must agree.
// expected-note @below {{layer 'ip' owns the parameter}}
brew.param @ip.0 : tensor<*xf32> {layer = "ip", index = 0 : i64}
brew.program @forward_backward train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x4xf32>
  %w = brew.param_value @ip.0 : tensor<*xf32>
  %y = brew.inner_product "ip"(%x, %w) {num_output = 6 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  %w = brew.param_value @ip.0 : tensor<*xf32>
  // expected-error @below {{layer 'ip': shares parameter 'ip.0' but needs it as (6, 5), not as (6, 4)}}
  %y = brew.inner_product "ip"(%x, %w) {num_output = 6 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x5xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': top has shape (2, 0), without elements}}
  %y = brew.inner_product "c"(%x, %w) {num_output = 0 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<65536x2xf32>
  // expected-error @below {{layer 't': top has shape (65536, 65536), of more than 2147483647 elements}}
  %y = brew.tile "t"(%x) {axis = 1 : i64, tiles = 32768 : i64, tops = ["y"]} : (tensor<65536x2xf32>) -> tensor<*xf32>
}

// -----

brew.param @ip.0 : tensor<*xf32> {layer = "ip", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x65536xf32>
  %w = brew.param_value @ip.0 : tensor<*xf32>
  // expected-error @below {{layer 'ip': parameter has shape (2000000000, 65536), of more than 2147483647 elements}}
  %y = brew.inner_product "ip"(%x, %w) {num_output = 2000000000 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<1x65536xf32>, tensor<*xf32>) -> tensor<*xf32>
}
