// RUN: %brew-opt %s --brew-split-reductions='least-work=262144' --split-input-file | FileCheck %s

#in = affine_map<(c, n, h, w) -> (n, c, h, w)>
#out = affine_map<(c, n, h, w) -> (c)>

// A sum per channel: with four channels few blocks would work. The images, and
// the rows because those are still few, have sums of their own; both sums of the nest are
// split alike. Nothing else changes.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d0)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: brew.program @channels
// CHECK: %[[P:.*]]:2 = linalg.generic {indexing_maps = [#[[IN]], #[[OUT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: -> (tensor<16x64x4xf32>, tensor<16x64x4xf32>)
// CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#[[PARTS]], #[[SUM]]], iterator_types = ["parallel", "reduction", "reduction"]} ins(%[[P]]#0
// CHECK-SAME: attrs = {brew.layer = "bn"}
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[P]]#1
// CHECK: brew.keep "data" "a", %[[A]]
// CHECK: brew.keep "data" "b", %[[B]]
brew.program @channels train {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x4x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%x : tensor<16x4x64x64xf32>) outs(%f, %f : tensor<4xf32>, tensor<4xf32>) attrs = {brew.layer = "bn"} {
  ^bb0(%v: f32, %o: f32, %q: f32):
    %n = arith.addf %o, %v fastmath<reassoc,contract> : f32
    %vv = arith.mulf %v, %v : f32
    %m = arith.addf %q, %vv fastmath<reassoc,contract> : f32
    linalg.yield %n, %m : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  brew.keep "data" "a", %s#0 : tensor<4xf32>
  brew.keep "data" "b", %s#1 : tensor<4xf32>
}

// -----

#id = affine_map<(n, k) -> (n, k)>
#row = affine_map<(n, k) -> (n)>
#one = affine_map<(n, k) -> ()>

// Left as they are: a sum in a fixed order, one that begins elsewhere, a maximum, many
// results, little to add up.
// CHECK-LABEL: brew.program @kept
// CHECK-COUNT-5: linalg.generic
// CHECK-NOT: linalg.generic
brew.program @kept train {
  %x = brew.feed "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<512x1024xf32>
  %y = brew.feed "in2" "Input" {config = "", folder = "", tops = ["y"]} : tensor<32x64xf32>
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%half : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %re = tensor.empty() : tensor<512xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<512xf32>) -> tensor<512xf32>
  %a = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<512x1024xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %b = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<512x1024xf32>) outs(%g : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %c = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<512x1024xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.maximumf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %d = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x1024xf32>) outs(%rf : tensor<512xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<512xf32>
  %h = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<32x64xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  brew.keep "data" "a", %a : tensor<f32>
  brew.keep "data" "b", %b : tensor<f32>
  brew.keep "data" "c", %c : tensor<f32>
  brew.keep "data" "d", %d : tensor<512xf32>
  brew.keep "data" "h", %h : tensor<f32>
}
