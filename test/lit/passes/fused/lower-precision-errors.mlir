// RUN: not %brew-opt %s --brew-lower-precision=type=f8 2>&1 | FileCheck %s
// RUN: not %brew-opt %s --brew-lower-precision=type=tf32 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: %brew-opt %s --brew-lower-precision --verify-diagnostics --split-input-file
// CHECK: Cannot find option named 'f8'!
// WIDE: Cannot find option named 'tf32'!

brew.param @ip.0 : tensor<3x8xf64> {layer = "ip", index = 0 : i64}
brew.program @deploy test {
  // expected-error @below {{only f32 nets can be computed in bf16}}
  %w = brew.param_value @ip.0 : tensor<3x8xf64>
}
