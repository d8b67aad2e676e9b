// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-attach-target=gpu-arch=sm_90 --brew-form-kernels --brew-verify-fused --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-form-kernels --brew-verify-fused --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=CPU

// RUN: %brew-opt %s --brew-lower-to-nests='no-library=all' --brew-attach-target=gpu-arch=sm_75 --brew-form-kernels --brew-verify-fused --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,SMALL

// A fused kernel would have a grid of 256 planes, with one block of threads each. Instead, the
// elementwise nest keeps the grid of all its elements.
// CHECK-LABEL: brew.program @planes
// CHECK: brew.kernel "a"
// CHECK: brew.kernel "pool"
// CPU-LABEL: brew.program @planes
// CPU: brew.kernel "a_pool"
brew.program @planes test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16x16x256x256xf32>
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<16x16x256x256xf32>) -> tensor<16x16x256x256xf32>
  brew.pin data "a", %a : tensor<16x16x256x256xf32>
  %p, %argmax = brew.max_pooling "pool"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0>, stride = array<i64: 2, 2>, tops = ["pool"]} : (tensor<16x16x256x256xf32>) -> (tensor<16x16x128x128xf32>, tensor<16x16x128x128xi8>)
  brew.output %p "pool" loss_weight 0.0 : tensor<16x16x128x128xf32>
}

// -----

// One block computes a row that fits the caches, as one thread does on a CPU.
// CHECK-LABEL: brew.program @softmax
// CHECK: brew.kernel "soft"({{.*}}) -> tensor<64x1000xf32> {
// CHECK-COUNT-4: brew.grid_loops = 1 : i64, brew.layer = "soft", brew.sub_kernel = 0
// CPU-LABEL: brew.program @softmax
brew.program @softmax test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<64x1000xf32>
  %s = brew.softmax "soft"(%x) {axis = 1 : i64, tops = ["s"]} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  brew.output %s "s" loss_weight 0.0 : tensor<64x1000xf32>
}

// -----

// 128 planes are too few to occupy an H100, but enough for a T4.
// CHECK-LABEL: brew.program @some
// HOPPER: brew.kernel "a"
// HOPPER: brew.kernel "pool"
// SMALL: brew.kernel "a_pool"
// CPU-LABEL: brew.program @some
brew.program @some test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<8x16x64x64xf32>
  %a = brew.power "a"(%x) {power = 1.0 : f32, scale = 2.0 : f32, shift = 0.0 : f32, tops = ["a"]} : (tensor<8x16x64x64xf32>) -> tensor<8x16x64x64xf32>
  brew.pin data "a", %a : tensor<8x16x64x64xf32>
  %p, %argmax = brew.max_pooling "pool"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0>, stride = array<i64: 2, 2>, tops = ["pool"]} : (tensor<8x16x64x64xf32>) -> (tensor<8x16x32x32xf32>, tensor<8x16x32x32xi8>)
  brew.output %p "pool" loss_weight 0.0 : tensor<8x16x32x32xf32>
}
