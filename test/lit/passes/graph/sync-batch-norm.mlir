// RUN: %brew-opt %s --brew-sync-batch-norm | FileCheck %s
// RUN: %brew-opt %s --brew-sync-batch-norm --brew-lower-to-nests | FileCheck %s --check-prefix=SUMS

// In training the ranks all-reduce the sums of the batch and their counts, then the sums of the
// squared differences from the resulting means. Test programs run on rank 0 only, so they
// all-reduce nothing.
// CHECK-LABEL: brew.program @main train
// CHECK: brew.batch_norm "n"({{.*}}synchronized
// CHECK-LABEL: brew.program @test
// CHECK: brew.batch_norm "n"
// CHECK-NOT: synchronized
// SUMS-LABEL: brew.program @main train
// SUMS: %[[S:.*]]:2 = brew.all_reduce_start 0({{.*}}statistic{{.*}} : tensor<3xf32>, tensor<3xf32>
// SUMS-NEXT: %{{.*}}:2 = brew.all_reduce_wait 0(%[[S]]#0, %[[S]]#1) {{.*}}statistic
// SUMS: %[[Q:.*]] = brew.all_reduce_start 0({{.*}}statistic{{.*}} : tensor<3xf32>
// SUMS-NEXT: brew.all_reduce_wait 0(%[[Q]]) {{.*}}statistic
// SUMS: brew.output
// SUMS-LABEL: brew.program @test
// SUMS-NOT: all_reduce
brew.program @main train {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x5xf32>
  %y, %d = brew.batch_norm "n"(%x) {eps = 0.1 : f32, fraction = 0.5 : f32, tops = ["y"]} : (tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>)
  brew.output %y "y" loss_weight 0.0 : tensor<2x3x4x5xf32>
}
brew.program @test test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3x4x5xf32>
  %y, %d = brew.batch_norm "n"(%x) {eps = 0.1 : f32, fraction = 0.5 : f32, tops = ["y"]} : (tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>)
  brew.output %y "y" loss_weight 0.0 : tensor<2x3x4x5xf32>
}
