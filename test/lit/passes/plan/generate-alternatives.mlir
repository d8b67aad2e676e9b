// RUN: %brew-opt %s --brew-generate-alternatives --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: %brew-opt %s --brew-generate-alternatives --brew-plan-memory --brew-verify-plan --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=PLAN
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_80 --brew-generate-alternatives --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=GPU

// Depthwise convolutions and first layers each get a kernel with the operands and results of the
// call.
#last = #brew.layout<0, 2, 3, 1>
// CHECK-DAG: plan.kernel @dw_generated attributes {in_place = array<i64: -1>, layers = ["dw"]}
// CHECK-DAG: plan.kernel @dw_backward_generated attributes {in_place = array<i64: -1>, layers = ["dw"]}
// CHECK-DAG: plan.kernel @first_generated attributes
// CHECK-NOT: plan.kernel @wide
// On GPUs only depthwise convolutions get one.
// GPU-NOT: @first_generated
// GPU-DAG: plan.kernel @dw_generated
// CHECK-LABEL: brew.program @main
// GPU-LABEL: brew.program @main
brew.program @main train {
  %image, %x, %w, %b, %v, %u = brew.data_input "in" "Input" {config = "", folder = "", tops = ["i", "x", "w", "b", "v", "u"]} : tensor<2x3x8x8xf32, #last>, tensor<2x32x8x8xf32, #last>, tensor<32x1x3x3xf32>, tensor<32xf32>, tensor<32x3x3x3xf32>, tensor<32x32x3x3xf32>
  // CHECK: brew.convolution "dw"{{.*}}brew.generated = #plan.generated<@dw_generated(w, x, b, y)>
  %y = brew.convolution "dw"(%x, %w, %b) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, relu = 0.0 : f32, tops = ["y"]} : (tensor<2x32x8x8xf32, #last>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> tensor<2x32x8x8xf32, #last>
  // CHECK: brew.convolution "first"{{.*}}brew.generated = #plan.generated<@first_generated(w, x, y)>
  %z = brew.convolution "first"(%image, %v) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["z"]} : (tensor<2x3x8x8xf32, #last>, tensor<32x3x3x3xf32>) -> tensor<2x32x8x8xf32, #last>
  // CHECK: brew.convolution "wide"
  // CHECK-NOT: brew.generated
  %t = brew.convolution "wide"(%x, %u) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["t"]} : (tensor<2x32x8x8xf32, #last>, tensor<32x32x3x3xf32>) -> tensor<2x32x8x8xf32, #last>
  // CHECK: brew.convolution_backward_data "dw"{{.*}}brew.generated = #plan.generated<@dw_backward_generated(
  // PLAN: plan.convolution backward_data x %{{.*}} w %{{.*}} y %{{.*}}generated = #plan.generated<@dw_backward_generated(y, w, x)>
  %dx = brew.convolution_backward_data "dw"(%y, %w) {brew.backward, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64} : (tensor<2x32x8x8xf32, #last>, tensor<32x1x3x3xf32>) -> tensor<2x32x8x8xf32, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<2x32x8x8xf32, #last>
  brew.output %t "t" loss_weight 0.0 : tensor<2x32x8x8xf32, #last>
  brew.output %dx "dx" loss_weight 0.0 : tensor<2x32x8x8xf32, #last>
}

// -----

// A call accumulates in place, and so does the kernel. A convolution with 1x1 windows is a matrix
// product, which the library computes fast even for few pixels: it gets no kernel.
#last = #brew.layout<0, 2, 3, 1>
// CHECK: plan.kernel @few_generated attributes {in_place = array<i64: [[SUM:[0-9]+]]>
// CHECK-NOT: plan.kernel
// CHECK-LABEL: brew.program @main
brew.program @main test {
  %x, %w, %s, %v = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w", "s", "v"]} : tensor<2x32x4x4xf32, #last>, tensor<32x32x3x3xf32>, tensor<2x32x4x4xf32, #last>, tensor<32x32x1x1xf32>
  // CHECK: brew.convolution_sum "few"{{.*}}brew.generated = #plan.generated<@few_generated({{.*}}sum{{.*}}y)>
  // PLAN: plan.convolution forward x %{{.*}} w %{{.*}} sum %{{.*}} y %{{.*}}generated = #plan.generated<@few_generated({{.*}}sum{{.*}}y)>
  %y = brew.convolution_sum "few"(%x, %w, %s) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, relu = 0.0 : f32, tops = ["y"]} : (tensor<2x32x4x4xf32, #last>, tensor<32x32x3x3xf32>, tensor<2x32x4x4xf32, #last>) -> tensor<2x32x4x4xf32, #last>
  // CHECK: brew.convolution "point"
  // CHECK-NOT: brew.generated
  %z = brew.convolution "point"(%y, %v) {num_output = 32 : i64, kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["z"]} : (tensor<2x32x4x4xf32, #last>, tensor<32x32x1x1xf32>) -> tensor<2x32x4x4xf32, #last>
  brew.output %z "z" loss_weight 0.0 : tensor<2x32x4x4xf32, #last>
}

// -----

// If the sum has another layout, the call accumulates into a copy: no kernel is generated.
#last = #brew.layout<0, 2, 3, 1>
// CHECK-NOT: plan.kernel
// CHECK-LABEL: brew.program @copied
// CHECK-NOT: brew.generated
// PLAN-LABEL: plan.program @copied
// PLAN: plan.copy
// PLAN: plan.convolution forward
// PLAN-NOT: generated =
brew.program @copied test {
  %x, %w, %s = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w", "s"]} : tensor<2x32x4x4xf32, #last>, tensor<32x32x3x3xf32>, tensor<2x32x4x4xf32>
  %y = brew.convolution_sum "few"(%x, %w, %s) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 1 : i64, tops = ["y"]} : (tensor<2x32x4x4xf32, #last>, tensor<32x32x3x3xf32>, tensor<2x32x4x4xf32>) -> tensor<2x32x4x4xf32, #last>
  brew.output %y "y" loss_weight 0.0 : tensor<2x32x4x4xf32, #last>
}

// -----

// 16-bit operands are widened when they are read, and the result is rounded.
#last = #brew.layout<0, 2, 3, 1>
// CHECK: plan.kernel @dw_generated
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<32x1x3x3xbf16>, %{{.*}}: tensor<2x32x8x8xbf16, #brew.layout<0, 2, 3, 1>>):
// CHECK: brew.yield %{{.*}} : tensor<2x32x8x8xbf16, #brew.layout<0, 2, 3, 1>>
// PLAN-LABEL: plan.program @narrow
brew.program @narrow test {
  %x, %w = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "w"]} : tensor<2x32x8x8xbf16, #last>, tensor<32x1x3x3xbf16>
  %y = brew.convolution "dw"(%x, %w) {num_output = 32 : i64, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1>, dilation = array<i64: 1, 1>, group = 32 : i64, tops = ["y"]} : (tensor<2x32x8x8xbf16, #last>, tensor<32x1x3x3xbf16>) -> tensor<2x32x8x8xbf16, #last>
  brew.output %y "y" loss_weight 0.0 : tensor<2x32x8x8xbf16, #last>
}
