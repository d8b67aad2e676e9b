// RUN: %brew-opt %s --brew-plan-memory --brew-verify-plan --split-input-file --mlir-print-local-scope | FileCheck %s

// Offsets are multiples of 64: 100 floats (400 bytes) take 448.

// Steps: 0 launch first, 1 inner product, 2 launch second.
//   x   written by the data layer, read at 0               live 0..0
//   a   written at 0, read at 1                            live 0..1
//   i   written at 1, read at 2, where b overwrites it;
//       b is an output, so it lives past the end           live 1..2
// x and a are live together at 0, a and i at 1: 896 bytes. The offsets of large and long-lived
// buffers are chosen first: i gets offset 0; a gets 448, because i is also live at step 1; x
// gets 0, because i is not live at step 0.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: plan.arena transient size 896
// CHECK: plan.kernel @first attributes {in_place = array<i64: -1>
// CHECK: plan.kernel @second attributes {in_place = array<i64: 0>
// CHECK-LABEL: plan.program @chain attributes {arena_bytes = 896 : i64, caffe_bytes = 77 : i64, lower_bound_bytes = 896 : i64, test_phase}
brew.program @chain test attributes {caffe_bytes = 77 : i64} {
  // CHECK-NEXT: %[[X:.*]] = plan.buffer "x" transient[0] live [0, 0] : memref<10x10xf32>
  // CHECK-NEXT: plan.data_input "in" "Data"(%[[X]]) {config = "name: 'in'", folder = "where"}
  %x = brew.data_input "in" "Data" {config = "name: 'in'", folder = "where", tops = ["x"]} : tensor<10x10xf32>
  %w = brew.param_value @w : tensor<10x10xf32>
  // The data-layer top is not overwritten: the data pipeline may already fill it for the next
  // run.
  // CHECK-NEXT: %[[A:.*]] = plan.buffer "first.0" transient[448] live [0, 1] : memref<10x10xf32>
  // CHECK-NEXT: plan.launch @first(%[[X]], %[[A]]) {layers = ["one"]}
  %a = brew.kernel "first"(%x) {layers = ["one"]} : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%in: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  // CHECK-NEXT: %[[W:.*]] = plan.buffer "w" parameters[0] : memref<10x10xf32>
  // CHECK-NEXT: %[[I:.*]] = plan.buffer "i" transient[0] live [1, 2] : memref<10x10xf32>
  // 2 * 10 * 10 * 10 operations
  // CHECK-NEXT: plan.inner_product forward x %[[A]] w %[[W]] y %[[I]] {axis = 1 : i64, flops = 2000 : i64, layers = ["ip"]}
  %i = brew.inner_product "ip"(%a, %w) {num_output = 10 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  // CHECK-NEXT: %[[B:.*]] = plan.buffer "second.0" transient[0] live [1, 2] pinned : memref<10x10xf32>
  // CHECK-NEXT: plan.launch @second(%[[I]], %[[B]])
  %b = brew.kernel "second"(%i) {layers = ["two"]} : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%in: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  // CHECK-NEXT: plan.output %[[B]] "b" loss_weight 5.000000e-01 : memref<10x10xf32>
  brew.output %b "b" loss_weight 0.5 : tensor<10x10xf32>
}
brew.param @w : tensor<10x10xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 10, 10>}

// -----

// A view has the offset and the name of its source, but another type, and extends the source's
// live range: a is read through v at step 2, so y cannot overwrite a.
// a, y and z are live at step 2 and take three times 448 bytes; x (live 0..0) shares the memory
// of y or z.
// CHECK-LABEL: plan.program @views attributes {arena_bytes = 1344 : i64, {{.*}}lower_bound_bytes = 1344 : i64
// CHECK: %[[A:.*]] = plan.buffer "make.0" transient[[[AT:.*]]] live [0, 2] : memref<100xf32>
// CHECK: plan.launch @mid(%[[A]], %[[Y:.*]]) :
// CHECK: %[[V:.*]] = plan.buffer "make.0" transient[[[AT]]] live [0, 2] : memref<10x10xf32>
// CHECK: plan.launch @end(%[[V]],
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @views test {
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
  %y = brew.kernel "mid"(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  %v = brew.reinterpret %a : tensor<100xf32> -> tensor<10x10xf32>
  %u = brew.reinterpret %y : tensor<100xf32> -> tensor<10x10xf32>
  %z = brew.kernel "end"(%v) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%a0: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#tr, #id2], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  brew.output %z "z" loss_weight 0.0 : tensor<10x10xf32>
  brew.pin data "u", %u : tensor<10x10xf32>
}

// -----

// Gradients are computed in the gradient arena, at their parameter's offset: w takes 400 bytes,
// rounded to 448, so b follows at 448. The arenas contain both parameters: 448 + 64.
// CHECK: plan.param @w[0] : memref<10x10xf32> {decay_mult = 1.000000e+00 : f32, file_dims = array<i64: 100>{{.*}}lr_mult = 2.000000e+00 : f32{{.*}}state_slots = 0
// CHECK: plan.param @b[448] : memref<10xf32>
// CHECK: plan.arena parameters size 512
// CHECK: plan.arena gradients size 512
// CHECK-NOT: plan.arena state
// CHECK-LABEL: plan.program @forward_backward
// CHECK: %[[DW:.*]] = plan.buffer "w.gradient" gradients[0] : memref<10x10xf32>
// CHECK: %[[DB:.*]] = plan.buffer "b.gradient" gradients[448] : memref<10xf32>
// CHECK: plan.inner_product backward_weights x %{{.*}} w %[[DW]] b %[[DB]] y %{{.*}} {axis = 1 : i64, backward
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.param @w : tensor<10x10xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 100>, lr_mult = 2.0 : f32}
brew.param @b : tensor<10xf32> {layer = "ip", index = 1 : i64, file_dims = array<i64: 10>}
brew.program @forward_backward train {
  %x, %dy = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x", "dy"]} : tensor<4x10xf32>, tensor<4x10xf32>
  %dw, %db = brew.inner_product_backward_weights "ip"(%x, %dy) {axis = 1 : i64, brew.backward} : (tensor<4x10xf32>, tensor<4x10xf32>) -> (tensor<10x10xf32>, tensor<10xf32>)
  brew.store_gradient %dw, @w : tensor<10x10xf32>
  brew.store_gradient %db, @b : tensor<10xf32>
}

// -----

// An update kernel of two sub-kernels writes parameters and history in place. History slot 0 is
// at the parameter's offset in the state arena.
// CHECK: plan.param @w[0] : {{.*}}state_slots = 1
// CHECK: plan.param @b[128] : {{.*}}state_slots = 1
// CHECK: plan.arena parameters size 192
// CHECK: plan.arena state size 192
// Sixteen scalars, each on its own cache line.
// CHECK: plan.arena scalars size 1024
// CHECK: plan.kernel @update_1 attributes {in_place = array<i64: 0, 1, 2, 3>
// CHECK-LABEL: plan.program @update attributes {arena_bytes = 0 : i64, {{.*}}lower_bound_bytes = 0
// CHECK: %[[W:.*]] = plan.buffer "w" parameters[0] : memref<8x4xf32>
// CHECK: %[[HW:.*]] = plan.buffer "w.history0" state[0] : memref<8x4xf32>
// CHECK: %[[B:.*]] = plan.buffer "b" parameters[128] : memref<8xf32>
// CHECK: %[[HB:.*]] = plan.buffer "b.history0" state[128] : memref<8xf32>
// momentum is the second scalar, at byte 64.
// CHECK: %[[S:.*]] = plan.buffer "momentum" scalars[64] : memref<f32>
// CHECK: plan.buffer "w" parameters[0]
// CHECK: plan.buffer "w.history0" state[0]
// CHECK: plan.buffer "b" parameters[128]
// CHECK: plan.buffer "b.history0" state[128]
// CHECK: plan.launch @update_1(%[[W]], %[[HW]], %[[B]], %[[HB]], %[[S]],
// CHECK-NOT: plan.copy
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.param @w : tensor<8x4xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 8, 4>}
brew.param @b : tensor<8xf32> {layer = "ip", index = 1 : i64, file_dims = array<i64: 8>}
brew.program @update train {
  %s = brew.solver_scalar momentum : tensor<f32>
  %w = brew.param_value @w : tensor<8x4xf32>
  %hw = brew.param_state @w[0] : tensor<8x4xf32>
  %b = brew.param_value @b : tensor<8xf32>
  %hb = brew.param_state @b[0] : tensor<8xf32>
  %k:4 = brew.kernel "update"(%w, %hw, %b, %hb, %s) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a0: tensor<8x4xf32>, %a1: tensor<8x4xf32>, %a2: tensor<8xf32>, %a3: tensor<8xf32>, %a4: tensor<f32>):
    %e0 = tensor.empty() : tensor<8x4xf32>
    %r0:2 = linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a0, %a1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e0, %e0 : tensor<8x4xf32>, tensor<8x4xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v0: f32, %v1: f32, %o0: f32, %o1: f32):
      linalg.yield %v1, %v0 : f32, f32
    } -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %e1 = tensor.empty() : tensor<8xf32>
    %r1:2 = linalg.generic {indexing_maps = [#id1, #id1, #id1, #id1], iterator_types = ["parallel"]} ins(%a2, %a3 : tensor<8xf32>, tensor<8xf32>) outs(%e1, %e1 : tensor<8xf32>, tensor<8xf32>) attrs = {brew.sub_kernel = 1 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %v1: f32, %o0: f32, %o1: f32):
      linalg.yield %v1, %v0 : f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>)
    brew.yield %r0#0, %r0#1, %r1#0, %r1#1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>
  }
  brew.store_param %k#0, @w : tensor<8x4xf32>
  brew.store_state %k#1, @w[0] : tensor<8x4xf32>
  brew.store_param %k#2, @b : tensor<8xf32>
  brew.store_state %k#3, @b[0] : tensor<8xf32>
}

// -----

// A parameter whose new value is computed elsewhere is overwritten by a copy at the end, when
// nothing reads the old value anymore.
// CHECK-LABEL: plan.program @copy
// CHECK: plan.launch @over(%[[X:.*]], %[[Y:.*]]) :
// CHECK: plan.launch @read(%[[OLD:.*]], %{{.*}}) :
// CHECK: %[[NEW:.*]] = plan.buffer "w" parameters[0] : memref<100xf32>
// CHECK: plan.copy %[[Y]] to %[[NEW]]
// CHECK-NEXT: plan.output
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.param @w : tensor<100xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 100>}
brew.program @copy train {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<100xf32>
  %w = brew.param_value @w : tensor<100xf32>
  %y = brew.kernel "over"(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.store_param %y, @w : tensor<100xf32>
  %z = brew.kernel "read"(%w) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a0: tensor<100xf32>):
    %e = tensor.empty() : tensor<100xf32>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf32>) outs(%e : tensor<100xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<100xf32>
    brew.yield %r : tensor<100xf32>
  }
  brew.output %z "z" loss_weight 0.0 : tensor<100xf32>
}

// -----

// Channels-last layout is expressed by strides: N 60, C 1, H 15, W 3.
// CHECK-LABEL: plan.program @nhwc
// CHECK: plan.buffer "x" transient[{{.*}}] live [0, 0] : memref<2x3x4x5xf32, strided<[60, 1, 15, 3]>>
// CHECK: plan.buffer "c" transient[{{.*}}] live [0, 0] pinned : memref<2x6x2x3xf32, strided<[36, 1, 18, 6]>>
// 2 * 2 * 6 * 2 * 3 * (3 * 3 * 3) operations
// CHECK: plan.convolution forward x %{{.*}} w %{{.*}} y %{{.*}} {{{.*}}flops = 3888 : i64{{.*}}relu = 5.000000e-01 : f32
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.param @w : tensor<6x3x3x3xf32> {layer = "conv", index = 0 : i64, file_dims = array<i64: 6, 3, 3, 3>}
brew.program @nhwc test {
  %x = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x5xf32, #brew.layout<0, 2, 3, 1>>
  %w = brew.param_value @w : tensor<6x3x3x3xf32>
  %c = brew.convolution "conv"(%x, %w) {num_output = 6 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, relu = 0.5 : f32, tops = ["c"]} : (tensor<2x3x4x5xf32, #brew.layout<0, 2, 3, 1>>, tensor<6x3x3x3xf32>) -> tensor<2x6x2x3xf32, #brew.layout<0, 2, 3, 1>>
  brew.pin data "c", %c : tensor<2x6x2x3xf32, #brew.layout<0, 2, 3, 1>>
}

// -----

// A Data layer's blob lives to its last read: its bytes are reused. An Input layer's blob is
// set once, so it lives to the end.
// Data: x 0..0, a 0..1, y 1..2 (pinned): y takes x's bytes: 2 * 448.
// CHECK-LABEL: plan.program @every_run attributes {arena_bytes = 896
// CHECK: plan.buffer "x" transient[{{.*}}] live [0, 0] :
// Input: x, a and y are live together: 3 * 448.
// CHECK-LABEL: plan.program @once attributes {arena_bytes = 1344
// CHECK: plan.buffer "x" transient[{{.*}}] live [0, 1] :
// CHECK: plan.launch @make_1(
// The programs share one arena, whose size is that of the larger program. The second kernel with
// the same name gets a number.
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @every_run test {
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
  %y = brew.kernel "turn"(%a) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
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
brew.program @once test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<10x10xf32>
  %a = brew.kernel "make"(%x) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
  ^bb0(%a0: tensor<10x10xf32>):
    %e = tensor.empty() : tensor<10x10xf32>
    %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<10x10xf32>) outs(%e : tensor<10x10xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%v0: f32, %o: f32):
      linalg.yield %v0 : f32
    } -> tensor<10x10xf32>
    brew.yield %r : tensor<10x10xf32>
  }
  %y = brew.kernel "turn"(%a) : (tensor<10x10xf32>) -> tensor<10x10xf32> {
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

// 100 f64 elements take 800 bytes, rounded to 832: x and a take 1664, and the status of the label
// check takes 64. The status is read after the run.
// CHECK: plan.arena transient size 1728
// CHECK-LABEL: plan.program @f64 attributes {arena_bytes = 1728
// CHECK: %[[ST:.*]] = plan.buffer "st" transient[{{.*}}] live [0, 0] pinned : memref<i32>
// CHECK: plan.check_labels %[[ST]], %{{.*}} limit 10 layer "loss" blob "l" : memref<i32>, memref<100xf64>
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
brew.program @f64 test {
  %x, %st = brew.data_input "in" "Data" {config = "", folder = "", tops = ["x", "st"]} : tensor<100xf64>, tensor<i32>
  %a = brew.kernel "make"(%x) : (tensor<100xf64>) -> tensor<100xf64> {
  ^bb0(%a0: tensor<100xf64>):
    %e = tensor.empty() : tensor<100xf64>
    %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a0 : tensor<100xf64>) outs(%e : tensor<100xf64>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v0: f64, %o: f64):
      linalg.yield %v0 : f64
    } -> tensor<100xf64>
    brew.yield %r : tensor<100xf64>
  }
  brew.check_labels %st, %x limit 10 layer "loss" blob "l" : tensor<i32>, tensor<100xf64>
  brew.pin data "a", %a : tensor<100xf64>
}
