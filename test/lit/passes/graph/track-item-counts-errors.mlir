// RUN: %brew-opt %s --brew-track-item-counts --verify-diagnostics --split-input-file

// Layers that cannot process a bottom whose number of items is only known at run time.

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'b': does not accept a bottom whose number of items is only known at run time}}
  %b:7 = brew.lstm_unit "b"(%y, %y, %y) {tops = ["a", "b"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'e': 'x' always has all its items, 'y' only those that layer 'f' lets through}}
  %z = brew.eltwise "e"(%x, %y) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["z"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
}

// -----

brew.program @p train {
  %x, %s, %t = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "t"]} : tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'l': bottom 't' always has all its items, 'y' only those that layer 'f' lets through}}
  %l:4 = brew.softmax_loss "l"(%y, %t) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["l"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
}

// -----

brew.program @p train {
  %x, %s, %t = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "t"]} : tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-note @below {{layer 'g' decides at run time how many items of 'z' there are}}
  %z, %d, %q = brew.filter "g"(%x, %t) {tops = ["z"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'e': bottoms 'y' and 'z' may have different numbers of items: layers 'f' and 'g' select them}}
  %e = brew.eltwise "e"(%y, %z) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["e"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
}

// -----

brew.program @p train {
  %x, %s, %t = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s", "t"]} : tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  %z, %d, %q = brew.filter "g"(%x, %t) {tops = ["z"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'c': a top whose number of items is only known at run time cannot have a loss_weight; reduce it first}}
  %l = brew.concat "c"(%y, %x) {axis = 0 : i64, loss_weights = array<f32: 1.0>, tops = ["l"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'r': dimension 0 of bottom 'y' is only known at run time, and the top's shape would not fit every number of items}}
  %z = brew.reshape "r"(%y) {axis = 0 : i64, dims = array<i64: 4, 3>, num_axes = -1 : i64, tops = ["z"]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'r': dimension 0 of bottom 'y' is only known at run time, and the top's shape would not fit every number of items}}
  %z = brew.reshape "r"(%y) {axis = 0 : i64, dims = array<i64: 2, -1>, num_axes = -1 : i64, tops = ["z"]} : (tensor<4x3xf32>) -> tensor<2x6xf32>
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'p': moves the item dimension 0 of its bottom, whose items are not all valid}}
  %z = brew.permute "p"(%y) {order = array<i64: 1, 0>, tops = ["z"]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
}

// -----

brew.program @p train {
  %x, %t, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "t", "s"]} : tensor<4x3xf32>, tensor<3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y:2, %c, %p = brew.filter "f"(%x, %x, %s) {tops = ["y", "z"]} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'l': axis 0 is the item dimension, and not all items are valid}}
  %l:4 = brew.softmax_loss "l"(%y#0, %y#1) {axis = 0 : i64, normalization = #brew<normalization valid>, tops = ["l"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  // expected-error @below {{layer 'f': a top whose number of items is only known at run time cannot have a loss_weight; reduce it first}}
  %y, %c, %p = brew.filter "f"(%x, %s) {loss_weights = array<f32: 1.0>, tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'l': needs all 4 time steps of its bottom in every batch}}
  %z = brew.lstm "l"(%y, %y) {num_output = 2 : i64, tops = ["z"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3x2xf32>
}

// -----

brew.program @p train {
  %x, %t, %k, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "t", "k", "s"]} : tensor<4x3xf32>, tensor<2x4x3xf32>, tensor<2x4xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'r': needs all 4 items of its bottom in every batch}}
  %z = brew.rnn "r"(%t, %k, %y) {has_static, num_output = 2 : i64, tops = ["z"]} : (tensor<2x4x3xf32>, tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x4x2xf32>
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x1xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x1xf32>, tensor<4xf32>) -> (tensor<4x1xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'q': removes every dimension of size 1, which may include the item dimension; `axis` says which to remove}}
  %z = brew.squeeze "q"(%y) {axes = array<i64>, tops = ["z"]} : (tensor<4x1xf32>) -> tensor<4xf32>
}

// -----

brew.program @p train {
  %x, %k, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "k", "s"]} : tensor<4x3xf32>, tensor<9x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'k': bottom 'k' always has all its items, 'y' only those that layer 'f' lets through}}
  %z = brew.crop "k"(%k, %y) {axis = 0 : i64, offsets = array<i64: 0, 0>, tops = ["z"]} : (tensor<9x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'k': starts at item 1 of its bottom, which may have too few valid items}}
  %z = brew.crop "k"(%y, %y) {axis = 0 : i64, offsets = array<i64: 1, 0>, tops = ["z"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
}

// -----

brew.program @p train {
  %x, %i, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "i", "s"]} : tensor<4x3xf32>, tensor<5xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'b': does not accept a bottom whose number of items is only known at run time}}
  %z, %u = brew.batch_reindex "b"(%y, %i) {tops = ["z"]} : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<5x3xf32>, tensor<i32>)
}

// -----

brew.program @p train {
  %x, %r, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "r", "s"]} : tensor<4x1x3x3xf32>, tensor<2x5xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x1x3x3xf32>, tensor<4xf32>) -> (tensor<4x1x3x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'r': does not accept a bottom whose number of items is only known at run time}}
  %z, %u = brew.roi_pooling "r"(%y, %r) {pooled_h = 2 : i64, pooled_w = 2 : i64, spatial_scale = 1.0 : f32, tops = ["z"]} : (tensor<4x1x3x3xf32>, tensor<2x5xf32>) -> (tensor<2x1x2x2xf32>, tensor<2x1x2x2xi32>)
}

// -----

brew.program @p train {
  %x, %v, %t, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "v", "t", "s"]} : tensor<4x4xf32>, tensor<3x2xf32>, tensor<3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'i': does not accept a bottom whose number of items is only known at run time}}
  %z:4 = brew.infogain_loss "i"(%v, %t, %y) {axis = 1 : i64, normalization = #brew<normalization valid>, tops = ["z"]} : (tensor<3x2xf32>, tensor<3xf32>, tensor<4x4xf32>) -> (tensor<f32>, tensor<3x2xf32>, tensor<f32>, tensor<i32>)
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>
  // expected-note @below {{layer 'd' decides at run time how many items of 'd' there are}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x5x7xf32>, tensor<1x1xi32>)
  // expected-error @below {{layer 's': does not accept bottom 'd', whose dimension 2 is only known at run time}}
  %s = brew.softmax "s"(%d) {axis = 3 : i64, tops = ["s"]} : (tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32>
}

// -----

brew.program @p test {
  %l, %c, %o = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>
  // expected-note @below {{layer 'd' decides at run time how many items of 'd' there are}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x5x7xf32>, tensor<1x1xi32>)
  // expected-error @below {{layer 'r': dimension 2 of bottom 'd' is only known at run time, and the top's shape would not fit every number of items}}
  %s = brew.reshape "r"(%d) {axis = 0 : i64, dims = array<i64: 1, 7, -1>, num_axes = -1 : i64, tops = ["r"]} : (tensor<1x1x5x7xf32>) -> tensor<1x7x5xf32>
}

// -----

brew.program @p test {
  %l, %c, %o, %o4 = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o", "p"]} : tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>, tensor<1x1x2x8xf32>
  // expected-note @below {{layer 'd' decides at run time how many items of 'd' there are}}
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x5x7xf32>, tensor<1x1xi32>)
  // expected-error @below {{layer 'k': needs dimension 2 of bottom 'd', which is only known at run time}}
  %k = brew.interp "k"(%o4, %d) {pad_beg = 0 : i64, pad_end = 0 : i64, shrink = 1 : i64, size = array<i64>, tops = ["k"], zoom = 1 : i64} : (tensor<1x1x2x8xf32>, tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32>
}

// -----

brew.program @p test {
  %l, %c, %o, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o", "s"]} : tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>, tensor<2xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %k, %p = brew.filter "f"(%l, %s) {tops = ["y"]} : (tensor<2x8xf32>, tensor<2xf32>) -> (tensor<2x8xf32>, tensor<i32>, tensor<2xi32>)
  // expected-error @below {{layer 'd': does not accept a bottom whose number of items is only known at run time}}
  %d, %n = brew.detection_output "d"(%y, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x10x7xf32>, tensor<1x1xi32>)
}

// -----

brew.program @p train {
  %x, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "s"]} : tensor<4x3xf32>, tensor<4xf32>
  // expected-note @below {{layer 'f' decides at run time how many items of 'y' there are}}
  %y, %c, %p = brew.filter "f"(%x, %s) {tops = ["y"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // expected-error @below {{layer 'v': reverses the item dimension 0 of its bottom, whose items are not all valid}}
  %z = brew.reverse "v"(%y) {axes = array<i64: 0>, tops = ["z"]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
}
