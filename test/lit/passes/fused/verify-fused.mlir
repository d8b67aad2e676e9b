// RUN: %brew-opt %s --brew-verify-fused --verify-diagnostics --split-input-file

// Vendor calls, kernels, views, reads and sinks are valid.
brew.param @w : tensor<3x2xf32> {layer = "ip", index = 0 : i64}
brew.program @good train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x2x1xf32>
  %v = brew.reinterpret %x : tensor<4x2x1xf32> -> tensor<4x2xf32>
  %w = brew.param_value @w : tensor<3x2xf32>
  %y = brew.inner_product "ip"(%v, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<4x3xf32>
}

// -----

// A layer that is not a vendor call must have become a nest.
brew.program @layer train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{phase fused: this operation is neither a vendor call nor part of a kernel}}
  %y = brew.relu "r"(%x) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

// A nest must be in a kernel.
#id = affine_map<(d0) -> (d0)>
brew.program @nest train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{phase fused: this operation is neither a vendor call nor part of a kernel}}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2xf32>
}

// -----

brew.program @join test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{phase fused: a subview does not have the strides of the full tensor}}
  %y = brew.concat_view "c"(%x, %x) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
}

// -----

brew.program @cut test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{phase fused: a subview does not have the strides of the full tensor}}
  %y = brew.subview "s"(%x) {offsets = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
}

// -----

brew.program @view test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %y = brew.subview "s"(%x) {offsets = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32, {strides = array<i64: 3, 1>}>
  // expected-error @below {{phase fused: this operation does not support the strides of a subview}}
  %z = brew.reinterpret %y : tensor<2x2xf32, {strides = array<i64: 3, 1>}> -> tensor<4xf32>
}

// -----

// Kernels contain no layers.
brew.program @layer test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %e = tensor.empty() : tensor<2xf32>
    // expected-error @below {{phase fused: this operation is not allowed in a kernel}}
    %n = brew.relu "r"(%a) {negative_slope = 0.0 : f32, tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
    brew.yield %n : tensor<2xf32>
  }
}

// -----

// Not every operation of the nests' dialects is allowed.
brew.program @slice test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %y = brew.kernel "k"(%x) : (tensor<4xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{phase fused: this operation is not allowed in a kernel}}
    %s = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
    brew.yield %s : tensor<2xf32>
  }
}

// -----

brew.program @copy test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %y = brew.kernel "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @below {{phase fused: this operation is not allowed in a kernel}}
    %c = linalg.copy ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    brew.yield %c : tensor<4xf32>
  }
}

// -----

brew.param @w : tensor<3x2xf32> {layer = "ip", index = 0 : i64}
brew.program @sink test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x2xf32>
  brew.output %x "x" loss_weight 0.0 : tensor<4x2xf32>
  %w = brew.param_value @w : tensor<3x2xf32>
  // expected-error @below {{phase fused: a step follows a sink}}
  %y = brew.inner_product "ip"(%x, %w) {num_output = 3 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
}

// -----

// A nest must name its layer.
brew.program @unmarked train {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %y = brew.kernel "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @below {{phase fused: this nest names no layer}}
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    brew.yield %n : tensor<4xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<4xf32>
}

// -----

// A nest that reads a gradient must be marked as part of the backward pass.
brew.program @forgotten train {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %g = brew.kernel "g"(%x) {backward} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) attrs = {brew.backward, brew.layer = "l", brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    brew.yield %n : tensor<4xf32>
  }
  %v = brew.reinterpret %g : tensor<4xf32> -> tensor<2x2xf32>
  %y = brew.kernel "k"(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %e = tensor.empty() : tensor<2x2xf32>
    // expected-error @below {{phase fused: this nest reads a gradient and does not belong to the backward pass}}
    %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) attrs = {brew.layer = "l", brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2xf32>
    brew.yield %n : tensor<2x2xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<2x2xf32>
}

// -----

// Nests of programs without layers name no layer.
brew.program @collect train role collect {
  %x = brew.param_value @w : tensor<4xf32>
  %y = brew.kernel "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    brew.yield %n : tensor<4xf32>
  }
  brew.store_param %y, @w : tensor<4xf32>
}

// -----

// Convolutions support strides only on a GPU.
#last = #brew.layout<0, 2, 3, 1>
brew.program @call test {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<2x16x4x4xbf16, #last>, tensor<8x8x1x1xbf16, #last>
  %y = brew.subview "s"(%x) {offsets = array<i64: 0, 8, 0, 0>} : (tensor<2x16x4x4xbf16, #last>) -> tensor<2x8x4x4xbf16, {strides = array<i64: 256, 1, 64, 16>}>
  // expected-error @below {{phase fused: this operation does not support the strides of a subview}}
  %z = brew.convolution "c"(%y, %w) {num_output = 8 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["z"]} : (tensor<2x8x4x4xbf16, {strides = array<i64: 256, 1, 64, 16>}>, tensor<8x8x1x1xbf16, #last>) -> tensor<2x8x4x4xbf16, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<2x8x4x4xbf16, #last>
}

// -----

// A loop overwrites its initial values, so nothing else may read them.

brew.program @loop test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2xf32>
  // expected-error @below {{phase fused: an initial value has another reader or is no result of a kernel}}
  %y = brew.loop "l" 3 initial(%x : tensor<1x2xf32>) carried(tensor<1x2xf32>) {
  ^bb0(%value: tensor<1x2xf32>):
    %k = brew.kernel "k"(%value) : (tensor<1x2xf32>) -> tensor<1x2xf32> {
    ^bb0(%a: tensor<1x2xf32>):
      brew.yield %a : tensor<1x2xf32>
    }
    brew.yield %k : tensor<1x2xf32>
  }
}
