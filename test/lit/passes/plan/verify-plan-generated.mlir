// RUN: %brew-opt %s --brew-verify-plan --verify-diagnostics --split-input-file

// The generated alternative to a call must have the buffers of the call, in the same layouts.

module {
  plan.arena transient size 448
  plan.kernel @other attributes {in_place = array<i64: -1>, layers = ["c"]} {
  ^bb0(%x: tensor<1x2x2x2xf32, #brew.layout<0, 2, 3, 1>>, %w: tensor<2x2x1x1xf32>):
    %y = tensor.empty() : tensor<1x2x2x2xf32>
    brew.yield %y : tensor<1x2x2x2xf32>
  }
  plan.program @main attributes {arena_bytes = 448 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 192 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 1] : memref<1x2x2x2xf32>
    %w = plan.buffer "w" transient[64] live [0, 1] : memref<2x2x1x1xf32>
    %y = plan.buffer "y" transient[128] live [0, 1] : memref<1x2x2x2xf32>
    // expected-error @+1 {{the generated kernel reads or writes 'tensor<1x2x2x2xf32, #brew.layout<0, 2, 3, 1>>' where the call has 'memref<1x2x2x2xf32>'}}
    plan.convolution forward x %x w %w y %y {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, generated = #plan.generated<@other(x, w, y)>} : memref<1x2x2x2xf32>, memref<2x2x1x1xf32>, memref<1x2x2x2xf32>
  }
}

// -----

module {
  plan.arena transient size 448
  plan.kernel @other attributes {in_place = array<i64: -1>, layers = ["c"]} {
  ^bb0(%x: tensor<1x2x2x2xf32>, %w: tensor<2x2x1x1xf32>):
    %y = tensor.empty() : tensor<1x2x2x2xf32>
    brew.yield %y : tensor<1x2x2x2xf32>
  }
  plan.program @main attributes {arena_bytes = 448 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 192 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 1] : memref<1x2x2x2xf32>
    %w = plan.buffer "w" transient[64] live [0, 1] : memref<2x2x1x1xf32>
    %y = plan.buffer "y" transient[128] live [0, 1] : memref<1x2x2x2xf32>
    // expected-error @+1 {{the generated kernel has other buffers}}
    plan.convolution forward x %x w %w y %y {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, generated = #plan.generated<@other(x, b, y)>} : memref<1x2x2x2xf32>, memref<2x2x1x1xf32>, memref<1x2x2x2xf32>
  }
}

// -----

module {
  plan.arena transient size 448
  plan.program @main attributes {arena_bytes = 448 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 192 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 1] : memref<1x2x2x2xf32>
    %w = plan.buffer "w" transient[64] live [0, 1] : memref<2x2x1x1xf32>
    %y = plan.buffer "y" transient[128] live [0, 1] : memref<1x2x2x2xf32>
    // expected-error @+1 {{the generated kernel does not exist}}
    plan.convolution forward x %x w %w y %y {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, generated = #plan.generated<@other(x, w, y)>} : memref<1x2x2x2xf32>, memref<2x2x1x1xf32>, memref<1x2x2x2xf32>
  }
}
