// RUN: %brew-opt %s --brew-verify-plan --verify-diagnostics --split-input-file

// A launch in a loop must stay within the buffers of the loop, in all iterations.

module {
  plan.arena transient size 1024
  plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
  ^bb0(%a: tensor<4xf32>):
    brew.yield %a : tensor<4xf32>
  }
  plan.program @fits attributes {arena_bytes = 1024 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 0] : memref<4xf32>
    plan.data_input "in" "Input"(%x) {config = "", folder = ""} : memref<4xf32>
    %y = plan.buffer "y" transient[64] live [0, 0] : memref<3x4xf32>
    %item = plan.buffer "y.item" transient[96] live [0, 0] {brew.base = ["y", 64]} : memref<4xf32>
    plan.loop 3 reads(%x : memref<4xf32>) writes(%y : memref<3x4xf32>) {
      // expected-error @below {{needs buffer 'y.item' aligned, which is a subview of another}}
      plan.launch @k(%x, %item) {strides = array<i64: 0, -16>} : memref<4xf32>, memref<4xf32>
    }
  }
}

// -----

module {
  plan.arena transient size 1024
  plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
  ^bb0(%a: tensor<4xf32>):
    brew.yield %a : tensor<4xf32>
  }
  plan.program @leaves attributes {arena_bytes = 1024 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 0] : memref<4xf32>
    plan.data_input "in" "Input"(%x) {config = "", folder = ""} : memref<4xf32>
    %y = plan.buffer "y" transient[64] live [0, 0] : memref<3x16xf32>
    %item = plan.buffer "y.item" transient[64] live [0, 0] : memref<4xf32>
    plan.loop 4 reads(%x : memref<4xf32>) writes(%y : memref<3x16xf32>) {
      // expected-error @below {{accesses buffer 'y.item' beyond the buffers of its loop}}
      plan.launch @k(%x, %item) {strides = array<i64: 0, 64>} : memref<4xf32>, memref<4xf32>
    }
  }
}

// -----

module {
  plan.arena transient size 1024
  plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
  ^bb0(%a: tensor<4xf32>):
    brew.yield %a : tensor<4xf32>
  }
  plan.program @writes_input attributes {arena_bytes = 1024 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 0] : memref<4xf32>
    %y = plan.buffer "y" transient[64] live [0, 0] : memref<4xf32>
    plan.data_input "in" "Input"(%x, %y) {config = "", folder = ""} : memref<4xf32>, memref<4xf32>
    %z = plan.buffer "z" transient[128] live [0, 0] : memref<4xf32>
    plan.loop 4 reads(%x, %y : memref<4xf32>, memref<4xf32>) writes(%z : memref<4xf32>) {
      // expected-error @below {{accesses buffer 'y' beyond the buffers of its loop}}
      plan.launch @k(%x, %y) : memref<4xf32>, memref<4xf32>
    }
  }
}

// -----

// Copies and other steps are not allowed in a loop, and what it reads must have a value.

module {
  plan.arena transient size 1024
  plan.program @copy attributes {arena_bytes = 1024 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
    %x = plan.buffer "x" transient[0] live [0, 0] : memref<4xf32>
    plan.data_input "in" "Input"(%x) {config = "", folder = ""} : memref<4xf32>
    %y = plan.buffer "y" transient[64] live [0, 0] : memref<4xf32>
    plan.loop 3 reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) {
      // expected-error @below {{phase plan: this step is not allowed in a loop}}
      plan.copy %x to %y : memref<4xf32>, memref<4xf32>
    }
  }
}

// -----

module {
  plan.arena transient size 1024
  plan.program @no_value attributes {arena_bytes = 1024 : i64, caffe_bytes = 0 : i64, lower_bound_bytes = 0 : i64} {
    // expected-note @below {{the buffer}}
    %x = plan.buffer "x" transient[0] live [0, 0] : memref<4xf32>
    %y = plan.buffer "y" transient[64] live [0, 0] : memref<4xf32>
    // expected-error @below {{reads buffer 'x', which contains no value here}}
    plan.loop 3 reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) {
    }
  }
}
