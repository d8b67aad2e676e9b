// RUN: %brew-opt %s --brew-track-items | FileCheck %s

// Layers that work item by item need nothing; those that combine items read the
// rest masked, and what is divided by the number of items is corrected.
// CHECK-LABEL: brew.program @combine
brew.program @combine train {
  // CHECK: %[[IN:.*]]:3 = brew.feed
  %x, %t, %s = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "t", "s"]} : tensor<4x3xf32>, tensor<4xf32>, tensor<4x1xf32>
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
  // The mean of each item is one of as many items.
  // CHECK: %[[EACH:.*]] = brew.reduction "each"(%[[R]])
  %each = brew.reduction "each"(%r) {axis = 1 : i64, coeff = 1.0 : f32, kind = #brew<reduction_kind mean>, tops = ["each"]} : (tensor<4x3xf32>) -> tensor<4xf32>
  brew.output %each "each" loss_weight 0.0 : tensor<4xf32>
  // The rest gets a label that is ignored: one that no data have, or the net's own.
  // CHECK: %[[LABEL:.*]] = brew.mask_items "loss"(%[[Y]]#1, %[[COUNT]]) {fill = 0xC1E0000000000000 : f64}
  // CHECK-NEXT: brew.softmax_loss "loss"(%[[R]], %[[LABEL]]) {{.*}}ignore_label = -2147483648 : i64{{.*}}tops = ["loss"]}
  // CHECK-NOT: brew.average_items "loss"
  %loss:4 = brew.softmax_loss "loss"(%r, %y#1) {axis = 1 : i64, normalization = #brew<normalization valid>, loss_weights = array<f32: 1.0>, tops = ["loss"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
  // CHECK: %[[LABEL:.*]] = brew.mask_items "full"(%[[Y]]#1, %[[COUNT]]) {fill = 2.000000e+00 : f64}
  // CHECK-NEXT: brew.softmax_loss "full"(%[[R]], %[[LABEL]]) {{.*}}ignore_label = 2 : i64
  // CHECK-NEXT: brew.average_items "full"
  %full:4 = brew.softmax_loss "full"(%r, %y#1) {axis = 1 : i64, ignore_label = 2 : i64, normalization = #brew<normalization full>, loss_weights = array<f32: 1.0>, tops = ["full"]} : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<f32>, tensor<i32>)
  brew.keep "data" "r", %r : tensor<4x3xf32>
  brew.keep "data" "x", %x : tensor<4x3xf32>
  // CHECK: brew.keep "data" "x"
  // CHECK-NEXT: brew.keep "count" "each", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.keep "count" "r", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: {{^ *}$}}
}

// Filters with one selector have one count. A counted selector selects none of
// its rest.
// CHECK-LABEL: brew.program @filters
brew.program @filters test {
  // CHECK: %[[IN:.*]]:4 = brew.feed
  %x, %z, %s, %t = brew.feed "in" "Input" {config = "", folder = "", tops = ["x", "z", "s", "t"]} : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
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
  // CHECK: brew.keep "count" "e", %[[COUNT]] : tensor<i32>
  // CHECK-NEXT: brew.keep "count" "v", %[[LESS]] : tensor<i32>
  // CHECK-NEXT: {{^ *}$}}
}
