// RUN: %brew-opt %s --brew-build-update='local-rate=larc_clip local-factor=0.25' | FileCheck %s --check-prefix=CLIP
// RUN: %brew-opt %s --brew-build-update='local-rate=lars' | FileCheck %s --check-prefix=LARS
// RUN: %brew-opt %s --brew-build-update | FileCheck %s --check-prefix=NONE

brew.param @conv.0 : tensor<2x3xf32> {layer = "conv", index = 0 : i64, lr_mult = 0.5 : f32}
brew.program @forward_backward train {
  %w = brew.fill 1.0 : tensor<2x3xf32>
  brew.store_gradient %w, @conv.0 : tensor<2x3xf32>
}

// CLIP: brew.sgd_update
// CLIP-SAME: local_factor = 2.500000e-01 : f32, local_rate = #brew<local_rate larc_clip>, lr_mult = 5.000000e-01 : f32
// LARS: brew.sgd_update
// LARS-SAME: local_factor = 1.000000e-03 : f32, local_rate = #brew<local_rate lars>
// NONE-NOT: local_
