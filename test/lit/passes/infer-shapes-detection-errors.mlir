// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x, %r = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4xf32>, tensor<7x5xf32>
  // expected-error @below {{layer 'r': the features need 4 dimensions (N, C, H, W), not 3}}
  %y, %a = brew.roi_pooling "r"(%x, %r) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4xf32>, tensor<7x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x, %r = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4x4xf32>, tensor<7x4xf32>
  // expected-error @below {{layer 'r': the regions must be rows of 5 numbers (image and box), not of shape (7, 4)}}
  %y, %a = brew.roi_pooling "r"(%x, %r) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<7x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x, %r = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4x4xf32>, tensor<7x5x1x1xf32>
  // expected-error @below {{layer 'p': the features have 8 channels; output_dim 2 and group_size 3 need 18}}
  %y = brew.psroi_pooling "p"(%x, %r) {output_dim = 2 : i64, group_size = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<7x5x1x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %d = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "d"]} : tensor<2x8x4x4xf32>, tensor<2x8xf32>
  // expected-error @below {{layer 'b': bottoms need 4 dimensions (N, C, H, W), not 2}}
  %y = brew.prior_box "b"(%x, %d) {widths = array<f32: 4.0>, heights = array<f32: 2.0>, variances = array<f32: 0.1>, image_size = array<i64>, step = array<f32: 0.0, 0.0>, offset = 0.5 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<2x8xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': num_output is 4, but a depthwise convolution has the channels of its bottom, 3}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, depthwise, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x3x3xf32>
  // expected-error @below {{layer 'p': only MAX and AVE pooling can be padded}}
  %y = brew.weighted_pooling "p"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, tops = ["y"]} : (tensor<1x3x3x3xf32>) -> tensor<*xf32>
}
