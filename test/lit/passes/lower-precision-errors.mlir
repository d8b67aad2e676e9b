// RUN: not %brew-opt %s --brew-lower-precision=type=f8 2>&1 | FileCheck %s
// RUN: %brew-opt %s --brew-lower-precision --verify-diagnostics --split-input-file
// CHECK: error: unknown type 'f8' (bf16 and f16 are known)

// expected-error @below {{only f32 nets can be computed in bf16}}
brew.param @ip.0 : tensor<3x8xf64> {layer = "ip", index = 0 : i64}
