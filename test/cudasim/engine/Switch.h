//===- Switch.h - Stacks and the change between them ------------*- C++ -*-===//
#ifndef CUDASIM_SWITCH_H
#define CUDASIM_SWITCH_H

namespace cudasim {

/// Where a suspended stack goes on.
using StackPointer = void *;

/// The `index`-th stack, set up so that switching to it calls `entry`, which
/// must not return. Stacks are reused; a page below each one catches overflow.
StackPointer newStack(unsigned index, void (*entry)());

/// Suspends the current stack into *from and goes on at `to`.
extern "C" void switchStack(StackPointer *from, StackPointer to);

} // namespace cudasim

#endif // CUDASIM_SWITCH_H
