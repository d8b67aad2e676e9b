// RUN: %brew-opt %s --brew-alias-subviews --split-input-file | FileCheck %s

// Nests write their subview of the concatenated tensor.
// CHECK-LABEL: brew.program @join
brew.program @join test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  // A data-layer top is copied, right after the data layer.
  // CHECK: %[[COPY:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32, {strides = array<i64: 6, 1>}>) attrs = {brew.layer = "c"}
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32, {strides = array<i64: 6, 1>}>)
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  // CHECK: brew.concat_view "c"(%[[A]], %[[COPY]]) {axis = 1 : i64} : (tensor<2x3xf32, {strides = array<i64: 6, 1>}>, tensor<2x3xf32, {strides = array<i64: 6, 1>}>) -> tensor<2x6xf32>
  %y = brew.concat_view "c"(%a, %x) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // A subview can be pinned.
  // CHECK: brew.pin data "a", %[[A]] : tensor<2x3xf32, {strides = array<i64: 6, 1>}>
  brew.pin data "a", %a : tensor<2x3xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x6xf32>
}

// -----

// A concatenated tensor can itself be a subview.
// CHECK-LABEL: brew.program @nested
brew.program @nested test {
  %e = tensor.empty() : tensor<2x3xf32>
  %c = arith.constant 1.0 : f32
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  // CHECK: %[[AB:.*]] = brew.concat_view "p"({{.*}}) {axis = 1 : i64} : (tensor<2x3xf32, {strides = array<i64: 9, 1>}>, tensor<2x3xf32, {strides = array<i64: 9, 1>}>) -> tensor<2x6xf32, {strides = array<i64: 9, 1>}>
  %ab = brew.concat_view "p"(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: brew.concat_view "q"(%[[AB]], %{{.*}}) {{.*}} -> tensor<2x9xf32>
  %y = brew.concat_view "q"(%ab, %d) {axis = 1 : i64} : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x9xf32>
}

// -----

// An operand of two concatenations is copied once, and so is a tensor with a view of another
// shape.
// CHECK-LABEL: brew.program @copied
brew.program @copied test {
  %e = tensor.empty() : tensor<2x3xf32>
  %c = arith.constant 1.0 : f32
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32, {strides = array<i64: 3, 1>}>)
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  // CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs({{.*}} : tensor<2x3xf32, {strides = array<i64: 3, 1>}>) attrs = {brew.layer = "t"}
  // CHECK: brew.concat_view "t"(%[[AGAIN]], %[[A]])
  %y = brew.concat_view "t"(%a, %a) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32>)
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<2x3xf32>
  %v = brew.reinterpret %b : tensor<2x3xf32> -> tensor<6xf32>
  brew.output %v "v" loss_weight 0.0 : tensor<6xf32>
  %z = brew.concat_view "z"(%b, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  brew.output %z "z" loss_weight 0.0 : tensor<6x3xf32>
}

// -----

// Nests read subviews in place; vendor calls read a copy.
// CHECK-LABEL: brew.program @cut
brew.param @w : tensor<4x3xf32> {layer = "i", index = 0 : i64}
brew.program @cut test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  %w = brew.param_value @w : tensor<4x3xf32>
  // CHECK: %[[P:.*]] = brew.subview "s"(%{{.*}}) {offsets = array<i64: 0, 3>} : (tensor<2x6xf32>) -> tensor<2x3xf32, {strides = array<i64: 6, 1>}>
  // CHECK: %[[DENSE:.*]] = linalg.generic {{.*}} ins(%[[P]] : {{.*}}) outs({{.*}} : tensor<2x3xf32>) attrs = {brew.layer = "s"}
  %p = brew.subview "s"(%x) {offsets = array<i64: 0, 3>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  // CHECK: brew.inner_product "i"(%[[DENSE]], %{{.*}})
  %y = brew.inner_product "i"(%p, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["y"]} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<2x4xf32>
  // CHECK: brew.output %[[P]] "p"
  brew.output %p "p" loss_weight 0.0 : tensor<2x3xf32>
}

// -----

// A subview that covers a full subview is replaced by that subview. A view of another shape reads
// a copy.
// CHECK-LABEL: brew.program @all_of_a_part
brew.program @all_of_a_part test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x6xf32>
  // CHECK: %[[P:.*]] = brew.subview "s"
  // CHECK-NOT: brew.subview "c"
  // CHECK: %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[P]] : {{.*}}) outs({{.*}} : tensor<2x3xf32>)
  %p = brew.subview "s"(%x) {offsets = array<i64: 0, 3>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %c = brew.subview "c"(%p) {offsets = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: brew.reinterpret %[[COPY]]
  %v = brew.reinterpret %c : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK: brew.output %[[P]] "c"
  brew.output %v "v" loss_weight 0.0 : tensor<6xf32>
  brew.output %c "c" loss_weight 0.0 : tensor<2x3xf32>
}

// -----

// A subview of the full tensor is replaced by its operand only if the layout is the same. A reader
// of another layout reads a copy.
// CHECK-LABEL: brew.program @relaid
brew.program @relaid test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x5xf32, #brew.layout<0, 2, 3, 1>>
  %y = brew.subview "c"(%x) {offsets = array<i64: 0, 0, 0, 0>} : (tensor<2x3x4x5xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<2x3x4x5xf32>
  // CHECK: %[[COPY:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x3x4x5xf32>)
  // CHECK: brew.reinterpret %[[COPY]] : tensor<2x3x4x5xf32> -> tensor<2x60xf32>
  %flat = brew.reinterpret %y : tensor<2x3x4x5xf32> -> tensor<2x60xf32>
  brew.output %flat "flat" loss_weight 0.0 : tensor<2x60xf32>
}
// CHECK-LABEL: brew.program @same
brew.program @same test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  %y = brew.subview "c"(%x) {offsets = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: brew.output %[[X]]
  brew.output %y "y" loss_weight 0.0 : tensor<2x3xf32>
}
