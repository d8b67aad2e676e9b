// RUN: not %brew-opt %s --brew-attach-target=gpu-arch=sm_90,volta 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not %brew-opt %s --brew-attach-target=vector-bits=300 2>&1 | FileCheck %s --check-prefix=BITS
// ARCH: error: 'volta' is not a GPU architecture
// BITS: error: no processor has vectors of 300 bits
module {
}
