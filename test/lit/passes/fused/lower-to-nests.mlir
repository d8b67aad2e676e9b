// RUN: %brew-opt %s --brew-lower-to-nests --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,LIB
// RUN: %brew-opt %s --brew-lower-to-nests='no-library=conv' --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,NOCONV
// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,NOLIB

// The calls of an f32 net stay unless their group is excluded.
// CHECK-LABEL: brew.program @groups
brew.program @groups test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.data_input "win" "Input" {config = "", folder = "", tops = ["w"]} : tensor<4x3x3x3xf32>
  %v = brew.data_input "vin" "Input" {config = "", folder = "", tops = ["v"]} : tensor<5x4x2x2xf32>
  // LIB: brew.convolution "conv"
  // LIB: brew.inner_product "ip"
  // LIB-NOT: linalg.generic
  // NOCONV-NOT: brew.convolution
  // NOCONV: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  // NOCONV: brew.inner_product "ip"
  // NOLIB-NOT: brew.convolution
  // NOLIB: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  // NOLIB-NOT: brew.inner_product
  // NOLIB: linalg.generic {{.*}}"reduction"
  // CHECK: brew.output
  %c = brew.convolution "conv"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x2x2xf32>
  %i = brew.inner_product "ip"(%c, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x4x2x2xf32>, tensor<5x4x2x2xf32>) -> tensor<2x5xf32>
  brew.output %i "i" loss_weight 0.0 : tensor<2x5xf32>
}

// -----

// Double precision has no vendor calls.
// CHECK-LABEL: brew.program @f64
brew.program @f64 test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf64>
  %v = brew.data_input "vin" "Input" {config = "", folder = "", tops = ["v"]} : tensor<5x6xf64>
  // CHECK-NOT: brew.inner_product
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x5xf64>)
  %i = brew.inner_product "ip"(%x, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x6xf64>, tensor<5x6xf64>) -> tensor<2x5xf64>
  brew.output %i "i" loss_weight 0.0 : tensor<2x5xf64>
}

// -----

// An inner product is not a call if its weights do not have its bottom's dimensions, or if it
// contracts all dimensions.
// CHECK-LABEL: brew.program @no_call
brew.program @no_call test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4xf32>
  %v = brew.data_input "vin" "Input" {config = "", folder = "", tops = ["v"]} : tensor<5x12xf32>
  %u = brew.data_input "uin" "Input" {config = "", folder = "", tops = ["u"]} : tensor<5x2x3x4xf32>
  // CHECK-NOT: brew.inner_product
  // CHECK: brew.output
  %i = brew.inner_product "flat"(%x, %v) {num_output = 5 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x3x4xf32>, tensor<5x12xf32>) -> tensor<2x5xf32>
  %j = brew.inner_product "all"(%x, %u) {num_output = 5 : i64, axis = 0 : i64, tops = ["j"]} : (tensor<2x3x4xf32>, tensor<5x2x3x4xf32>) -> tensor<5xf32>
  brew.output %i "i" loss_weight 0.0 : tensor<2x5xf32>
  brew.output %j "j" loss_weight 0.0 : tensor<5xf32>
}

// -----

// An elementwise layer becomes one nest with the scalar expression, marked with the layer's name.
// CHECK-LABEL: brew.program @elementwise
brew.program @elementwise test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // x > 0 ? x : 0.25 * x
  // CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<2x3xf32>) {{.*}} attrs = {brew.layer = "relu"}
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
  // CHECK-DAG: %[[Z:.*]] = arith.constant 0.000000e+00
  // CHECK-DAG: %[[S:.*]] = arith.constant 2.500000e-01
  // CHECK-DAG: %[[N:.*]] = arith.mulf %[[IN]], %[[S]]
  // CHECK-DAG: %[[C:.*]] = arith.cmpf ogt, %[[IN]], %[[Z]]
  // CHECK: %[[Y:.*]] = arith.select %[[C]], %[[IN]], %[[N]]
  // CHECK-NEXT: linalg.yield %[[Y]]
  %r = brew.relu "relu"(%x) {negative_slope = 0.25 : f32, tops = ["r"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // (1 + 3 * x) ^ 2: the square is a product, not a power.
  // CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[R]]
  // CHECK: %[[A:.*]] = arith.mulf
  // CHECK: %[[B:.*]] = arith.addf %[[A]]
  // CHECK-NOT: math.powf
  // CHECK: arith.mulf %[[B]], %[[B]]
  %p = brew.power "power"(%r) {power = 2.0 : f32, scale = 3.0 : f32, shift = 1.0 : f32, tops = ["p"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  brew.output %p "p" loss_weight 0.0 : tensor<2x3xf32>
}

// -----

// Sinks and vendor calls need constants in memory; nests take them into their bodies.
// CHECK-LABEL: brew.program @fills
brew.program @fills train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // CHECK: %[[WRITTEN:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<2x3xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[C:.*]] = arith.constant 4.0
  // CHECK-NEXT: linalg.yield %[[C]]
  %f = brew.fill 4.0 : tensor<2x3xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{[^,]*}} : tensor<2x3xf32>) outs
  // CHECK: arith.constant 4.0
  %e = brew.eltwise "sum"(%x, %f) {kind = #brew<eltwise_kind sum>, coeff = array<f32: 1.0, 1.0>, tops = ["e"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: brew.pin diff "f", %[[WRITTEN]]
  brew.pin diff "f", %f : tensor<2x3xf32>
  brew.output %e "e" loss_weight 0.0 : tensor<2x3xf32>
}

// -----

// Results have the layout of their type.
// CHECK-LABEL: brew.program @layout
brew.program @layout test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x3x4x4xf32, #brew.layout<0, 2, 3, 1>>
  // CHECK: tensor.empty(){{.*}} : tensor<1x3x2x2xf32, #brew.layout<0, 2, 3, 1>>
  // CHECK: } -> (tensor<1x3x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<1x3x2x2xi8, #brew.layout<0, 2, 3, 1>>)
  %y, %argmax = brew.max_pooling "pool"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["y"]} : (tensor<1x3x4x4xf32, #brew.layout<0, 2, 3, 1>>) -> (tensor<1x3x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<1x3x2x2xi8, #brew.layout<0, 2, 3, 1>>)
  brew.pin data "y", %y : tensor<1x3x2x2xf32, #brew.layout<0, 2, 3, 1>>
  brew.pin data "a", %argmax : tensor<1x3x2x2xi8, #brew.layout<0, 2, 3, 1>>
}

// -----

// ArgMax sorts if many of the largest elements are requested: a nest negates the order, 6 nests
// create sorted runs of 64, the next ones merge two runs each to one of 100, and two create the
// top.
// CHECK-LABEL: brew.program @largest
brew.program @largest test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x1000xf32>
  // CHECK-COUNT-7: linalg.generic {{.*}} outs({{.*}} tensor<2x1000xf32>
  // CHECK: linalg.generic {{.*}} outs({{.*}} tensor<2x800xf32>, tensor<2x800xi32>)
  // CHECK: linalg.generic {{.*}} outs({{.*}} tensor<2x400xf32>, tensor<2x400xi32>)
  // CHECK: linalg.generic {{.*}} outs({{.*}} tensor<2x200xf32>, tensor<2x200xi32>)
  // CHECK: linalg.generic {{.*}} outs({{.*}} tensor<2x100xf32>, tensor<2x100xi32>)
  // CHECK-COUNT-2: linalg.generic
  // CHECK-NOT: linalg.generic
  // CHECK: brew.output
  %y = brew.argmax "a"(%x) {axis = 1 : i64, max_values, top_k = 100 : i64, tops = ["y"]} : (tensor<2x1000xf32>) -> tensor<2x100xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x100xf32>
}

// -----

// A crop reads only the shape of its reference: the entire computation of the reference is
// erased.
// CHECK-LABEL: brew.program @reference
brew.program @reference test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %w = brew.data_input "win" "Input" {config = "", folder = "", tops = ["w"]} : tensor<4x3x3x3xf32>
  // CHECK-NOT: "conv"
  // CHECK-NOT: "relu"
  // CHECK-NOT: linalg.generic
  // CHECK: brew.subview "crop"
  %c = brew.convolution "conv"(%x, %w) {num_output = 4 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["c"]} : (tensor<2x3x4x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x2x2xf32>
  %r = brew.relu "relu"(%c) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  %y = brew.crop "crop"(%x, %r) {axis = 2 : i64, offsets = array<i64: 1, 1>, tops = ["y"]} : (tensor<2x3x4x4xf32>, tensor<2x4x2x2xf32>) -> tensor<2x3x2x2xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x3x2x2xf32>
}

// -----

// If calls do not return a bias gradient, a long one is a nest that sums the convolution's
// gradient, and the call computes only the weight gradient.
// CHECK-LABEL: brew.program @bias
brew.program @bias train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x402x402xf32>
  %dy = brew.data_input "din" "Input" {config = "", folder = "", tops = ["dy"]} : tensor<2x5x400x400xf32>
  // LIB: %[[DB:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%{{.*}} : tensor<2x5x400x400xf32>) outs(%{{.*}}) attrs = {brew.backward, brew.layer = "long"}
  // LIB: %[[DW:.*]] = brew.convolution_backward_weights "long"{{.*}}brew.backward{{.*}} -> tensor<5x3x3x3xf32>
  // LIB: brew.output %[[DW]] "dw"
  // LIB: brew.output %[[DB]] "db"
  %dw, %db = brew.convolution_backward_weights "long"(%x, %dy) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, brew.backward} : (tensor<2x3x402x402xf32>, tensor<2x5x400x400xf32>) -> (tensor<5x3x3x3xf32>, tensor<5xf32>)
  brew.output %dw "dw" loss_weight 0.0 : tensor<5x3x3x3xf32>
  brew.output %db "db" loss_weight 0.0 : tensor<5xf32>
}

// -----

// A call that sums a short bias gradient itself stays whole.
// CHECK-LABEL: brew.program @short_bias
brew.program @short_bias train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x4xf32>
  %dy = brew.data_input "din" "Input" {config = "", folder = "", tops = ["dy"]} : tensor<2x5x2x2xf32>
  // LIB-NOT: linalg.generic
  // LIB: brew.convolution_backward_weights "short"{{.*}} -> (tensor<5x3x3x3xf32>, tensor<5xf32>)
  %dw, %db = brew.convolution_backward_weights "short"(%x, %dy) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, brew.backward} : (tensor<2x3x4x4xf32>, tensor<2x5x2x2xf32>) -> (tensor<5x3x3x3xf32>, tensor<5xf32>)
  brew.output %dw "dw" loss_weight 0.0 : tensor<5x3x3x3xf32>
  brew.output %db "db" loss_weight 0.0 : tensor<5xf32>
}

// -----

// Every kind of sink reads memory, never a constant.
// CHECK-LABEL: brew.program @sinks
brew.program @sinks train {
  // CHECK-NOT: brew.fill
  // CHECK: %[[ZEROS:.*]] = linalg.generic
  // CHECK: brew.store_all_gradients %[[ZEROS]] accumulated
  %zeros = brew.fill 0.0 : tensor<16xf32>
  brew.store_all_gradients %zeros accumulated : tensor<16xf32>
}

// -----

// A single window that covers each plane is a sum over the plane, and its gradient is one
// quotient per plane: no loop searches for the windows that contain an element.
// CHECK-LABEL: brew.program @planes
brew.program @planes test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x7x5xf32>
  %dy = brew.data_input "dyin" "Input" {config = "", folder = "", tops = ["dy"]} : tensor<2x3x1x1xf32>
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>]
  // CHECK-SAME: ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  // CHECK-SAME: tensor<2x3x7x5xf32>) outs({{.*}} : tensor<2x3x1x1xf32>)
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]] :
  // CHECK: arith.divf %{{.*}}, %{{.*}} : f32
  %y = brew.average_pooling "pool"(%x) {kernel = array<i64: 7, 5>, stride = array<i64: 2, 1>, pad = array<i64: 0, 0>, tops = ["y"]} : (tensor<2x3x7x5xf32>) -> tensor<2x3x1x1xf32>
  // CHECK: %[[EACH:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]} {{.*}} outs({{.*}} : tensor<2x3x1x1xf32>)
  // CHECK: arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%[[EACH]] :
  %dx = brew.average_pooling_backward "pool"(%dy) {brew.backward, kernel = array<i64: 7, 5>, stride = array<i64: 2, 1>, pad = array<i64: 0, 0>} : (tensor<2x3x1x1xf32>) -> tensor<2x3x7x5xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x3x1x1xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<2x3x7x5xf32>
}

// -----

// A single window that omits the last row checks for each row whether it contains it.
// CHECK-LABEL: brew.program @one_window
brew.program @one_window test {
  %dy = brew.data_input "dyin" "Input" {config = "", folder = "", tops = ["dy"]} : tensor<2x3x1x1xf32>
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins({{.*}} : tensor<1x1xi8>) outs({{.*}} : tensor<2x3x7x5xf32>)
  // CHECK: arith.constant 6 : index
  // CHECK: arith.cmpi slt
  %dx = brew.average_pooling_backward "pool"(%dy) {brew.backward, kernel = array<i64: 6, 5>, stride = array<i64: 2, 1>, pad = array<i64: 0, 0>} : (tensor<2x3x1x1xf32>) -> tensor<2x3x7x5xf32>
  brew.output %dx "dx" loss_weight 0.0 : tensor<2x3x7x5xf32>
}
