// RUN: not %brew-opt %s --brew-build-feed-kernels 2>&1 | FileCheck %s

// CHECK: [[#@LINE+4]]:3: error: its configuration is unreadable
plan.arena @transient transient size 512
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" @transient[0] live [0, 0] : memref<2x3x4x5xf32>
  plan.feed "in" "Data"(%data) {config = "no such field: 1", folder = ""} : memref<2x3x4x5xf32>
}
