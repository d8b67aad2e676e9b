// RUN: %brew-opt %s --brew-lower-to-nests --brew-form-kernels --brew-plan-memory --brew-verify-plan | FileCheck %s

// Persistent state is not a parameter, but the module records its offset.
// CHECK: module attributes {brew.persistent = {rnn.state0 = [memref<2x3xf32>, 0]}} {
// CHECK: plan.arena parameters size 64
// CHECK-NOT: plan.param
// CHECK: plan.buffer "rnn.state0" parameters[0]
brew.param @rnn.state0 : tensor<2x3xf32> {brew.persistent, layer = "rnn", index = 0 : i64}
brew.program @p train {
  %s = brew.param_value @rnn.state0 : tensor<2x3xf32>
  %n = brew.relu "rnn"(%s) {negative_slope = 0.5 : f32, tops = [""]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  brew.store_param %n, @rnn.state0 : tensor<2x3xf32>
}
