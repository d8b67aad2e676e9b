// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x, %r = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4xf32>, tensor<7x5xf32>
  // expected-error @below {{layer 'r': the features need 4 dimensions (N, C, H, W), not 3}}
  %y, %a = brew.roi_pooling "r"(%x, %r) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4xf32>, tensor<7x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x, %r = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4x4xf32>, tensor<7x4xf32>
  // expected-error @below {{layer 'r': the regions must be rows of 5 numbers (image and box), not of shape (7, 4)}}
  %y, %a = brew.roi_pooling "r"(%x, %r) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<7x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x, %r = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4x4xf32>, tensor<7x5x1x1xf32>
  // expected-error @below {{layer 'p': the features have 8 channels; output_dim 2 and group_size 3 need 18}}
  %y = brew.psroi_pooling "p"(%x, %r) {output_dim = 2 : i64, group_size = 3 : i64, spatial_scale = 1.0 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<7x5x1x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %d = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "d"]} : tensor<2x8x4x4xf32>, tensor<2x8xf32>
  // expected-error @below {{layer 'b': bottoms need 4 dimensions (N, C, H, W), not 2}}
  %y = brew.prior_box "b"(%x, %d) {widths = array<f32: 4.0>, heights = array<f32: 2.0>, variances = array<f32: 0.1>, image_size = array<i64>, step = array<f32: 0.0, 0.0>, offset = 0.5 : f32, tops = ["y"]} : (tensor<2x8x4x4xf32>, tensor<2x8xf32>) -> tensor<*xf32>
}

// -----

brew.param @c.0 : tensor<*xf32> {layer = "c", index = 0 : i64}
brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.param_value @c.0 : tensor<*xf32>
  // expected-error @below {{layer 'c': num_output is 4, but a depthwise convolution has the channels of its bottom, 3}}
  %y = brew.convolution "c"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3>, stride = array<i64>, pad = array<i64>, dilation = array<i64>, group = 1 : i64, depthwise, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<*xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x3x3xf32>
  // expected-error @below {{layer 'p': only MAX and AVE pooling can be padded}}
  %y = brew.weighted_pooling "p"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1>, tops = ["y"]} : (tensor<1x3x3x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x8xf32>
  // expected-error @below {{layer 'd': the prior boxes must have shape (1, 2, 4 * boxes), not (1, 8)}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x8xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>
  // expected-error @below {{layer 'd': the locations have shape (2, 8); for 2 prior boxes they need 12 for each: (N, 24)}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<2x8xf32>, tensor<2x2x3xf32>, tensor<1x2x8xf32>
  // expected-error @below {{layer 'd': the confidences have shape (2, 2, 3); for 2 prior boxes they need 3 for each: (N, 6)}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x2x3xf32>, tensor<1x2x8xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<2x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>
  // expected-error @below {{layer 'd': there are locations of 2 images and confidences of 1}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %r = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "r"]} : tensor<2x8x4xf32>, tensor<7x5xf32>
  // expected-error @below {{layer 'r': the features need 4 dimensions (N, C, H, W), not 3}}
  %y = brew.roi_align "r"(%x, %r) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 1.0 : f32, samples = 2 : i64, tops = ["y"]} : (tensor<2x8x4xf32>, tensor<7x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x8x4xf32>
  // expected-error @below {{layer 'v': axis 3 is outside the bottom's 3 dimensions}}
  %y = brew.reverse "v"(%x) {axes = array<i64: 3>, tops = ["y"]} : (tensor<2x8x4xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x8x4xf32>
  // expected-error @below {{layer 'v': axis names dimension 2 twice}}
  %y = brew.reverse "v"(%x) {axes = array<i64: 2, -1>, tops = ["y"]} : (tensor<2x8x4xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %n = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "n"]} : tensor<4x5xf32>, tensor<2xf32>
  // expected-error @below {{layer 'c': the number of its items is not one number}}
  %y, %c = brew.with_item_count "c"(%x, %n) {tops = ["y"]} : (tensor<4x5xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
