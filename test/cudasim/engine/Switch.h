//===- Switch.h - Stacks of fibers and switches between them ----*- C++ -*-===//
#ifndef CUDASIM_SWITCH_H
#define CUDASIM_SWITCH_H

#include <cstddef>

namespace cudasim {

/// The stack pointer of a suspended stack.
using StackPointer = void *;

/// Maximum size of a stack in bytes.
inline constexpr std::size_t kStackBytes = std::size_t(8) << 20;

/// Prepares the `index`-th stack so that switching to it calls `entry`, which
/// must not return. Stacks are reused.
StackPointer newStack(unsigned index, void (*entry)());

/// Returns whether the address is in the guard below a stack, which is only
/// accessed on a stack overflow.
bool isStackGuard(const void *address);

/// Saves the current stack in *from and resumes `to`.
extern "C" void switchStack(StackPointer *from, StackPointer to);

} // namespace cudasim

#endif // CUDASIM_SWITCH_H
