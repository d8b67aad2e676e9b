// RUN: %brew-opt %s --brew-build-update='type=Adma' --verify-diagnostics --split-input-file
// RUN: not %brew-opt %s --brew-build-update='regularization=L3' 2>&1 | FileCheck %s
// CHECK: error: unknown regularization_type 'L3' (L1 and L2 are known)

// expected-error @below {{unknown solver type 'Adma' (known: SGD, Nesterov, AdaGrad, RMSProp, AdaDelta, Adam)}}
module {
}
// RUN: not %brew-opt %s --brew-build-update='local-rate=larc' 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not %brew-opt %s --brew-build-update='type=Adam local-rate=lars' 2>&1 | FileCheck %s --check-prefix=TYPE
// KIND: error: unknown local rate 'larc' of solver type 'SGD' (SGD has lars, larc_scale and larc_clip)
// TYPE: error: unknown local rate 'lars' of solver type 'Adam' (SGD has lars, larc_scale and larc_clip)
