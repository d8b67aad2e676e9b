// RUN: %brew-opt %s --brew-infer-shapes --brew-differentiate --brew-verify-graph --mlir-print-local-scope | FileCheck %s
// RUN: %brew-opt %s --brew-infer-shapes --brew-differentiate --brew-lower-to-nests --brew-form-kernels --brew-verify-fused --brew-plan-memory --brew-verify-plan --mlir-print-local-scope | FileCheck %s --check-prefix=PLAN

// A host layer has explicit shapes, stays although one of its tops has no reader, and receives
// zeros for a missing gradient.
// CHECK-LABEL: brew.program @main
// PLAN-LABEL: plan.program @main
brew.param @ip.0 : tensor<*xf32> {layer = "ip", index = 0 : i64}
brew.program @main train differentiate {
  %x, %t = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' top: 't' input_param { shape { dim: 2 dim: 3 } }", folder = ".", tops = ["x", "t"]} : tensor<2x3xf32>, tensor<2x3xf32>
  %w = brew.param_value @ip.0 : tensor<*xf32>
  // CHECK: %[[I:.*]] = brew.inner_product
  %i = brew.inner_product "ip"(%x, %w) {num_output = 4 : i64, axis = 1 : i64, tops = ["i"]} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: %[[Y:.*]]:2 = brew.host_layer "mine"(%[[I]], %{{.*}}) {kind = "m.Mine", {{.*}}} : (tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x5xf32>, tensor<f32>)
  // PLAN: plan.host_call forward "m.Mine" "mine"({{.*}}) {{{.*}}gradients_of = array<i64>, layers = ["mine"], operandSegmentSizes = array<i32: 2, 2, 0, 0>, param_str = "7", settings = "name: \22mine\22"} : memref<2x4xf32>, memref<2x3xf32>, memref<2x5xf32>, memref<f32>
  %y, %n = brew.host_layer "mine"(%i, %t) {kind = "m.Mine", settings = "name: \"mine\"", param_str = "7", tops = ["y", "n"], loss_weights = array<f32: 1.0, 0.0>, shapes = [array<i64: 2, 5>, array<i64>]} : (tensor<*xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK-DAG: %[[ONE:.*]] = brew.fill {{.*}}1.0{{.*}} : tensor<2x5xf32>
  // CHECK-DAG: %[[ZERO:.*]] = brew.fill {{.*}}0.0{{.*}} : tensor<f32>
  // CHECK: %[[DI:.*]] = brew.host_layer_backward "mine"(%[[I]], %{{.*}}, %[[Y]]#0, %[[Y]]#1, %[[ONE]], %[[ZERO]]) {{.*}}bottoms = array<i64: 0>
  // CHECK: brew.inner_product_backward_weights "ip"(%{{.*}}, %[[DI]])
  // PLAN: plan.host_call backward_data "m.Mine" "mine"({{.*}}) {backward, {{.*}}gradients_of = array<i64: 0>, layers = ["mine"], operandSegmentSizes = array<i32: 2, 2, 2, 1>
  brew.output %y "y" loss_weight 1.0 : tensor<*xf32>
}

// A host layer without tops stays, too.
// CHECK-LABEL: brew.program @test_0
// CHECK: brew.host_layer "listener"
// PLAN-LABEL: plan.program @test_0
// PLAN: plan.host_call forward "Listener" "listener"
brew.program @test_0 test {
  %x = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } }", folder = ".", tops = ["x"]} : tensor<2x3xf32>
  brew.host_layer "listener"(%x) {kind = "Listener", settings = "", param_str = "", test_phase, tops = []} : (tensor<2x3xf32>) -> ()
}
