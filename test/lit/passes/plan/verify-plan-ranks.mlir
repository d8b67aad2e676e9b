// RUN: %brew-opt %s --brew-verify-plan --verify-diagnostics --split-input-file

// Until an all-reduce is awaited, nothing may access its targets. A source that is not also a
// target may be overwritten.
plan.arena transient size 128
plan.program @good attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  %b = plan.buffer "b" transient[64] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  plan.all_reduce_start 0(%a) to(%b) : memref<16xf32> to memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  plan.all_reduce_wait 0(%b) : memref<16xf32>
  plan.all_reduce_start 0(%b) to(%b) : memref<16xf32> to memref<16xf32>
  plan.all_reduce_wait 0(%b) : memref<16xf32>
  plan.output %b "b" loss_weight 0.0 : memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @touched attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  plan.all_reduce_start 0(%a) to(%a) : memref<16xf32> to memref<16xf32>
  // expected-error @below {{accesses buffer 'a' while bucket 0 is in flight}}
  plan.output %a "a" loss_weight 0.0 : memref<16xf32>
  plan.all_reduce_wait 0(%a) : memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @forgotten attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  // expected-error @below {{nothing waits for bucket 0}}
  plan.all_reduce_start 0(%a) to(%a) : memref<16xf32> to memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @unknown attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  // expected-error @below {{waits for bucket 0, which was not started}}
  plan.all_reduce_wait 0(%a) : memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @others attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  %b = plan.buffer "b" transient[64] : memref<16xf32>
  plan.data_input "in" "Data"(%a, %b) {config = "", folder = ""} : memref<16xf32>, memref<16xf32>
  plan.all_reduce_start 0(%a) to(%a) : memref<16xf32> to memref<16xf32>
  // expected-error @below {{waits for other buffers than bucket 0 has}}
  plan.all_reduce_wait 0(%b) : memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @twice attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  %b = plan.buffer "b" transient[64] : memref<16xf32>
  plan.data_input "in" "Data"(%a, %b) {config = "", folder = ""} : memref<16xf32>, memref<16xf32>
  plan.all_reduce_start 0(%a) to(%a) : memref<16xf32> to memref<16xf32>
  // expected-error @below {{starts bucket 0, which is in flight}}
  plan.all_reduce_start 0(%b) to(%b) : memref<16xf32> to memref<16xf32>
}

// -----

plan.arena transient size 128
plan.program @types attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf32>
  %b = plan.buffer "b" transient[64] : memref<4x4xf32>
  // expected-error @below {{has a target 0 of another type than its source}}
  plan.all_reduce_start 0(%a) to(%b) : memref<16xf32> to memref<4x4xf32>
}

// -----

plan.arena transient size 128
plan.program @integers attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xi32>
  // expected-error @below {{adds up 'i32', which is neither f32 nor f64}}
  plan.all_reduce_start 0(%a) to(%a) : memref<16xi32> to memref<16xi32>
}

// -----

plan.arena transient size 128
plan.program @wire attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] : memref<16xf64>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf64>
  // expected-error @below {{sends 'f64' as 'bf16'; only f32 travels as bf16}}
  plan.all_reduce_start 0(%a) to(%a) {transfer_type = bf16} : memref<16xf64> to memref<16xf64>
}
