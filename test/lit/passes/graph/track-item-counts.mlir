// RUN: %brew-opt %s --brew-track-item-counts | FileCheck %s

// Layers that process each item separately do not change. Layers that combine items get their
// padding items masked. Results divided by the number of items are corrected for the number of
// valid items.
// CHECK-LABEL: brew.program @combine
brew.program @combine train {
  // CHECK: %[[IN:.*]]:3 = brew.data_input
  %x, %t, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "t", "s"]} : tensor<4x3xf32>, tensor<4xf32>, tensor<4x1xf32>
  // CHECK: %[[Y:.*]]:2, %[[COUNT:.*]], %{{.*}} = brew.filter "f"
  %y:2, %c, %p = brew.filter "f"(%x, %t, %s) {tops = ["y", "u"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<4x1xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<i32>, tensor<4xi32>)
  // CHECK-NEXT: %[[R:.*]] = brew.relu "relu"(%[[Y]]#0)
  %r = brew.relu "relu"(%y#0) {negative_slope = 0.0 : f32, tops = ["r"]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[MASKED:.*]] = brew.mask_items "mean"(%[[R]], %[[COUNT]]) {fill = 0.000000e+00 : f64}
  // CHECK-NEXT: %[[SUM:.*]] = brew.reduction "mean"(%[[MASKED]]) {{.*}}loss_weights = array<f32: 0.000000e+00>, tops = [""]}
  // CHECK-NEXT: %[[MEAN:.*]] = brew.average_items "mean"(%[[SUM]], %[[COUNT]]) {items = 4 : i64, loss_weights = array<f32: 2.000000e+00>, tops = ["mean"]}
  %mean = brew.reduction "mean"(%r) {axis = 0 : i64, coeff = 1.0 : f32, kind = #brew<reduction_kind mean>, loss_weights = array<f32: 2.0>, tops = ["mean"]} : (tensor<4x3xf32>) -> tensor<f32>
  // CHECK-NEXT: brew.output %[[MEAN]] "mean"
  brew.output %mean "mean" loss_weight 2.0 : tensor<f32>
  // A sum needs no correction.
  // CHECK-NEXT: %[[MASKED:.*]] = brew.mask_items "sum"(%[[R]], %[[COUNT]])
  // CHECK-NEXT: brew.reduction "sum"(%[[MASKED]]) {{.*}}tops = ["sum"]}
  // CHECK-NOT: brew.average_items "sum"
  %sum = brew.reduction "sum"(%r) {axis = 0 : i64, coeff = 1.0 : f32, kind = #brew<reduction_kind sum>, tops = ["sum"]} : (tensor<4x3xf32>) -> tensor<f32>
  // A mean within each item keeps the item count of its bottom.
  // CHECK: %[[EACH:.*]] = brew.reduction "each"(%[[R]])
  %each = brew.reduction "each"(%r) {axis = 1 : i64, coeff = 1.0 : f32, kind = #brew<reduction_kind mean>, tops = ["each"]} : (tensor<4x3xf32>) -> tensor<4xf32>
  brew.output %each "each" loss_weight 0.0 : tensor<4xf32>
  // The padding items get an ignored label: the net's ignore_label, or a label that does not occur
  // in data.
  // CHECK: %[[LABEL:.*]] = brew.mask_items "loss"(%[[Y]]#1, %[[COUNT]]) {fill = 0xC1E0000000000000 : f64}
  // CHECK-NEXT: brew.softmax_loss "loss"(%[[R]], %[[LABEL]]) {{.*}}ignore_label = -2147483648 : i64{{.*}}tops = ["loss"]}
  // CHECK-NOT: brew.average_items "loss"
  %loss:4 = brew.softmax_loss "loss"(%r, %y#1) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
  // CHECK: %[[LABEL:.*]] = brew.mask_items "full"(%[[Y]]#1, %[[COUNT]]) {fill = 2.000000e+00 : f64}
  // CHECK-NEXT: brew.softmax_loss "full"(%[[R]], %[[LABEL]]) {{.*}}ignore_label = 2 : i64
  // CHECK-NEXT: brew.average_items "full"
  %full:4 = brew.softmax_loss "full"(%r, %y#1) {axis = 1 : i64, ignore_label = 2 : i64, normalization = #brew<normalization full>, loss_weights = array<f32: 1.0>, tops = ["full"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
  brew.pin data "r", %r : tensor<4x3xf32>
  brew.pin data "x", %x : tensor<4x3xf32>
  // CHECK: brew.pin data "x"
  // CHECK-NEXT: brew.pin count "each", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.pin count "r", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: {{^ *}$}}
}

// Filters with the same selector have the same item count. A filter never selects the padding
// items of its selector.
// CHECK-LABEL: brew.program @filters
brew.program @filters test {
  // CHECK: %[[IN:.*]]:4 = brew.data_input
  %x, %z, %s, %t = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z", "s", "t"]} : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
  %ss:2 = brew.split "split"(%s) {tops = ["s0", "s1"]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: %[[Y:.*]]:2, %[[COUNT:.*]], %{{.*}} = brew.filter "f"
  %y:2, %c, %p = brew.filter "f"(%x, %t, %ss#0) {tops = ["y", "u"]} : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<i32>, tensor<4xi32>)
  // CHECK-NEXT: %[[W:.*]], %{{.*}}, %{{.*}} = brew.filter "g"
  %w, %d, %q = brew.filter "g"(%z, %ss#1) {tops = ["w"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  // CHECK-NEXT: brew.eltwise "e"(%[[Y]]#0, %[[W]])
  %e = brew.eltwise "e"(%y#0, %w) {coeff = array<f32>, kind = #brew<eltwise_kind prod>, tops = ["e"]} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[SELECTOR:.*]] = brew.mask_items "h"(%[[Y]]#1, %[[COUNT]]) {fill = 0.000000e+00 : f64}
  // CHECK-NEXT: %[[V:.*]], %[[LESS:.*]], %{{.*}} = brew.filter "h"(%{{.*}}, %[[SELECTOR]])
  %v, %g, %r = brew.filter "h"(%e, %y#1) {tops = ["v"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<4xi32>)
  brew.output %e "e" loss_weight 0.0 : tensor<4x3xf32>
  brew.output %v "v" loss_weight 0.0 : tensor<4x3xf32>
  // CHECK: brew.pin count "e", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.pin count "v", %[[LESS]] : tensor<i32>
  // CHECK-NEXT: {{^ *}$}}
}

// Covers losses whose only use of the item count is a division, statistics over the valid items,
// layers in which one bottom determines the item count or the shape, and layers that consist of
// several operations, whose intermediate results have no names.
// CHECK-LABEL: brew.program @layers
brew.program @layers train {
  // CHECK: %[[IN:.*]]:4 = brew.data_input
  %x, %t, %w, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "t", "w", "s"]} : tensor<4x3x1x2xf32>, tensor<4xf32>, tensor<4x3x5x6xf32>, tensor<4xf32>
  // CHECK: %[[Y:.*]]:2, %[[COUNT:.*]], %{{.*}} = brew.filter "f"
  %y:2, %c, %p = brew.filter "f"(%x, %t, %s) {tops = ["y", "u"]} : (tensor<4x3x1x2xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x3x1x2xf32>, tensor<4xf32>, tensor<i32>, tensor<4xi32>)
  // CHECK: %[[LABEL:.*]] = brew.mask_items "hinge"(%[[Y]]#1, %[[COUNT]]) {fill = 0xC1E0000000000000 : f64}
  // CHECK-NEXT: brew.hinge_loss "hinge"(%[[Y]]#0, %[[LABEL]]) {ignore_label = -2147483648 : i64, loss_weights = array<f32: 0.000000e+00>, tops = [""]}
  // CHECK-NEXT: brew.average_items "hinge"(%{{.*}}, %[[COUNT]]) {items = 4 : i64, loss_weights = array<f32: 2.000000e+00>, tops = ["hinge"]}
  %hinge, %hs = brew.hinge_loss "hinge"(%y#0, %y#1) {loss_weights = array<f32: 2.0>, tops = ["hinge"]} : (tensor<4x3x1x2xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<i32>)
  // CHECK-NEXT: %[[LABEL:.*]] = brew.mask_items "log"(%[[Y]]#1, %[[COUNT]])
  // CHECK-NEXT: brew.multinomial_logistic_loss "log"(%[[Y]]#0, %[[LABEL]]) {ignore_label = -2147483648 : i64, tops = [""]}
  // CHECK-NEXT: brew.average_items "log"
  %log, %ls = brew.multinomial_logistic_loss "log"(%y#0, %y#1) {tops = ["log"]} : (tensor<4x3x1x2xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<i32>)
  // CHECK-NEXT: %[[N:.*]], %{{.*}} = brew.batch_norm "norm"(%[[Y]]#0, %[[COUNT]]) {eps = {{.*}}, has_item_count, tops = []}
  %n, %d = brew.batch_norm "norm"(%y#0) {eps = 1.0e-5 : f32, fraction = 0.9 : f32, tops = []} : (tensor<4x3x1x2xf32>) -> (tensor<4x3x1x2xf32>, tensor<3xf32>)
  // CHECK-NEXT: %[[L:.*]] = brew.lrn "norm"(%[[N]])
  %l = brew.lrn "norm"(%n) {size = 5 : i64, alpha = 1.0 : f32, beta = 0.75 : f32, k = 1.0 : f32, tops = []} : (tensor<4x3x1x2xf32>) -> tensor<4x3x1x2xf32>
  // CHECK-NEXT: brew.interp "i"(%[[L]], %[[IN]]#2)
  %i = brew.interp "i"(%l, %w) {pad_beg = 0 : i64, pad_end = 0 : i64, shrink = 1 : i64, size = array<i64>, tops = ["i"], zoom = 1 : i64} : (tensor<4x3x1x2xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
  // CHECK-NEXT: brew.crop "k"
  %k = brew.crop "k"(%i, %w) {axis = 1 : i64, offsets = array<i64: 0, 0, 0>, tops = ["k"]} : (tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
  // CHECK-NEXT: brew.crop "whole"
  %whole = brew.crop "whole"(%w, %k) {axis = 1 : i64, offsets = array<i64: 0, 0, 0>, tops = ["whole"]} : (tensor<4x3x5x6xf32>, tensor<4x3x5x6xf32>) -> tensor<4x3x5x6xf32>
  // CHECK-NEXT: brew.squeeze "q"
  %q = brew.squeeze "q"(%y#0) {axes = array<i64: 2>, tops = ["q"]} : (tensor<4x3x1x2xf32>) -> tensor<4x3x2xf32>
  // CHECK-NEXT: brew.reshape "r"
  %r = brew.reshape "r"(%y#0) {axis = 0 : i64, dims = array<i64: -1, 6>, num_axes = -1 : i64, tops = ["r"]} : (tensor<4x3x1x2xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: brew.batch_reindex "b"
  %b, %bs = brew.batch_reindex "b"(%w, %y#1) {tops = ["b"]} : (tensor<4x3x5x6xf32>, tensor<4xf32>) -> (tensor<4x3x5x6xf32>, tensor<i32>)
  // CHECK-NEXT: brew.prior_box "boxes"
  %boxes = brew.prior_box "boxes"(%y#0, %k) {widths = array<f32: 2.0>, heights = array<f32: 2.0>, variances = array<f32: 0.1>, image_size = array<i64: 5, 6>, step = array<f32: 0.0, 0.0>, offset = 0.5 : f32, tops = ["boxes"]} : (tensor<4x3x1x2xf32>, tensor<4x3x5x6xf32>) -> tensor<1x2x8xf32>
  brew.pin data "k", %k : tensor<4x3x5x6xf32>
  brew.pin data "whole", %whole : tensor<4x3x5x6xf32>
  brew.pin data "q", %q : tensor<4x3x2xf32>
  brew.pin data "r", %r : tensor<4x6xf32>
  brew.pin data "b", %b : tensor<4x3x5x6xf32>
  brew.pin data "boxes", %boxes : tensor<1x2x8xf32>
  // CHECK: brew.pin data "boxes"
  // CHECK-NEXT: brew.pin count "k", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.pin count "q", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.pin count "r", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.pin count "b", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: {{^ *}$}}
}

// Views: the items may be divided, or move to another dimension. The count of rows of a
// DetectionOutput becomes a count of elements.
// CHECK-LABEL: brew.program @views
brew.program @views test {
  %l, %c, %o, %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["l", "c", "o", "x"]} : tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>, tensor<1x2xf32>
  // CHECK: %[[D:.*]], %[[N:.*]] = brew.detection_output "d"
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, tops = ["d"]} : (tensor<1x8xf32>, tensor<1x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x5x7xf32>, tensor<1x1xi32>)
  // CHECK-NEXT: %[[ELEMENTS:.*]] = brew.scale_item_count "d"(%[[N]]) {factor = 7 : i64} : (tensor<1x1xi32>) -> tensor<1xi32>
  // CHECK-NEXT: %[[F:.*]] = brew.flatten "f"(%[[D]])
  %f = brew.flatten "f"(%d) {axis = 1 : i64, end_axis = -1 : i64, tops = ["f"]} : (tensor<1x1x5x7xf32>) -> tensor<1x35xf32>
  // The count of the same view is computed once.
  // CHECK-NEXT: %[[R:.*]] = brew.reshape "r"(%[[D]])
  %r = brew.reshape "r"(%d) {axis = 0 : i64, dims = array<i64: 0, -1>, num_axes = -1 : i64, tops = ["r"]} : (tensor<1x1x5x7xf32>) -> tensor<1x35xf32>
  // CHECK-NEXT: %[[E:.*]] = brew.eltwise "e"(%[[F]], %[[R]])
  %e = brew.eltwise "e"(%f, %r) {coeff = array<f32>, kind = #brew<eltwise_kind sum>, tops = ["e"]} : (tensor<1x35xf32>, tensor<1x35xf32>) -> tensor<1x35xf32>
  // CHECK-NEXT: %[[Q:.*]] = brew.concat "q"(%[[E]], %{{.*}}) {axis = 1 : i64, tops = [""]}
  // CHECK-NEXT: %[[P:.*]], %[[TOTAL:.*]] = brew.pack_items "q"(%[[Q]], %[[ELEMENTS]]) {axis = 1 : i64, counted = array<i1: true, false>, extents = array<i64: 35, 2>, tops = ["q"]} : (tensor<1x37xf32>, tensor<1xi32>) -> (tensor<1x37xf32>, tensor<1xi32>)
  %q = brew.concat "q"(%e, %x) {axis = 1 : i64, tops = ["q"]} : (tensor<1x35xf32>, tensor<1x2xf32>) -> tensor<1x37xf32>
  // A view of a view may join the elements to rows again.
  // CHECK-NEXT: brew.scale_item_count "d"(%[[N]]) {factor = 1 : i64} : (tensor<1x1xi32>) -> tensor<i32>
  // CHECK-NEXT: brew.reshape "rows"(%[[E]])
  %rows = brew.reshape "rows"(%e) {axis = 0 : i64, dims = array<i64: -1, 7>, num_axes = -1 : i64, tops = ["rows"]} : (tensor<1x35xf32>) -> tensor<5x7xf32>
  // CHECK-NEXT: brew.output %[[P]] "q"
  brew.output %q "q" loss_weight 0.0 : tensor<1x37xf32>
  // CHECK: brew.pin {{.*}}%[[TOTAL]]
}
