//===- Switch.cpp - Stacks of fibers and switches between them ------------===//
//
// swapcontext makes two system calls, so x86-64, where the tests mostly run,
// has its own switch, which saves the callee-saved registers of the ABI.
//
//===----------------------------------------------------------------------===//
#include "Switch.h"

#include "Engine.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cudasim {

/// Size in bytes of the guard below each stack. Kernels probe each page of a
/// frame in order (-fstack-clash-protection), so a large frame cannot skip it.
static constexpr std::size_t kGuard = 64 * 1024;
static constexpr unsigned kStacks = 1024;
static char *stacks[kStacks];

/// Returns the lowest address of a stack. It reserves only address space; pages
/// are allocated at their first access. Kernels need large stacks, since a
/// frame contains several temporaries for each use of an argument.
static char *stackMemory(unsigned index) {
  if (!stacks[index]) {
    void *memory = mmap(nullptr, kGuard + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0)
      reportLaunchFinding("no memory for the stack of thread %u", index);
    stacks[index] = static_cast<char *>(memory) + kGuard;
  }
  return stacks[index];
}

bool isStackGuard(const void *address) {
  const auto *byte = static_cast<const char *>(address);
  for (const char *stack : stacks)
    if (stack && byte >= stack - kGuard && byte < stack)
      return true;
  return false;
}

#if defined(__x86_64__)

asm(R"(
    .text
    .globl switchStack
    .type switchStack, @function
switchStack:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size switchStack, . - switchStack
)");

StackPointer newStack(unsigned index, void (*entry)()) {
  // Six registers and the return address, aligned as after a call.
  auto **top = reinterpret_cast<void **>(stackMemory(index) + kStackBytes) - 8;
  std::memset(top, 0, 8 * sizeof(void *));
  top[6] = reinterpret_cast<void *>(entry);
  return top;
}

#else

static ucontext_t contexts[kStacks];
static ucontext_t schedulerContext;
static ucontext_t *current = &schedulerContext;

StackPointer newStack(unsigned index, void (*entry)()) {
  ucontext_t *context = &contexts[index];
  getcontext(context);
  context->uc_stack.ss_sp = stackMemory(index);
  context->uc_stack.ss_size = kStackBytes;
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  return context;
}

extern "C" void switchStack(StackPointer *from, StackPointer to) {
  ucontext_t *self = current;
  *from = self;
  current = static_cast<ucontext_t *>(to);
  swapcontext(self, current);
}

#endif

} // namespace cudasim
