//===- WinogradAvx2.cpp - Winograd's transforms with AVX2 -----------------===//
// Compiled with -mavx2 -mfma: this file may only contain the transforms.
#define BREW_WINOGRAD_LANES 8
#include "runtime/cpu/winograd/WinogradTransforms.inl"

const brew::runtime::winograd::Transforms &
brew::runtime::winograd::transformsAvx2(std::int64_t m) {
  return transformsForTile(m);
}
