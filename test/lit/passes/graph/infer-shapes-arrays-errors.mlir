// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<2x1x4xf32>
  // expected-error @below {{layer 'l': bottoms of shapes (2, 3) and (2, 1, 4) do not match: from the last dimension on, extents must be equal or 1}}
  %y = brew.broadcast "l"(%x, %z) {tops = ["y0"]} : (tensor<2x3xf32>, tensor<2x1x4xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.axis_sum "l"(%x) {axis = 2 : i64, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<3xf32>
  // expected-error @below {{layer 'l': takes matrices, of at least 2 dimensions, not a bottom of shape (3)}}
  %y = brew.matmul "l"(%x, %z) {tops = ["y0"]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<4x2x3xf32>, tensor<5x3x2xf32>
  // expected-error @below {{layer 'l': bottoms of shapes (4, 2, 3) and (5, 3, 2) differ in the dimensions before the matrices}}
  %y = brew.matmul "l"(%x, %z) {tops = ["y0"]} : (tensor<4x2x3xf32>, tensor<5x3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<3x2xf32>
  // expected-error @below {{layer 'l': cannot multiply matrices of shapes (2, 3) (transposed) and (3, 2)}}
  %y = brew.matmul "l"(%x, %z) {transpose_a, tops = ["y0"]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': the bottom must have 4 dimensions, not 2}}
  %y = brew.resize "l"(%x) {size = array<i64: 2, 2>, scale = array<f32: 1.0, 1.0>, axis = 1 : i64, before = 0.0 : f32, after = 0.0 : f32, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': crop_size has 1 values; a bottom of 2 dimensions needs one for each}}
  %y = brew.crop_center "l"(%x) {sizes = array<i64: 0>, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'l': crop_size 2 leaves nothing of dimension 1 of the bottom's (2, 3)}}
  %y = brew.crop_center "l"(%x) {sizes = array<i64: 0, 2>, tops = ["y0"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z, %n = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "n"]} : tensor<2x3xf32>, tensor<4xf32>, tensor<1xf32>
  // expected-error @below {{layer 'l': needs one label per item: 2, not 4}}
  %y, %s = brew.label_margin "l"(%x, %x, %z, %n) {margin = 2 : i64, tops = ["y0"]} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<4xf32>
  // expected-error @below {{layer 'l': needs one label per item: 2, not 4}}
  %y, %s = brew.class_targets "l"(%x, %z) {tops = ["y0"]} : (tensor<2x3xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xi32>)
}
