// RUN: %brew-opt %s --brew-insert-all-reduces --verify-diagnostics --split-input-file
// RUN: not %brew-opt %s --brew-insert-all-reduces='bucket-bytes=-1' --split-input-file 2>&1 | FileCheck %s
// CHECK: a bucket cannot have -1 bytes

brew.param @a.0 : tensor<64xf16> {layer = "a", index = 0 : i64, file_dims = array<i64: 64>}
brew.program @forward_backward train role forward_backward {
  %a = brew.fill 1.0 : tensor<64xf16>
  // expected-error @below {{this gradient is of 'f16', which cannot be all-reduced}}
  brew.store_gradient %a, @a.0 : tensor<64xf16>
}

// -----

// expected-error @below {{the gradients of this module are reduced already}}
brew.program @reduce train role reduce {
}

// -----

brew.program @forward_backward train role forward_backward {
  %a = brew.fill 1.0 : tensor<64xf32>
  // expected-error @below {{waits for operand 0, which is not a result of a brew.all_reduce_start of bucket 1}}
  %b = brew.all_reduce_wait 1(%a) : tensor<64xf32>
}

// -----

brew.program @forward_backward train role forward_backward {
  %a = brew.fill 1.0 : tensor<64xf32>
  %s = brew.all_reduce_start 0(%a) : tensor<64xf32>
  // expected-error @below {{waits for operand 0, which has another use}}
  %b = brew.all_reduce_wait 0(%s) : tensor<64xf32>
  brew.pin data "s", %s : tensor<64xf32>
}
