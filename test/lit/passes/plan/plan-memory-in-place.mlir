// RUN: %brew-opt %s --brew-plan-memory --brew-verify-plan --split-input-file --mlir-print-local-scope | FileCheck %s

// Cases in which a kernel may overwrite its input, and in which it must not.

// A kernel does not overwrite the top of a data layer.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @feed
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @feed test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %y = brew.kernel "over"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A kernel does not overwrite a value that is read later.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @later
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @later test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %y = brew.kernel "over"(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %z = brew.kernel "again"(%a, %y) : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>, %a1: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<100xf32>, tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %v1: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %z "z" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A kernel does not overwrite a value that callers can read after the run.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @kept
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @kept test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %y = brew.kernel "over"(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.pin data "a", %a : tensor<100xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A kernel does not work in place if it reads an element at another grid point than it writes it.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @other_place
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @other_place test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<10x10xf32>
  %a = brew.kernel "make"(%x) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%a0: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  %y = brew.kernel "over"(%a) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%a0: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#tr, #id2], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<10x10xf32>
}

// -----

// A kernel does not work in place if the element types differ.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @other_type
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @other_type test {
  %x, %h = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x", "h"]} : tensor<100xf32>, tensor<100xi32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %y = brew.kernel "over"(%a) : (tensor<100xf32>) -> tensor<100xi32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xi32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xi32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: i32):
      %i = arith.bitcast %v : f32 to i32
      linalg.yield %i : i32
    } -> tensor<100xi32>
    brew.yield %r : tensor<100xi32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<100xi32>
}

// -----

// A kernel does not overwrite a value that it reads through two operands, here directly and
// through a view.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @twice
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @twice test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %v = brew.reinterpret %a : tensor<100xf32> -> tensor<10x10xf32>
  %y = brew.kernel "over"(%a, %v) : (tensor<100xf32>, tensor<10x10xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>, %a1: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      %c = arith.constant 0 : index
      %w = tensor.extract %a1[%c, %c] : tensor<10x10xf32>
      linalg.yield %w : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A reduction does not work in place: it would read elements that it has already overwritten.
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @reduction
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @reduction test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %y = brew.kernel "over"(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<100xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
    %n = tensor.empty() : tensor<3xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0, %n : tensor<100xf32>, tensor<3xi8>) outs(%f : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %i: i8, %o: f32):
      %s = arith.addf %v0, %o : f32
      linalg.yield %s : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<100xf32>
}

// -----

// Two results, two dead inputs: each result reuses the first input that fits and is still free.
// CHECK: plan.kernel @pair attributes {in_place = array<i64: 0, 1>
// CHECK-LABEL: plan.program @two_results
// CHECK: plan.launch @pair(%[[A:.*]], %[[B:.*]], %{{.*}}, %{{.*}})
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @two_results test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %b = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %y:2 = brew.kernel "pair"(%a, %b) : (tensor<100xf32>, tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  ^bb0(%a0: tensor<100xf32>, %a1: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r:2 = linalg.generic {indexing_maps = [#id1, #id1, #id1, #id1], iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<100xf32>, tensor<100xf32>) outs(%e, %e : tensor<100xf32>, tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %v1: f32, %o0: f32, %o1: f32):
      linalg.yield %v1, %v0 : f32, f32
    } -> (tensor<100xf32>, tensor<100xf32>)
    brew.yield %r#0, %r#1 : tensor<100xf32>, tensor<100xf32>
  }
  brew.output %y#0 "p" loss_weight 0.0 : tensor<100xf32>
  brew.output %y#1 "q" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A parameter is updated in place only after its last reader; otherwise the new value is copied
// at the end.
// CHECK: plan.kernel @next attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @state
// CHECK: plan.launch @next
// CHECK: plan.launch @reader
// CHECK: plan.copy
#id1 = affine_map<(d0) -> (d0)>
brew.param @s : tensor<100xf32> {layer = "s", index = 0 : i64, file_dims = array<i64: 100>}
brew.program @state train {
  %s = brew.param_value @s : tensor<100xf32>
  %n = brew.kernel "next"(%s) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.store_param %n, @s : tensor<100xf32>
  %y = brew.kernel "reader"(%s) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %y "y" loss_weight 0.0 : tensor<100xf32>
}

// -----

// A kernel does not overwrite a stored value, which is read after the run.
// CHECK: plan.kernel @make
// CHECK: plan.kernel @over attributes {in_place = array<i64: -1>
// CHECK-LABEL: plan.program @stored
// CHECK: %[[A:.*]] = plan.buffer "a.gradient" gradients[0]
// CHECK: plan.launch @make({{.*}}, %[[A]])
// CHECK: %[[B:.*]] = plan.buffer "b.gradient" gradients
// CHECK: plan.launch @over(%[[A]], %[[B]])
#id1 = affine_map<(d0) -> (d0)>
brew.param @a : tensor<100xf32> {layer = "a", index = 0 : i64, file_dims = array<i64: 100>}
brew.param @b : tensor<100xf32> {layer = "b", index = 0 : i64, file_dims = array<i64: 100>}
brew.program @stored train {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %a = brew.kernel "make"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %b = brew.kernel "over"(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.store_gradient %a, @a : tensor<100xf32>
  brew.store_gradient %b, @b : tensor<100xf32>
}
