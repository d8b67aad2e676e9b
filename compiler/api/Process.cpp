//===- Process.cpp - compiler.h: functions for the whole process ----------===//
#include "compiler/api/Api.h"
#include "compiler/options/LlvmArguments.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

#include <algorithm>
#include <unistd.h>

using namespace brew::compiler;

/// Ends the process: LLVM cannot continue without memory.
static void endWithoutMemory(void *, const char *, bool) {
  constexpr char text[] = "error: out of memory\n";
  (void)!::write(STDERR_FILENO, text, sizeof text - 1);
  _exit(BREW_UNAVAILABLE);
}

brew_status brew_compiler_set_llvm_arguments(int count,
                                             const char *const *arguments,
                                             char *message, size_t size) {
  std::string text;
  const brew_status status = api::guarded(text, [&] {
    setLlvmArguments({arguments, arguments + std::max(count, 0)});
    return BREW_OK;
  });
  if (message && size)
    message[text.copy(message, size - 1)] = '\0';
  return status;
}

void brew_compiler_report_crashes(int count, const char *const *arguments) {
  std::string ignored;
  api::guarded(ignored, [&] {
    // Never destroyed, since LLVM stores a pointer to it.
    static auto *commandLine =
        new llvm::PrettyStackTraceProgram(count, arguments);
    (void)commandLine;
    llvm::setBugReportMsg(
        "This is a defect of Brew. Please report it with the prototxt, the "
        "command line and the lines below.\n");
    llvm::sys::PrintStackTraceOnErrorSignal(count ? arguments[0] : "");
    llvm::install_bad_alloc_error_handler(endWithoutMemory);
    return BREW_OK;
  });
}
