// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/communication/Communication.td

// The assembly of every operation round-trips.
brew.program @forward_backward train role forward_backward {
  // CHECK: %[[A:.*]] = brew.fill 1.0
  %a = brew.fill 1.0 : tensor<4xf32>
  %b = brew.fill 2.0 : tensor<2x3xf32>
  // CHECK: %[[S:.*]]:2 = brew.all_reduce_start 3(%[[A]], %{{.*}}) : tensor<4xf32>, tensor<2x3xf32>
  %s:2 = brew.all_reduce_start 3(%a, %b) : tensor<4xf32>, tensor<2x3xf32>
  // CHECK: brew.all_reduce_wait 3(%[[S]]#0, %[[S]]#1) : tensor<4xf32>, tensor<2x3xf32>
  %r:2 = brew.all_reduce_wait 3(%s#0, %s#1) : tensor<4xf32>, tensor<2x3xf32>
  // CHECK: brew.all_reduce_start 4(%{{.*}}) {statistic, transfer_type = bf16} : tensor<4xf32>
  %u = brew.all_reduce_start 4(%a) {statistic, transfer_type = bf16} : tensor<4xf32>
  // CHECK: brew.all_reduce_wait 4(%{{.*}}) {statistic} : tensor<4xf32>
  %v = brew.all_reduce_wait 4(%u) {statistic} : tensor<4xf32>
}
