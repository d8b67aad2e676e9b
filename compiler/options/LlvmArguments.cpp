//===- LlvmArguments.cpp - MLIR's and LLVM's own options ------------------===//
#include "compiler/options/LlvmArguments.h"

#include "compiler/Pipeline.h"
#include "compiler/options/Options.h"
#include "formats/caffe.pb.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace brew::compiler {

static std::atomic<bool> isRegistered{false};

bool hasLlvmArguments() { return isRegistered; }

/// Returns whether LLVM would print something and exit for an argument.
static bool printsAndExits(llvm::StringRef argument) {
  llvm::StringRef name = argument.ltrim('-').split('=').first;
  return name == "h" || name == "version" || name.starts_with("help");
}

namespace {

/// The current arguments, and the mutex that protects LLVM's globals.
struct State {
  std::mutex mutex;
  std::vector<std::string> arguments;
};

State &state() {
  static State state;
  return state;
}

/// Resets all options, then sets `arguments`. If an argument is wrong, returns
/// false and appends LLVM's messages to `reasons`.
bool parseArguments(const std::vector<std::string> &arguments,
                    std::string &reasons) {
  std::vector<const char *> argv = {"brewc"};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  llvm::cl::ResetAllOptionOccurrences();
  llvm::raw_string_ostream stream(reasons);
  return llvm::cl::ParseCommandLineOptions(static_cast<int>(argv.size()),
                                           argv.data(), "", &stream);
}

/// Throws Error (Usage) if LLVM has no such option. Suggests Brew's own
/// options: callers pass on what is not one of these, and may have misspelt it.
void checkIsKnown(llvm::StringRef argument) {
  const std::string flag = argument.split('=').first.str();
  const std::string name = llvm::StringRef(flag).ltrim('-').str();
  if (llvm::cl::getRegisteredOptions().contains(name))
    return;
  std::string field = name;
  std::replace(field.begin(), field.end(), '-', '_');
  if (caffe::SolverParameter::descriptor()->FindFieldByName(field))
    throw Error(ExitStatus::Usage,
                "'" + flag + "' is not an option of the compiler: " + field +
                    " is a field of the solver, which brew-run train can "
                    "override");
  std::vector<std::string> names;
  for (const OptionRow &row : optionTable())
    names.push_back("--" + std::string(row.name));
  throw Error(ExitStatus::Usage,
              "unknown option '" + flag + "'" + didYouMean(flag, names));
}

} // namespace

void reapplyLlvmArguments() {
  if (!isRegistered)
    return;
  std::lock_guard<std::mutex> lock(state().mutex);
  std::string ignoredReasons;
  parseArguments(state().arguments, ignoredReasons);
}

void setLlvmArguments(const std::vector<std::string> &arguments) {
  std::lock_guard<std::mutex> lock(state().mutex);
  if (!isRegistered) {
    registerPasses(); // the options refer to them
    mlir::registerAsmPrinterCLOptions();
    mlir::registerPassManagerCLOptions();
    mlir::registerDefaultTimingManagerCLOptions();
    isRegistered = true;
  }
  for (const std::string &argument : arguments)
    if (printsAndExits(argument))
      throw Error(ExitStatus::Usage,
                  "'" + argument + "' cannot be given to LLVM here");
  for (const std::string &argument : arguments)
    checkIsKnown(argument);
  std::string messages;
  if (parseArguments(arguments, messages)) {
    state().arguments = arguments;
    return;
  }
  std::string ignoredReasons;
  parseArguments(state().arguments, ignoredReasons);
  // Each line begins with the program's name.
  std::string text;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(messages).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    line.consume_front("brewc: ");
    text += (text.empty() ? "" : "\n") + line.str();
  }
  throw Error(ExitStatus::Usage, text);
}

} // namespace brew::compiler
