// RUN: %brew-opt %s --brew-assign-layout='layout=nhwc' --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-assign-layout='layout=nhwc order-weights=false' --split-input-file | FileCheck %s --check-prefix=FILES

// Dimensions of size 1 do not affect the memory order: if the other dimensions are row-major,
// there is no layout attribute.
// CHECK-LABEL: brew.program @ones
brew.program @ones test {
  // CHECK: : tensor<2x1x4x4xf32>, tensor<2x3x1x1xf32>, tensor<2x3x4x1xf32, #brew.layout<0, 2, 3, 1>>{{$}}
  %x, %y, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y", "z"]} : tensor<2x1x4x4xf32>, tensor<2x3x1x1xf32>, tensor<2x3x4x1xf32>
}

// -----

// A view requires row-major elements, so its source stays row-major; so do tensors that do not
// have four dimensions.
// CHECK-LABEL: brew.program @views
brew.program @views test {
  // CHECK: : tensor<2x3x4x4xf32>, tensor<2x3x4xf32>{{$}}
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<2x3x4x4xf32>, tensor<2x3x4xf32>
  // CHECK: brew.reinterpret %{{.*}} : tensor<2x3x4x4xf32> -> tensor<6x16x1x1xf32>
  %v = brew.reinterpret %x : tensor<2x3x4x4xf32> -> tensor<6x16x1x1xf32>
  // The second value has no view.
  // CHECK: brew.relu {{.*}} -> tensor<2x3x4x4xf32, #brew.layout<0, 2, 3, 1>>
  %r = brew.relu "r"(%x) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
}

// -----

// Transposed weights [K, outputs]: the bottom's dimensions come first.
// CHECK: brew.param @t.0 : tensor<3x4x4x5xf32, #brew.layout<1, 2, 0, 3>>
brew.param @t.0 : tensor<48x5xf32> {layer = "t", index = 0 : i64, file_dims = array<i64: 48, 5>}
// Without order-weights they keep the layout of the files, and the bottom is row-major.
// FILES: brew.param @t.0 : tensor<3x4x4x5xf32> {
// FILES-LABEL: brew.program @transposed
// FILES: brew.data_input {{.*}} : tensor<2x3x4x4xf32>{{$}}
// CHECK-LABEL: brew.program @transposed
brew.program @transposed test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.param_value @t.0 : tensor<48x5xf32>
  %y = brew.inner_product "t"(%x, %w) {num_output = 5 : i64, axis = 1 : i64, transpose, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<48x5xf32>) -> tensor<2x5xf32>
}

// -----

// Weights that two layers read with bottoms of different shapes cannot follow both: they keep
// Caffe's layout.
// CHECK: brew.param @s.0 : tensor<5x48xf32>
brew.param @s.0 : tensor<5x48xf32> {layer = "s", index = 0 : i64, file_dims = array<i64: 5, 48>}
// CHECK-LABEL: brew.program @shared
brew.program @shared test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2x3x4x4xf32>, tensor<2x4x3x4xf32>
  %w = brew.param_value @s.0 : tensor<5x48xf32>
  %y = brew.inner_product "s"(%x, %w) {num_output = 5 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<5x48xf32>) -> tensor<2x5xf32>
  // CHECK: brew.param_value @s.0 : tensor<5x48xf32>
  %v = brew.param_value @s.0 : tensor<5x48xf32>
  %u = brew.inner_product "s2"(%z, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["u"]} : (tensor<2x4x3x4xf32>, tensor<5x48xf32>) -> tensor<2x5xf32>
}

// -----

// The gradients of weights that two layers read have the weights' layout, and so has their sum.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK: brew.param @s.0 : tensor<5x3x4x4xf32, #brew.layout<0, 2, 3, 1>>
#map = affine_map<(d0, d1) -> (d0, d1)>
brew.param @s.0 : tensor<5x48xf32> {layer = "s", index = 0 : i64, file_dims = array<i64: 5, 48>}
// CHECK-LABEL: brew.program @summed
brew.program @summed train differentiate {
  %x, %z, %d = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "d"]} : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>, tensor<2x5xf32>
  %w = brew.param_value @s.0 : tensor<5x48xf32>
  %y = brew.inner_product "s"(%x, %w) {num_output = 5 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<5x48xf32>) -> tensor<2x5xf32>
  %u = brew.inner_product "s2"(%z, %w) {num_output = 5 : i64, axis = 1 : i64, tops = ["u"]} : (tensor<2x3x4x4xf32>, tensor<5x48xf32>) -> tensor<2x5xf32>
  %dw1, %db1 = brew.inner_product_backward_weights "s"(%x, %d) {axis = 1 : i64, brew.backward} : (tensor<2x3x4x4xf32>, tensor<2x5xf32>) -> (tensor<5x48xf32>, tensor<5xf32>)
  %dw2, %db2 = brew.inner_product_backward_weights "s2"(%z, %d) {axis = 1 : i64, brew.backward} : (tensor<2x3x4x4xf32>, tensor<2x5xf32>) -> (tensor<5x48xf32>, tensor<5xf32>)
  %e = tensor.empty() : tensor<5x48xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[MAP]], #[[MAP]], #[[MAP]]], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<5x3x4x4xf32, #brew.layout<0, 2, 3, 1>>, tensor<5x3x4x4xf32, #brew.layout<0, 2, 3, 1>>)
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%dw1, %dw2 : tensor<5x48xf32>, tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) attrs = {brew.backward, brew.layer = "s"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<5x48xf32>
  // CHECK: brew.store_gradient %{{.*}}, @s.0 : tensor<5x3x4x4xf32, #brew.layout<0, 2, 3, 1>>
  brew.store_gradient %sum, @s.0 : tensor<5x48xf32>
}
