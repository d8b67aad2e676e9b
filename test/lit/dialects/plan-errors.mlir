// RUN: %brew-opt %s --verify-diagnostics --split-input-file

// The configuration of a data input is parsed once, together with the operation.
plan.arena transient size 512
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" transient[0] live [0, 0] : memref<2x3x4x5xf32>
  // expected-error @below {{a data input's configuration is not a LayerParameter}}
  plan.data_input "in" "Data"(%data) {config = "no such field: 1", folder = ""} : memref<2x3x4x5xf32>
}

// -----

brew.program @config train {
  // expected-error @below {{a data input's configuration is not a LayerParameter}}
  %a = brew.data_input "in" "Input" {config = "no_field: 1", folder = ".", tops = ["x"]} : tensor<*xf32>
}

// -----

// expected-error @below {{a parameter's filler is not a FillerParameter}}
plan.param @w[0] : memref<4xf32> {layer = "ip", index = 0 : i64, file_dims = array<i64: 4>, filler = #plan.filler<"variance: 2">, lr_mult = 1.0 : f32, decay_mult = 1.0 : f32, layer_type = "InnerProduct", state_slots = 0 : i64}
