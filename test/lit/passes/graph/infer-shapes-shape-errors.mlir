// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<2x3x1xf32>
  // expected-error @below {{layer 'l': bottom 1 has shape (2, 3, 1), but bottom 0 has (2, 3): all need the same number of dimensions}}
  %y = brew.concat "l"(%x, %z) {axis = 1 : i64, tops = ["y0"]} : (tensor<2x3xf32>, tensor<2x3x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<3x3xf32>
  // expected-error @below {{layer 'l': bottom 1 has shape (3, 3), but bottom 0 has (2, 3): they may differ in dimension 1 only}}
  %y = brew.concat "l"(%x, %z) {axis = 1 : i64, tops = ["y0"]} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3xf32>, tensor<2x3xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.concat "l"(%x, %z) {axis = 2 : i64, tops = ["y0"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': axis -3 is outside the bottom's 2 dimensions}}
  %y:2 = brew.slice "l"(%x) {axis = -3 : i64, points = array<i64>, tops = ["y0", "y1"]} : (tensor<2x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': dimension 1 has 5 elements, which 2 tops cannot share equally}}
  %y:2 = brew.slice "l"(%x) {axis = 1 : i64, points = array<i64>, tops = ["y0", "y1"]} : (tensor<2x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': the tops divide dimension 1, of 5 elements, but top 1 would go from 5 to 5}}
  %y:2 = brew.slice "l"(%x) {axis = 1 : i64, points = array<i64: 5>, tops = ["y0", "y1"]} : (tensor<2x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x5xf32>, tensor<2xf32>
  // expected-error @below {{layer 'l': the reference has shape (2), which lacks dimensions of the bottom's (2, 5)}}
  %y = brew.crop "l"(%x, %z) {axis = 1 : i64, offsets = array<i64>, tops = ["y0"]} : (tensor<2x5xf32>, tensor<2xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x5xf32>, tensor<2x3xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.crop "l"(%x, %z) {axis = 2 : i64, offsets = array<i64>, tops = ["y0"]} : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x5xf32>, tensor<2x3xf32>
  // expected-error @below {{layer 'l': offset is given 2 times; from axis 1 on the bottom has 1 dimensions, and it takes one for all or one for each}}
  %y = brew.crop "l"(%x, %z) {axis = 1 : i64, offsets = array<i64: 0, 1>, tops = ["y0"]} : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x5xf32>, tensor<2x3xf32>
  // expected-error @below {{layer 'l': the part of 3 elements from 3 on reaches beyond dimension 1 of the bottom's (2, 5)}}
  %y = brew.crop "l"(%x, %z) {axis = 1 : i64, offsets = array<i64: 3>, tops = ["y0"]} : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': axis 3 is outside the bottom's 2 dimensions}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 10>, axis = 3 : i64, num_axes = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': axis -4 is outside the bottom's 2 dimensions}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 10>, axis = -4 : i64, num_axes = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': num_axes 2 from axis 1 reaches beyond the bottom's 2 dimensions}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 10>, axis = 1 : i64, num_axes = 2 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': dim 2 is 0, which keeps dimension 2 of the bottom, but that has only 2}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 2, 5, 0>, axis = 0 : i64, num_axes = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': the bottom has shape (2, 5), and its 10 elements cannot be divided by the 3 that the given dimensions make}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 3, -1>, axis = 0 : i64, num_axes = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': shape (3, 4) has 12 elements, but the bottom, (2, 5), has 10}}
  %y = brew.reshape "l"(%x) {dims = array<i64: 3, 4>, axis = 0 : i64, num_axes = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.flatten "l"(%x) {axis = 2 : i64, end_axis = -1 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5xf32>
  // expected-error @below {{layer 'l': end_axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.flatten "l"(%x) {axis = 1 : i64, end_axis = 2 : i64, tops = ["y0"]} : (tensor<2x5xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x5x3xf32>
  // expected-error @below {{layer 'l': end_axis 0 lies before axis 2}}
  %y = brew.flatten "l"(%x) {axis = 2 : i64, end_axis = 0 : i64, tops = ["y0"]} : (tensor<2x5x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1xf32>
  // expected-error @below {{layer 'l': axis 2 is outside the bottom's 2 dimensions}}
  %y = brew.squeeze "l"(%x) {axes = array<i64: 2>, tops = ["y0"]} : (tensor<2x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1xf32>
  // expected-error @below {{layer 'l': axis -2 of the bottom's (2, 1) is not of size 1}}
  %y = brew.squeeze "l"(%x) {axes = array<i64: -2>, tops = ["y0"]} : (tensor<2x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1xf32>
  // expected-error @below {{layer 'l': order 2 is outside the bottom's 2 dimensions}}
  %y = brew.permute "l"(%x) {order = array<i64: 2>, tops = ["y0"]} : (tensor<2x1xf32>) -> tensor<*xf32>
}

// -----

brew.program @p test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1xf32>
  // expected-error @below {{layer 'l': axis -3 is outside the bottom's 2 dimensions}}
  %y = brew.tile "l"(%x) {axis = -3 : i64, tiles = 2 : i64, tops = ["y0"]} : (tensor<2x1xf32>) -> tensor<*xf32>
}
