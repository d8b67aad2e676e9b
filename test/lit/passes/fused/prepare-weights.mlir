// RUN: %brew-opt %s --brew-prepare-weights --split-input-file | FileCheck %s

#w = affine_map<(n, k) -> (n, k)>
#n = affine_map<(n) -> (n)>

// Weights that every run would round are rounded by `prepare`; the rounding of the input stays.
// CHECK: brew.param @ip.0 : tensor<4x8xf32>
// CHECK: brew.param @ip.0.prepared : tensor<4x8xbf16> {brew.derived, file_dims = array<i64: 4, 8>, index = 0 : i64, layer = "ip"}
// CHECK-LABEL: brew.program @prepare test role prepare
// CHECK: %[[W:.*]] = brew.param_value @ip.0 :
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x8xf32>)
// CHECK: arith.truncf
// CHECK: brew.store_param %[[R]], @ip.0.prepared
// CHECK-LABEL: brew.program @deploy
// CHECK-NOT: brew.param_value @ip.0 :
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.truncf
// CHECK: %[[P:.*]] = brew.param_value @ip.0.prepared : tensor<4x8xbf16>
// CHECK: brew.inner_product "ip"(%[[X]], %[[P]])
brew.param @ip.0 : tensor<4x8xf32> {layer = "ip", index = 0 : i64}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x8xf32>
  %w = brew.param_value @ip.0 : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xbf16>
  %xr = linalg.generic {indexing_maps = [#w, #w], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) attrs = {brew.layer = "ip"} {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x8xbf16>
  %wr = linalg.generic {indexing_maps = [#w, #w], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) attrs = {brew.layer = "ip"} {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x8xbf16>
  %y = brew.inner_product "ip"(%xr, %wr) {axis = 1 : i64, num_output = 4 : i64, tops = ["y"]} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xbf16>
  brew.output %y "y" loss_weight 0.0 : tensor<4x4xbf16>
}

// -----

#n = affine_map<(n) -> (n)>

// A value that `prepare` computes itself is read directly; intermediate parameters without
// other readers are erased.
// CHECK-NOT: @s.0.folded :
// CHECK: brew.param @s.0.prepared : tensor<4xbf16>
// CHECK-LABEL: brew.program @prepare
// CHECK: %[[D:.*]] = arith.constant dense<2.000000e+00>
// CHECK: linalg.generic {{.*}} ins(%[[D]] :
// CHECK-NOT: @s.0.folded
// CHECK-LABEL: brew.program @deploy
// CHECK-NEXT: brew.data_input
// CHECK: brew.param_value @s.0.prepared
brew.param @s.0.folded : tensor<4xf32> {brew.derived, layer = "s", index = 0 : i64}
brew.program @prepare test role prepare {
  %v = arith.constant dense<2.0> : tensor<4xf32>
  brew.store_param %v, @s.0.folded : tensor<4xf32>
}
brew.program @deploy test role deploy {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4xf32>
  %s = brew.param_value @s.0.folded : tensor<4xf32>
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%e : tensor<4xbf16>) attrs = {brew.layer = "s"} {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4xbf16>
  brew.pin data "r", %r : tensor<4xbf16>
}

// -----

#n = affine_map<(n) -> (n)>

// Parameters that a run stores, such as sums of statistics or persistent state, change in every
// run.
// CHECK-NOT: brew.program @prepare
// CHECK-LABEL: brew.program @deploy
// CHECK: linalg.generic
brew.param @h : tensor<4xf32> {layer = "h", index = 0 : i64}
brew.program @deploy test role deploy {
  %h = brew.param_value @h : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel"]} ins(%h : tensor<4xf32>) outs(%e : tensor<4xf32>) attrs = {brew.layer = "h"} {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  brew.store_param %r, @h : tensor<4xf32>
}

// -----

#n = affine_map<(n) -> (n)>

// In training parameters change with every iteration.
// CHECK-NOT: brew.program @prepare
brew.param @w : tensor<4xf32> {layer = "w", index = 0 : i64}
brew.program @test_0 test role test {
  %w = brew.param_value @w : tensor<4xf32>
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel"]} ins(%w : tensor<4xf32>) outs(%e : tensor<4xbf16>) attrs = {brew.layer = "w"} {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4xbf16>
  brew.pin data "r", %r : tensor<4xbf16>
}
