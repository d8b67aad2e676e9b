// RUN: %brew-opt %s --brew-build-gradient-programs='accumulate=true clip=true' --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-build-gradient-programs='accumulate=true clip=true' --brew-form-kernels --brew-verify-fused --brew-plan-memory --brew-verify-plan --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: %brew-opt %s --brew-build-gradient-programs --split-input-file | FileCheck %s --check-prefix=NONE

// The gradient arena contains 3 * 1024 and 5 elements, each with padding that aligns the next
// to 64 bytes; the sums follow the history in the state arena.
brew.param @a.0 : tensor<3x1024xf32> {layer = "a", index = 0 : i64, file_dims = array<i64: 3, 1024>}
brew.param @a.1 : tensor<5xf32> {layer = "a", index = 1 : i64, file_dims = array<i64: 5>}
brew.program @forward_backward train {
  %w = brew.param_value @a.0 : tensor<3x1024xf32>
  %b = brew.param_value @a.1 : tensor<5xf32>
  brew.store_gradient %w, @a.0 : tensor<3x1024xf32>
  brew.store_gradient %b, @a.1 : tensor<5xf32>
}
brew.program @update train {
  %g = brew.param_gradient @a.0 : tensor<3x1024xf32>
  brew.store_state %g, @a.0[0] : tensor<3x1024xf32>
}

// CHECK-LABEL: brew.program @accumulate train
// CHECK-DAG: %[[S:.*]] = brew.all_gradients accumulated : tensor<3088xf32>
// CHECK-DAG: %[[G:.*]] = brew.all_gradients : tensor<3088xf32>
// CHECK: %[[N:.*]] = linalg.generic
// CHECK-SAME: ins(%[[S]], %[[G]]
// CHECK: arith.addf
// CHECK: brew.store_all_gradients %[[N]] accumulated : tensor<3088xf32>
// CHECK-LABEL: brew.program @collect train
// CHECK: linalg.generic
// CHECK: brew.store_all_gradients %{{.*}}#0 accumulated : tensor<3088xf32>
// CHECK: brew.store_all_gradients %{{.*}}#1 : tensor<3088xf32>
// CHECK-LABEL: brew.program @clip train
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: brew.output %{{.*}} "sum_of_squares" loss_weight 0.000000e+00 : tensor<f32>

// PLAN: plan.arena state size 24704
// PLAN-LABEL: plan.program @accumulate
// PLAN-DAG: %[[S:.*]] = plan.buffer "gradient sums" state[12352] : memref<3088xf32>
// PLAN-DAG: %[[G:.*]] = plan.buffer "gradients" gradients[0] : memref<3088xf32>
// PLAN: plan.launch @accumulate_1(%[[S]], %[[G]],
// PLAN-NOT: plan.copy
// PLAN-LABEL: plan.program @collect
// PLAN: plan.launch @collect_1(
// PLAN-NOT: plan.copy
// PLAN-LABEL: plan.program @clip
// PLAN: plan.output

// NONE-NOT: brew.program @accumulate
// NONE-NOT: brew.program @clip

// -----

// Gradients of more than one chunk have partial sums, the last over fewer elements, then their sum.
brew.param @b.0 : tensor<90x100xf32> {layer = "b", index = 0 : i64, file_dims = array<i64: 90, 100>}
brew.program @forward_backward train {
  %w = brew.param_value @b.0 : tensor<90x100xf32>
  brew.store_gradient %w, @b.0 : tensor<90x100xf32>
}
// CHECK-LABEL: brew.program @clip train
// CHECK: %[[G:.*]] = brew.all_gradients : tensor<9008xf32>
// CHECK: -> tensor<3xf32>
// CHECK: arith.constant 4096 : index
// CHECK: %[[V:.*]] = tensor.extract %[[G]]
// CHECK: arith.constant 9008 : index
// CHECK: arith.mulf %[[V]], %[[V]]
// CHECK: ins(%{{.*}} : tensor<3xf32>)

// -----

// If nothing is learned, no programs are added.
brew.program @forward_backward train {
  %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["w"]} : tensor<2xf32>
  brew.pin data "w", %w : tensor<2xf32>
}
// CHECK-LABEL: brew.program @forward_backward
// CHECK-NOT: brew.program
