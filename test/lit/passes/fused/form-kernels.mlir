// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-form-kernels --brew-verify-fused --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-form-kernels='max-sub-kernels=2' --split-input-file | FileCheck %s --check-prefix=FEW

// Elementwise layers that follow each other become one kernel over one grid;
// the value between them never leaves it.
// CHECK-LABEL: brew.program @chain
brew.program @chain test {
  // CHECK: %[[X:.*]] = brew.data_input
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64x100xf32>
  // CHECK-NEXT: %[[K:.*]] = brew.kernel "a_b"(%[[X]]) {layers = ["a", "b"]} : (tensor<64x100xf32>) -> tensor<64x100xf32> {
  // CHECK: %[[A:.*]] = linalg.generic {{.*}}brew.grid_loops = 2 : i64, brew.layer = "a", brew.sub_kernel = 0 : i64
  // CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] {{.*}}brew.grid_loops = 2 : i64, brew.layer = "b", brew.sub_kernel = 0 : i64
  // CHECK: brew.yield %[[B]]
  // CHECK-NOT: brew.kernel
  // CHECK: brew.output %[[K]] "b"
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<64x100xf32>) -> tensor<64x100xf32>
  %b = brew.relu "b"(%a) {negative_slope = 0.0 : f32, tops = ["b"]} : (tensor<64x100xf32>) -> tensor<64x100xf32>
  brew.output %b "b" loss_weight 0.0 : tensor<64x100xf32>
}

// -----

// A pinned value leaves the kernel as well: two results.
// CHECK-LABEL: brew.program @two_results
brew.program @two_results test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64x100xf32>
  // CHECK: %[[K:.*]]:2 = brew.kernel "a_b"
  // CHECK: brew.yield %[[A:.*]], %[[B:.*]] :
  // CHECK: brew.pin data "a", %[[K]]#0
  // CHECK-NEXT: brew.output %[[K]]#1 "b"
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<64x100xf32>) -> tensor<64x100xf32>
  // Sinks move after all computations.
  brew.pin data "a", %a : tensor<64x100xf32>
  %b = brew.relu "b"(%a) {negative_slope = 0.0 : f32, tops = ["b"]} : (tensor<64x100xf32>) -> tensor<64x100xf32>
  brew.output %b "b" loss_weight 0.0 : tensor<64x100xf32>
}

// -----

// Softmax: the row maximum and sum are scalars at a grid point, so all four nests share the
// grid of rows.
// CHECK-LABEL: brew.program @softmax
brew.program @softmax test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64x1000xf32>
  // CHECK: brew.kernel "soft"({{.*}}) -> tensor<64x1000xf32> {
  // CHECK-COUNT-4: brew.grid_loops = 1 : i64, brew.layer = "soft", brew.sub_kernel = 0
  // CHECK-NOT: linalg.generic
  // CHECK: brew.yield
  %s = brew.softmax "soft"(%x) {axis = 1 : i64, tops = ["s"]} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<64x1000xf32>
}

// -----

// A consumer that reads other grid points cannot be added: pooling over a window of a large
// elementwise nest shares only the loops that both have (number and channel), which is enough
// here to keep the plane local.
// CHECK-LABEL: brew.program @pool
brew.program @pool test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x32x8x8xf32>
  // CHECK: brew.kernel "a_pool"
  // CHECK: brew.grid_loops = 2 : i64, brew.layer = "a"
  // CHECK: brew.grid_loops = 2 : i64, brew.layer = "pool"
  // CHECK-NOT: brew.kernel
  // CHECK: brew.output
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<16x32x8x8xf32>) -> tensor<16x32x8x8xf32>
  %p = brew.average_pooling "pool"(%a) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<16x32x8x8xf32>) -> tensor<16x32x4x4xf32>
  brew.output %p "p" loss_weight 0.0 : tensor<16x32x4x4xf32>
}

// -----

// With one image and one channel that grid would be a single point, too few
// for the threads: two kernels.
// CHECK-LABEL: brew.program @pool_large
brew.program @pool_large test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x1x512x512xf32>
  // CHECK: %[[A:.*]] = brew.kernel "a"
  // CHECK: brew.grid_loops = 4
  // CHECK: brew.kernel "pool"(%[[A]])
  // CHECK: brew.grid_loops = 4
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<1x1x512x512xf32>) -> tensor<1x1x512x512xf32>
  %p = brew.average_pooling "pool"(%a) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<1x1x512x512xf32>) -> tensor<1x1x256x256xf32>
  brew.output %p "p" loss_weight 0.0 : tensor<1x1x256x256xf32>
}

// -----

// Values that stay local must fit a thread's stack (32 KiB): a plane of
// 128 * 128 floats is 64 KiB, so the two nests are two kernels although the
// grid would be large enough.
// CHECK-LABEL: brew.program @local_memory
brew.program @local_memory test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x4x128x128xf32>
  // CHECK: brew.kernel "a"
  // CHECK: brew.kernel "pool"
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<16x4x128x128xf32>) -> tensor<16x4x128x128xf32>
  %p = brew.average_pooling "pool"(%a) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0>, tops = ["p"]} : (tensor<16x4x128x128xf32>) -> tensor<16x4x64x64xf32>
  brew.output %p "p" loss_weight 0.0 : tensor<16x4x64x64xf32>
}

// -----

// Small work is gathered into one sequential kernel: a grid without loops.
// CHECK-LABEL: brew.program @small
brew.program @small test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<4x10xf32>
  // CHECK: brew.kernel "a_sum"
  // CHECK: brew.grid_loops = 0 : i64, brew.layer = "a"
  // CHECK: brew.grid_loops = 0 : i64, brew.layer = "sum"
  // CHECK-NOT: brew.kernel
  // CHECK: brew.output
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<4x10xf32>) -> tensor<4x10xf32>
  %s = brew.reduction "sum"(%a) {kind = #brew<reduction_kind sum>, axis = 0 : i64, coeff = 1.0 : f32, tops = ["s"]} : (tensor<4x10xf32>) -> tensor<f32>
  brew.output %s "s" loss_weight 0.0 : tensor<f32>
}

// -----

// Independent flat kernels (solver updates) become sub-kernels of one kernel, whatever their
// shapes. Each sub-kernel has its own grid.
brew.param @a.0 : tensor<8x4xf32> {layer = "a", index = 0 : i64}
brew.param @a.1 : tensor<8xf32> {layer = "a", index = 1 : i64}
brew.param @b.0 : tensor<3x3x3xf32> {layer = "b", index = 0 : i64}
// CHECK-LABEL: brew.program @update
brew.program @update train role update {
  %s = brew.solver_scalar learning_rate : tensor<f32>
  // CHECK: %[[K:.*]]:6 = brew.kernel "update"
  // CHECK: brew.grid_loops = 2 : i64, brew.sub_kernel = 0 : i64
  // CHECK: brew.grid_loops = 1 : i64, brew.sub_kernel = 1 : i64
  // CHECK: brew.grid_loops = 3 : i64, brew.sub_kernel = 2 : i64
  // CHECK: brew.yield
  // CHECK-NOT: brew.kernel
  // FEW-LABEL: brew.program @update
  // FEW: brew.kernel "update"
  // FEW: brew.sub_kernel = 1 : i64
  // FEW-NOT: brew.sub_kernel = 2 : i64
  // FEW: brew.kernel "update"
  // CHECK: brew.store_param %[[K]]#0, @a.0
  // CHECK: brew.store_state %[[K]]#1, @a.0[0]
  // CHECK: brew.store_param %[[K]]#2, @a.1
  // CHECK: brew.store_state %[[K]]#5, @b.0[0]
  %w0 = brew.param_value @a.0 : tensor<8x4xf32>
  %g0 = brew.param_gradient @a.0 : tensor<8x4xf32>
  %h0 = brew.param_state @a.0[0] : tensor<8x4xf32>
  %n0:3 = brew.sgd_update(%w0, %g0, %h0, %s, %s, %s, %s) {lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L2>} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  brew.store_param %n0#0, @a.0 : tensor<8x4xf32>
  brew.store_state %n0#1, @a.0[0] : tensor<8x4xf32>
  %w1 = brew.param_value @a.1 : tensor<8xf32>
  %g1 = brew.param_gradient @a.1 : tensor<8xf32>
  %h1 = brew.param_state @a.1[0] : tensor<8xf32>
  %n1:3 = brew.sgd_update(%w1, %g1, %h1, %s, %s, %s, %s) {lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L2>} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  brew.store_param %n1#0, @a.1 : tensor<8xf32>
  brew.store_state %n1#1, @a.1[0] : tensor<8xf32>
  %w2 = brew.param_value @b.0 : tensor<3x3x3xf32>
  %g2 = brew.param_gradient @b.0 : tensor<3x3x3xf32>
  %h2 = brew.param_state @b.0[0] : tensor<3x3x3xf32>
  %n2:3 = brew.sgd_update(%w2, %g2, %h2, %s, %s, %s, %s) {lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, regularization = #brew<regularization L1>} : (tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>)
  brew.store_param %n2#0, @b.0 : tensor<3x3x3xf32>
  brew.store_state %n2#1, @b.0[0] : tensor<3x3x3xf32>
}

// -----

// Loops follow the memory order of the result: channels-last here, so the grid is rows and
// columns before channels.
// CHECK-LABEL: brew.program @nhwc
brew.program @nhwc test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x64x8x8xf32, #brew.layout<0, 2, 3, 1>>
  // CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>]
  // CHECK-SAME: brew.grid_loops = 4
  %a = brew.relu "a"(%x) {negative_slope = 0.0 : f32, tops = ["a"]} : (tensor<2x64x8x8xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<2x64x8x8xf32, #brew.layout<0, 2, 3, 1>>
  brew.output %a "a" loss_weight 0.0 : tensor<2x64x8x8xf32, #brew.layout<0, 2, 3, 1>>
}
