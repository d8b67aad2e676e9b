// RUN: %brew-opt %s --brew-fuse-sibling-reductions --split-input-file | FileCheck %s

#x = affine_map<(n, c, k) -> (n, c, k)>
#channel = affine_map<(n, c, k) -> (c)>
#cx = affine_map<(c, n, k) -> (n, c, k)>
#cchannel = affine_map<(c, n, k) -> (c)>
#rows = affine_map<(n, c, k) -> (n)>

// The gradients of a scale and its bias, and a sum of the layer before it that depends on a
// tensor between them, share the input y: one nest at the position of the last one. Loops in
// another order are interchanged.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: brew.program @channels
// CHECK: %[[X:.*]]:2 = brew.data_input
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: %[[S:.*]]:3 = linalg.generic {indexing_maps = [#[[IN]], #[[IN]], #[[IN]], #[[OUT]], #[[OUT]], #[[OUT]]], iterator_types = ["parallel", "reduction", "reduction"]} ins(%[[X]]#0, %[[X]]#1, %[[Z]] :
// CHECK-SAME: attrs = {brew.backward, brew.layer = "scale+bn"}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[P:.*]]: f32, %[[Q:.*]]: f32, %[[R:.*]]: f32):
// CHECK-NEXT: %[[AB:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[P1:.*]] = arith.addf %[[P]], %[[AB]]
// CHECK-NEXT: %[[Q1:.*]] = arith.addf %[[Q]], %[[B]]
// CHECK-NEXT: %[[BC:.*]] = arith.mulf %[[B]], %[[C]]
// CHECK-NEXT: %[[R1:.*]] = arith.addf %[[R]], %[[BC]]
// CHECK-NEXT: linalg.yield %[[P1]], %[[Q1]], %[[R1]]
// CHECK-NOT: linalg.generic
// CHECK: brew.pin data "a", %[[S]]#0
// CHECK: brew.pin data "b", %[[S]]#1
// CHECK: brew.pin data "c", %[[S]]#2
brew.program @channels train {
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<16x4x64xf32>, tensor<16x4x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#x, #x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x, %y : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%f : tensor<4xf32>) attrs = {brew.backward, brew.layer = "scale"} {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "a", %a : tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%y : tensor<16x4x64xf32>) outs(%f : tensor<4xf32>) attrs = {brew.backward, brew.layer = "scale"} {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "b", %b : tensor<4xf32>
  %ze = tensor.empty() : tensor<16x4x64xf32>
  %z = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<16x4x64xf32>) outs(%ze : tensor<16x4x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<16x4x64xf32>
  %ce = tensor.empty() : tensor<4xf32>
  %cf = linalg.fill ins(%zero : f32) outs(%ce : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#cx, #cx, #cchannel], iterator_types = ["parallel", "reduction", "reduction"]} ins(%y, %z : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%cf : tensor<4xf32>) attrs = {brew.backward, brew.layer = "bn"} {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "c", %c : tensor<4xf32>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>
#channel = affine_map<(n, c, k) -> (c)>
#rows = affine_map<(n, c, k) -> (n)>

// Not fused: a sum that depends on the other (a variance and its mean), one over other loops,
// one without a common input, one in a fixed order.
// CHECK-LABEL: brew.program @apart
// CHECK-COUNT-5: linalg.generic
// CHECK-NOT: linalg.generic
brew.program @apart train {
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<16x16x64xf32>, tensor<16x16x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %a = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<16x16x64xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  %b = linalg.generic {indexing_maps = [#x, #channel, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x, %a : tensor<16x16x64xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %d = arith.subf %v, %m : f32
    %n = arith.addf %o, %d fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  %c = linalg.generic {indexing_maps = [#x, #rows], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<16x16x64xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  %d = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%y : tensor<16x16x64xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  %g = linalg.generic {indexing_maps = [#x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<16x16x64xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  brew.pin data "a", %b : tensor<16xf32>
  brew.pin data "b", %c : tensor<16xf32>
  brew.pin data "c", %d : tensor<16xf32>
  brew.pin data "d", %g : tensor<16xf32>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>
#channel = affine_map<(n, c, k) -> (c)>

// The gradients of a scale are sums of dy and dy * x, those of the normalization before it of
// gamma * dy and gamma * dy * x: two sums, and two products per channel.
// CHECK-LABEL: brew.program @factors
// CHECK: %[[X:.*]]:3 = brew.data_input
// CHECK: %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]} ins(%[[X]]#0, %[[X]]#1, %[[X]]#2 :
// CHECK: ^bb0(%[[DY:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %[[P:.*]]: f32, %[[Q:.*]]: f32):
// CHECK: arith.addf %[[P]], %[[DY]]
// CHECK: %[[T:.*]] = arith.mulf %[[DY]], %[[B]]
// CHECK: arith.addf %[[Q]], %[[T]]
// CHECK: linalg.generic {{.*}} ins(%[[S]]#0, %[[X]]#2 :
// CHECK: linalg.generic {{.*}} ins(%[[S]]#1, %[[X]]#2 :
brew.program @factors train {
  %dy, %x, %gamma = brew.data_input "in" "Input" {config = "", folder = "", tops = ["dy", "x", "g"]} : tensor<16x4x64xf32>, tensor<16x4x64xf32>, tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a:2 = linalg.generic {indexing_maps = [#x, #x, #channel, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%dy, %x : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%f, %f : tensor<4xf32>, tensor<4xf32>) attrs = {brew.backward, brew.layer = "scale"} {
  ^bb0(%v: f32, %w: f32, %o: f32, %o2: f32):
    %p = arith.mulf %v, %w fastmath<contract> : f32
    %n = arith.addf %o, %v fastmath<reassoc,contract> : f32
    %n2 = arith.addf %o2, %p fastmath<reassoc,contract> : f32
    linalg.yield %n, %n2 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %b:2 = linalg.generic {indexing_maps = [#x, #x, #channel, #channel, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%dy, %x, %gamma : tensor<16x4x64xf32>, tensor<16x4x64xf32>, tensor<4xf32>) outs(%f, %f : tensor<4xf32>, tensor<4xf32>) attrs = {brew.backward, brew.layer = "bn"} {
  ^bb0(%v: f32, %w: f32, %g: f32, %o: f32, %o2: f32):
    %d = arith.mulf %g, %v fastmath<contract> : f32
    %p = arith.mulf %w, %d fastmath<contract> : f32
    %n = arith.addf %o, %d fastmath<reassoc,contract> : f32
    %n2 = arith.addf %o2, %p fastmath<reassoc,contract> : f32
    linalg.yield %n, %n2 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  brew.pin data "a", %a#0 : tensor<4xf32>
  brew.pin data "b", %a#1 : tensor<4xf32>
  brew.pin data "c", %b#0 : tensor<4xf32>
  brew.pin data "d", %b#1 : tensor<4xf32>
}

// -----

#x = affine_map<(n, c, k) -> (n, c, k)>
#channel = affine_map<(n, c, k) -> (c)>

// The normalizations of two branches sum the same gradient. The sums of the first branch are
// read before those of the second are computed; initial values do not prevent fusion.
// CHECK-LABEL: brew.program @branches
// CHECK: %[[X:.*]]:3 = brew.data_input
// CHECK: %[[S:.*]]:2 = linalg.generic {{.*}} ins(%[[X]]#0, %[[X]]#1, %[[X]]#2 : {{.*}} attrs = {brew.backward, brew.layer = "a+b"}
// CHECK-NOT: "reduction"
// CHECK: brew.pin data "b", %[[S]]#1
brew.program @branches train {
  %dy, %x1, %x2 = brew.data_input "in" "Input" {config = "", folder = "", tops = ["dy", "a", "b"]} : tensor<16x4x64xf32>, tensor<16x4x64xf32>, tensor<16x4x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#x, #x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%dy, %x1 : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%f : tensor<4xf32>) attrs = {brew.backward, brew.layer = "a"} {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  %ex = tensor.empty() : tensor<16x4x64xf32>
  %dx = linalg.generic {indexing_maps = [#x, #channel, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dy, %a : tensor<16x4x64xf32>, tensor<4xf32>) outs(%ex : tensor<16x4x64xf32>) attrs = {brew.backward, brew.layer = "a"} {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %p = arith.subf %v, %s : f32
    linalg.yield %p : f32
  } -> tensor<16x4x64xf32>
  %zero2 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<4xf32>
  %f2 = linalg.fill ins(%zero2 : f32) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#x, #x, #channel], iterator_types = ["reduction", "parallel", "reduction"]} ins(%dy, %x2 : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%f2 : tensor<4xf32>) attrs = {brew.backward, brew.layer = "b"} {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  brew.pin data "dx", %dx : tensor<16x4x64xf32>
  brew.pin data "b", %b : tensor<4xf32>
}
