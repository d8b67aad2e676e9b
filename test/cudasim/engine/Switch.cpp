//===- Switch.cpp - Stacks and the change between them --------------------===//
//
// swapcontext costs two system calls, so x86-64, where the tests mostly run,
// has its own; it saves what the ABI says a call preserves.
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

static constexpr std::size_t kGuard = 4096;
static constexpr std::size_t kStack = 64 * 1024;

/// The bytes of a stack, from its lowest.
static char *stackMemory(unsigned index) {
  static char *stacks[1024];
  if (!stacks[index]) {
    void *memory = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0)
      launchFinding("no memory for the stack of thread %u", index);
    stacks[index] = static_cast<char *>(memory) + kGuard;
  }
  return stacks[index];
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
  // Six registers, the address to return to, and a frame that is aligned as
  // after a call.
  auto **top = reinterpret_cast<void **>(stackMemory(index) + kStack) - 8;
  std::memset(top, 0, 8 * sizeof(void *));
  top[6] = reinterpret_cast<void *>(entry);
  return top;
}

#else

static ucontext_t contexts[1024];
static ucontext_t schedulerContext;
static ucontext_t *current = &schedulerContext;

StackPointer newStack(unsigned index, void (*entry)()) {
  ucontext_t *context = &contexts[index];
  getcontext(context);
  context->uc_stack.ss_sp = stackMemory(index);
  context->uc_stack.ss_size = kStack;
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
