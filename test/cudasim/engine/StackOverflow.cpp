//===- StackOverflow.cpp - Detection of stack overflows -------------------===//
#include "Engine.h"
#include "Switch.h"

#include <csignal>

namespace cudasim {

namespace {

/// The signal handler's stack, since the thread's own has overflowed.
alignas(16) char handlerStack[256 * 1024];

stack_t previousStack;
struct sigaction previousAction;

void handleFault(int signal, siginfo_t *info, void *) {
  if (isStackGuard(info->si_addr))
    reportFinding(
        "its frames take more than the %zu bytes of a simulated thread's "
        "stack",
        kStackBytes);
  // Any other fault: restore the previous handler. The faulting instruction
  // runs again on return and reaches it.
  sigaction(signal, &previousAction, nullptr);
}

} // namespace

void installStackOverflowHandler() {
  stack_t stack = {};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof(handlerStack);
  sigaltstack(&stack, &previousStack);
  struct sigaction action = {};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previousAction);
}

void removeStackOverflowHandler() {
  sigaction(SIGSEGV, &previousAction, nullptr);
  sigaltstack(&previousStack, nullptr);
}

} // namespace cudasim
