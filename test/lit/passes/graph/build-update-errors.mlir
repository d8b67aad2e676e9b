// RUN: %brew-opt %s --brew-build-update='type=Adma' --verify-diagnostics --split-input-file
// RUN: not %brew-opt %s --brew-build-update='regularization=L3' 2>&1 | FileCheck %s
// CHECK: error: unknown regularization_type 'L3' (L1 and L2 are known)

// expected-error @below {{unknown solver type 'Adma' (known: SGD, Nesterov, AdaGrad, RMSProp, AdaDelta, Adam)}}
module {
}
