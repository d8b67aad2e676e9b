// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.argmax "l"(%x) {axis = 2 : i64, top_k = 1 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': top_k is 4, but there are only 3 elements to choose from}}
  %y = brew.argmax "l"(%x) {axis = 1 : i64, top_k = 4 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x2xf32>
  // expected-error @below {{layer 'l': top_k is 7, but there are only 6 elements to choose from}}
  %y = brew.argmax "l"(%x) {top_k = 7 : i64, tops = ["y0"]} : (tensor<2x3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<4x1xf32>
  // expected-error @below {{layer 'l': the index has shape (4, 1); it must have one dimension}}
  %y:2 = brew.batch_reindex "l"(%x, %z) {tops = ["y0", "y1"]} : (tensor<2x3xf32>, tensor<4x1xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': the bottom has shape (2, 3), whose channels group 2 does not divide}}
  %y = brew.shuffle_channel "l"(%x) {group = 2 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': the bottom must have 4 dimensions (N, C, H, W), not 2}}
  %y = brew.reorg "l"(%x) {stride = 2 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x6x2x2xf32>
  // expected-error @below {{layer 'l': the bottom has 6 channels, which stride * stride, 4, does not divide}}
  %y = brew.reorg "l"(%x) {stride = 2 : i64, tops = ["y0"]} : (tensor<1x6x2x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x4x3x2xf32>
  // expected-error @below {{layer 'l': stride 2 does not divide the bottom's height and width, 3 and 2}}
  %y = brew.reorg "l"(%x) {stride = 2 : i64, tops = ["y0"]} : (tensor<1x4x3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': the bottom must have 4 dimensions (N, C, H, W), not 2}}
  %y = brew.upsample "l"(%x) {scale = array<i64: 2, 2>, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': the bottom must have 4 dimensions (N, C, H, W), not 2}}
  %y = brew.interp "l"(%x) {size = array<i64: 2, 2>, zoom = 1 : i64, shrink = 1 : i64, pad_beg = 0 : i64, pad_end = 0 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2x3x2xf32>
  // expected-error @below {{layer 'l': pad_beg and pad_end leave nothing of the bottom's width 2}}
  %y = brew.interp "l"(%x) {size = array<i64: 2, 2>, zoom = 1 : i64, shrink = 1 : i64, pad_beg = -2 : i64, pad_end = 0 : i64, tops = ["y0"]} : (tensor<1x2x3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<1x2x3x2xf32>, tensor<1x2xf32>
  // expected-error @below {{layer 'l': the second bottom, which gives the size, must have 4 dimensions (N, C, H, W), not 2}}
  %y = brew.interp "l"(%x, %z) {size = array<i64>, zoom = 1 : i64, shrink = 1 : i64, pad_beg = 0 : i64, pad_end = 0 : i64, tops = ["y0"]} : (tensor<1x2x3x2xf32>, tensor<1x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z, %u = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "u"]} : tensor<2x4xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>
  // expected-error @below {{layer 'l': bottom 0 has shape (2, 4); it needs one element for each channel of each sample of bottom 1, (2, 3, 2)}}
  %y = brew.axpy "l"(%x, %z, %u) {tops = ["y0"]} : (tensor<2x4xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z, %u = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "u"]} : tensor<2x3xf32>, tensor<2x3x2xf32>, tensor<2x3x1xf32>
  // expected-error @below {{layer 'l': bottoms 1 and 2 differ in shape: (2, 3, 2) and (2, 3, 1)}}
  %y = brew.axpy "l"(%x, %z, %u) {tops = ["y0"]} : (tensor<2x3xf32>, tensor<2x3x2xf32>, tensor<2x3x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %m = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "m"]} : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  // expected-error @below {{layer 'u': needs a bottom of 4 dimensions (N, C, H, W), not 3}}
  %y, %s = brew.max_unpooling "u"(%x, %m) {size = array<i64>, scale = array<i64: 2, 2>, pad_out = array<i64: 0, 0>, tops = ["y"]} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %m = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "m"]} : tensor<2x3x4x5xf32>, tensor<2x3x4x4xf32>
  // expected-error @below {{layer 'u': the mask has shape (2, 3, 4, 4), but the bottom has (2, 3, 4, 5)}}
  %y, %s = brew.max_unpooling "u"(%x, %m) {size = array<i64>, scale = array<i64: 2, 2>, pad_out = array<i64: 0, 0>, tops = ["y"]} : (tensor<2x3x4x5xf32>, tensor<2x3x4x4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
