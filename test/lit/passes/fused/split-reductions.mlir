// RUN: %brew-opt %s --brew-split-reductions='min-work=262144' --split-input-file | FileCheck %s

#in = affine_map<(c, n, h, w) -> (n, c, h, w)>
#out = affine_map<(c, n, h, w) -> (c)>

// With one sum per channel, four channels would occupy only few blocks. Each image gets partial
// sums and, because the images are too few as well, so does each row. Both sums of the nest are
// split in the same way. Nothing else changes.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d0)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: brew.program @channels
// CHECK: %[[P:.*]]:2 = linalg.generic {indexing_maps = [#[[IN]], #[[OUT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: -> (tensor<16x64x4xf32>, tensor<16x64x4xf32>)
// CHECK: %[[S:.*]]:2 = linalg.generic {indexing_maps = [#[[PARTS]], #[[PARTS]], #[[SUM]], #[[SUM]]], iterator_types = ["parallel", "reduction", "reduction"]} ins(%[[P]]#0, %[[P]]#1 :
// CHECK-SAME: attrs = {brew.layer = "bn"}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT: arith.addf %[[C]], %[[A]] fastmath<reassoc,contract> : f32
// CHECK-NEXT: arith.addf %[[D]], %[[B]] fastmath<reassoc,contract> : f32
// CHECK: brew.pin data "a", %[[S]]#0
// CHECK: brew.pin data "b", %[[S]]#1
brew.program @channels train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x4x64x64xf32>
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
  brew.pin data "a", %s#0 : tensor<4xf32>
  brew.pin data "b", %s#1 : tensor<4xf32>
}

// -----

#id = affine_map<(n, k) -> (n, k)>
#row = affine_map<(n, k) -> (n)>
#one = affine_map<(n, k) -> ()>

// Not split: a sum in a fixed order, one that does not start at zero, a maximum, many results,
// little work.
// CHECK-LABEL: brew.program @kept
// CHECK-COUNT-5: linalg.generic
// CHECK-NOT: linalg.generic
brew.program @kept train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<512x1024xf32>
  %y = brew.data_input "in2" "Input" {config = "", folder = "", tops = ["y"]} : tensor<128x64xf32>
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
  %h = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<128x64xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  brew.pin data "a", %a : tensor<f32>
  brew.pin data "b", %b : tensor<f32>
  brew.pin data "c", %c : tensor<f32>
  brew.pin data "d", %d : tensor<512xf32>
  brew.pin data "h", %h : tensor<f32>
}

// -----

// The single loop over a flat blob is split into two; the iterations of the outer one get
// partial sums. 264 does not divide 300007: the last iterations add zeros.
// CHECK-DAG: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[ALONG:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: brew.program @flat
// CHECK: %[[X:.*]]:3 = brew.data_input
// CHECK: %[[LOOPS:.*]] = tensor.empty() : tensor<264x1137xi8>
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[BOTH]], #[[FIRST]]], iterator_types = ["parallel", "reduction"]} ins(%[[LOOPS]] : tensor<264x1137xi8>)
// CHECK-SAME: outs(%{{.*}} : tensor<264xf32>) attrs = {brew.layer = "sum"}
// CHECK: ^bb0(%{{.*}}: i8, %[[SUM:.*]]: f32):
// CHECK-DAG: %[[PART:.*]] = linalg.index 0
// CHECK-DAG: %[[IN:.*]] = linalg.index 1
// CHECK-DAG: %[[LENGTH:.*]] = arith.constant 1137 : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PART]], %[[LENGTH]]
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[IN]]
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[AT]], %{{.*}}
// CHECK: %[[CLAMPED:.*]] = arith.minsi
// CHECK: tensor.extract %[[X]]#0[%[[CLAMPED]]]
// CHECK: %[[V:.*]] = arith.mulf
// CHECK: %[[ADDED:.*]] = arith.select %[[THERE]], %[[V]], %{{.*}} : f32
// CHECK: arith.addf %[[SUM]], %[[ADDED]] fastmath<reassoc,contract>
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ALONG]], #[[NONE]]], iterator_types = ["reduction"]} ins(%[[P]] : tensor<264xf32>)
// 264 divides 270336. Full loops come first; another loop is split only for the remaining
// factor.
// CHECK: tensor.empty() : tensor<264x1024xi8>
// CHECK-NOT: arith.select
// CHECK: tensor.empty() : tensor<8x11x45455xi8>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<8x11x3xf32>
// CHECK: brew.pin data "s", %[[S]]
#flat = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
#rows = affine_map<(c, n, k) -> (c, n, k)>
#channel = affine_map<(c, n, k) -> (c)>
brew.program @flat train {
  %x, %y, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y", "z"]} : tensor<300007xf32>, tensor<270336xf32>, tensor<3x8x500003xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %ce = tensor.empty() : tensor<3xf32>
  %cf = linalg.fill ins(%zero : f32) outs(%ce : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [#flat, #none], iterator_types = ["reduction"]} ins(%x : tensor<300007xf32>) outs(%f : tensor<f32>) attrs = {brew.layer = "sum"} {
  ^bb0(%v: f32, %o: f32):
    %vv = arith.mulf %v, %v : f32
    %n = arith.addf %o, %vv fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %t = linalg.generic {indexing_maps = [#flat, #none], iterator_types = ["reduction"]} ins(%y : tensor<270336xf32>) outs(%f : tensor<f32>) attrs = {brew.layer = "even"} {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %u = linalg.generic {indexing_maps = [#rows, #channel], iterator_types = ["parallel", "reduction", "reduction"]} ins(%z : tensor<3x8x500003xf32>) outs(%cf : tensor<3xf32>) attrs = {brew.layer = "rows"} {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<3xf32>
  brew.pin data "s", %s : tensor<f32>
  brew.pin data "t", %t : tensor<f32>
  brew.pin data "u", %u : tensor<3xf32>
}

// -----

#cl = affine_map<(c, n, h, w) -> (n, c, h, w)>
#per = affine_map<(c, n, h, w) -> (c)>

// Channels-last: adjacent elements belong to different sums, each shared by 16 threads of a
// block. One partial sum per image would make 1024, too few; one per row would make far more
// than the 8192 that suffice. Thus each image's rows are divided into 8 groups of 14, with a
// partial sum per group. In the other layout, one partial sum per image suffices.
// CHECK-LABEL: brew.program @last
// CHECK: tensor.empty() : tensor<16x8x14x112xi8>
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: } -> tensor<16x8x64xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK: } -> tensor<16x64xf32>
#nhwc = #brew.layout<0, 2, 3, 1>
brew.program @last train {
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<16x64x112x112xf32, #nhwc>, tensor<16x64x112x112xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#cl, #per], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%x : tensor<16x64x112x112xf32, #nhwc>) outs(%f : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#cl, #per], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%y : tensor<16x64x112x112xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  brew.pin data "s", %s : tensor<64xf32>
  brew.pin data "t", %t : tensor<64xf32>
}
