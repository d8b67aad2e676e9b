// RUN: %brew-opt %s --verify-diagnostics --split-input-file

// The text of a feed's configuration is read where it stands, once.
plan.arena @transient transient size 512
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" @transient[0] live [0, 0] : memref<2x3x4x5xf32>
  // expected-error @below {{a feed's configuration is no LayerParameter}}
  plan.feed "in" "Data"(%data) {config = "no such field: 1", folder = ""} : memref<2x3x4x5xf32>
}

// -----

brew.program @config train {
  // expected-error @below {{a feed's configuration is no LayerParameter}}
  %a = brew.feed "in" "Input" {config = "no_field: 1", folder = ".", tops = ["x"]} : tensor<*xf32>
}
