// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/normalization/Normalization.td

brew.program @main test {
  %x, %c, %one = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "c", "one"]} : tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<1xf32>
  // CHECK: %[[Y:.*]], %[[D:.*]], %{{.*}}:3 = brew.batch_norm "n"(%{{.*}}#0, %{{.*}}#1, %{{.*}}#1, %{{.*}}#2) {eps = 1.000000e-01 : f32, fraction = 5.000000e-01 : f32, tops = ["y"]}
  %y, %d, %next:3 = brew.batch_norm "n"(%x, %c, %c, %one) {eps = 0.1 : f32, fraction = 0.5 : f32, tops = ["y"]} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_norm "n"(%{{.*}}, %{{.*}}, %{{.*}}) {blend, eps
  %y2, %d2, %next2:2 = brew.batch_norm "n"(%x, %c, %c) {blend, eps = 0.1 : f32, fraction = 0.5 : f32, tops = []} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_norm "n"(%{{.*}}) {blend, eps = 1.000000e-01 : f32, fraction = 5.000000e-01 : f32, from_first
  %y4, %d4, %next4:2 = brew.batch_norm "n"(%x, %c, %c) {blend, from_first, eps = 0.1 : f32, fraction = 0.5 : f32, tops = []} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_norm "n"(%{{[^,]*}}) {eps
  %y3, %d3 = brew.batch_norm "n"(%x) {eps = 0.1 : f32, fraction = 0.5 : f32, tops = []} : (tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %count = brew.data_input "count" "Input" {config = "", folder = "", tops = ["count"]} : tensor<i32>
  // CHECK: brew.batch_norm "n"(%{{[^,]*}}, %[[COUNT:[^,]*]]) {eps = {{.*}}, has_item_count
  %y5, %d5 = brew.batch_norm "n"(%x, %count) {eps = 0.1 : f32, fraction = 0.5 : f32, has_item_count, tops = []} : (tensor<2x3x4x5xf32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_norm "n"(%{{[^,]*}}) {eps = 1.000000e-01 : f32, fraction = 5.000000e-01 : f32, synchronized
  %y6, %d6 = brew.batch_norm "n"(%x) {synchronized, eps = 0.1 : f32, fraction = 0.5 : f32, tops = []} : (tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.batch_norm_backward "n"(%{{.*}}, %{{.*}}, %{{.*}}, %[[COUNT]])
  %dx5 = brew.batch_norm_backward "n"(%y5, %d5, %x, %count) : (tensor<*xf32>, tensor<*xf32>, tensor<2x3x4x5xf32>, tensor<i32>) -> tensor<*xf32>
  // CHECK: brew.batch_norm_backward "n"(%[[Y]], %[[D]], %{{.*}}) : (tensor<*xf32>, tensor<*xf32>, tensor<2x3x4x5xf32>) -> tensor<*xf32>
  %dx = brew.batch_norm_backward "n"(%y, %d, %x) : (tensor<*xf32>, tensor<*xf32>, tensor<2x3x4x5xf32>) -> tensor<*xf32>
  // CHECK: brew.batch_norm_global "n"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {eps = 1.000000e-01 : f32, tops = ["z"]}
  %z = brew.batch_norm_global "n"(%x, %c, %c, %one) {eps = 0.1 : f32, tops = ["z"]} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>) -> tensor<*xf32>
  // CHECK: brew.batch_norm_global "n"(%{{.*}}, %{{.*}}, %{{.*}}) {eps = 1.000000e-01 : f32, tops = ["z2"]}
  %z2 = brew.batch_norm_global "n"(%x, %c, %c) {eps = 0.1 : f32, tops = ["z2"]} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  // CHECK: brew.lrn "n"(%{{.*}}) {alpha = 1.000000e+00 : f32, beta = 7.500000e-01 : f32, k = 2.000000e+00 : f32, size = 5 : i64, tops = ["l"], within_channel}
  %l = brew.lrn "n"(%x) {size = 5 : i64, alpha = 1.0 : f32, beta = 0.75 : f32, k = 2.0 : f32, within_channel, tops = ["l"]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32>
  // CHECK: brew.lrn_backward "n"(%{{.*}}, %{{.*}}) {alpha = 1.000000e+00 : f32, beta = 7.500000e-01 : f32, k = 2.000000e+00 : f32, size = 5 : i64}
  %dl = brew.lrn_backward "n"(%x, %x) {size = 5 : i64, alpha = 1.0 : f32, beta = 0.75 : f32, k = 2.0 : f32} : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<*xf32>
  // CHECK: %[[V:.*]], %[[I:.*]] = brew.mvn "n"(%{{.*}}) {across_channels, eps = 1.000000e-01 : f32, normalize_variance, tops = ["v"]}
  %mv, %inverse = brew.mvn "n"(%x) {normalize_variance, across_channels, eps = 0.1 : f32, tops = ["v"]} : (tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.mvn "r"(%{{.*}}) {across_vectors, eps = 1.000000e-01 : f32, eps_in_root, normalize_variance, tops = []}
  %mr, %ir = brew.mvn "r"(%x) {normalize_variance, across_vectors, eps_in_root, eps = 0.1 : f32, tops = []} : (tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.mvn_backward "n"(%[[V]], %{{.*}}, %[[I]]) {across_channels}
  %dv = brew.mvn_backward "n"(%mv, %x, %inverse) {across_channels} : (tensor<*xf32>, tensor<2x3x4x5xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: brew.mvn_backward "n"(%[[V]], %{{[^,]*}}) :
  %dw = brew.mvn_backward "n"(%mv, %x) : (tensor<*xf32>, tensor<2x3x4x5xf32>) -> tensor<*xf32>
  // CHECK: %[[O:.*]], %[[R:.*]] = brew.normalize "n"(%{{.*}}, %{{.*}}) {across_spatial, channel_shared, eps = 1.000000e-01 : f32, tops = ["o"]}
  %o, %norm = brew.normalize "n"(%x, %one) {across_spatial, channel_shared, eps = 0.1 : f32, tops = ["o"]} : (tensor<2x3x4x5xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: brew.normalize_backward "n"(%{{.*}}, %{{.*}}, %[[R]], %{{.*}}) {across_spatial, channel_shared}
  %do, %ds = brew.normalize_backward "n"(%x, %one, %norm, %x) {across_spatial, channel_shared} : (tensor<2x3x4x5xf32>, tensor<1xf32>, tensor<*xf32>, tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
}
