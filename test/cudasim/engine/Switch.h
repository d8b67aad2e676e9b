//===- Switch.h - Stacks and the change between them ------------*- C++ -*-===//
#ifndef CUDASIM_SWITCH_H
#define CUDASIM_SWITCH_H

#include <cstddef>

namespace cudasim {

/// Where a suspended stack goes on.
using StackPointer = void *;

/// Bytes that a stack can grow to.
inline constexpr std::size_t kStackBytes = std::size_t(8) << 20;

/// The `index`-th stack, set up so that switching to it calls `entry`, which
/// must not return. Stacks are reused.
StackPointer newStack(unsigned index, void (*entry)());

/// Whether the address lies in the guard below a stack, which only a thread
/// that overflows it touches.
bool isStackGuard(const void *address);

/// Suspends the current stack into *from and goes on at `to`.
extern "C" void switchStack(StackPointer *from, StackPointer to);

} // namespace cudasim

#endif // CUDASIM_SWITCH_H
