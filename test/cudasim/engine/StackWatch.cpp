//===- StackWatch.cpp - Stack overflows become findings -------------------===//
#include "Engine.h"
#include "Switch.h"

#include <csignal>

namespace cudasim {

namespace {

/// The handler cannot run on the stack that has overflowed.
alignas(16) char handlerStack[256 * 1024];

stack_t stackBefore;
struct sigaction actionBefore;

void onFault(int signal, siginfo_t *info, void *) {
  if (isStackGuard(info->si_addr))
    reportFinding("its frames take more than the %zu bytes of a simulated thread's "
            "stack",
            kStackBytes);
  // Some other fault: the instruction runs again and meets the handler that was
  // there before.
  sigaction(signal, &actionBefore, nullptr);
}

} // namespace

void beginStackWatch() {
  stack_t stack = {};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof(handlerStack);
  sigaltstack(&stack, &stackBefore);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &actionBefore);
}

void endStackWatch() {
  sigaction(SIGSEGV, &actionBefore, nullptr);
  sigaltstack(&stackBefore, nullptr);
}

} // namespace cudasim
