// RUN: %brew-opt %s --brew-verify-plan --verify-diagnostics --split-input-file

// The caller's output gradient is in its buffer from the start, and the outputs that the caller
// may read are complete before the output gradient is read.
plan.arena transient size 192
plan.program @good attributes {arena_bytes = 192 : i64, lower_bound_bytes = 192 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<16xf32>
  %y = plan.buffer "y" transient[64] live [0, 1] pinned : memref<16xf32>
  plan.copy %x to %y : memref<16xf32>, memref<16xf32>
  %s = plan.buffer "y.output_gradient" transient[128] live [0, 1] : memref<16xf32>
  plan.output_gradient "y", %s : memref<16xf32>
  %d = plan.buffer "d" transient[0] live [1, 1] : memref<16xf32>
  plan.copy %s to %d : memref<16xf32>, memref<16xf32>
  plan.output %y "y" loss_weight 0.0 : memref<16xf32>
}

// -----

// The forward pass overwrites the memory of the output gradient with another value.
plan.arena transient size 64
plan.arena parameters size 64
plan.program @overwritten attributes {arena_bytes = 64 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %w = plan.buffer "w" parameters[0] : memref<16xf32>
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.copy %w to %a : memref<16xf32>, memref<16xf32>
  // expected-note @below {{the buffer}}
  %s = plan.buffer "y.output_gradient" transient[0] live [0, 1] : memref<16xf32>
  // expected-error @below {{reads buffer 'y.output_gradient', which contains no value here}}
  plan.output_gradient "y", %s : memref<16xf32>
}

// -----

// The output y is computed only after the output gradient is read.
plan.arena transient size 128
plan.arena parameters size 64
plan.program @late attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %w = plan.buffer "w" parameters[0] : memref<16xf32>
  %s = plan.buffer "y.output_gradient" transient[0] live [0, 1] : memref<16xf32>
  // expected-note @below {{the buffer}}
  %y = plan.buffer "y" transient[64] live [0, 1] pinned : memref<16xf32>
  // expected-error @below {{reads buffer 'y', which contains no value here}}
  plan.output_gradient "y", %s : memref<16xf32>
  plan.copy %w to %y : memref<16xf32>, memref<16xf32>
  plan.output %y "y" loss_weight 0.0 : memref<16xf32>
}
