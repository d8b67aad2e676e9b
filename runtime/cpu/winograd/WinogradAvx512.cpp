//===- WinogradAvx512.cpp - Winograd's transforms with AVX-512 ------------===//
// Compiled with -mavx512f: this file may only contain the transforms.
#define BREW_WINOGRAD_LANES 16
#include "runtime/cpu/winograd/WinogradTransforms.inl"

const brew::runtime::winograd::Transforms &
brew::runtime::winograd::transformsAvx512(std::int64_t m) {
  return transformsForTile(m);
}
