//===- main.cpp - brewc: compiles prototxt nets to plans ------------------===//
//
// Uses only libbrew_compiler's public headers.
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "Progress.h"

#include "support/Caller.h"
#include "support/PrintableText.h"
#include "tools/common/HostPlugin.h"
#include "tools/common/StandardStreams.h"

#include <cstdio>

using namespace brewc;
using brew::api::Compilation;
using brew::api::CompilerOptions;
using brew::api::Diagnostic;
using brew::api::Error;

namespace {

void printError(const std::string &text) {
  std::fprintf(stderr, "%serror: %s\n", brew::messagePrefix("brewc").c_str(),
               brew::messageForCaller(text).c_str());
}

void printDiagnostic(const Diagnostic &diagnostic, Progress &progress) {
  const std::string prefix =
      diagnostic.file.empty() ? brew::messagePrefix("brewc") : "";
  progress.print(prefix + brew::messageForCaller(diagnostic.str()));
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Throws Error if standard output cannot be written.
void flush() {
  if (!brew::tools::flushResults())
    throw Error(BREW_UNAVAILABLE, "cannot write to standard output");
}

/// Whether to print a diagnostic only when the status is known.
bool isHeldBack(const Diagnostic &diagnostic) {
  return brew::isCalledByCaffe() && diagnostic.severity == BREW_ERROR;
}

/// Prints the errors held back, unless `caffe` runs the net in another way.
void printHeldBack(const Compilation &compilation, Progress &progress) {
  if (compilation.status() == BREW_SHAPES_VARY)
    return;
  for (const Diagnostic &diagnostic : compilation.diagnostics())
    if (isHeldBack(diagnostic))
      printDiagnostic(diagnostic, progress);
}

/// Checks options that concern printed or written output.
void checkOutputs(const CommandLine &line) {
  if (line.upgrade && !line.hostPlugins.empty())
    throw Error(BREW_USAGE,
                "--upgrade compiles nothing: --host-plugin has no use there");
  if (line.upgrade && !line.options.empty())
    throw Error(BREW_USAGE, "--upgrade compiles nothing: --" +
                                line.options.begin()->first +
                                " has no use there");
  for (const char *flag : {"check-only", "solver-only"})
    if (!line.output.empty() && line.isOn(flag))
      throw Error(BREW_USAGE, std::string("--") + flag +
                                  " builds no plan: -o has no use there");
  auto emit = line.options.find("emit");
  if (emit != line.options.end() && !line.isGiven("dump-dir") &&
      (emit->second.back() == "kernels" || emit->second.back() == "all"))
    throw Error(BREW_USAGE, "--emit=kernels writes several files: name a "
                            "folder with --dump-dir");
}

CompilerOptions optionsOf(const CommandLine &line, Progress &progress) {
  CompilerOptions options;
  options.onDiagnostic([&progress](const Diagnostic &diagnostic) {
    if (!isHeldBack(diagnostic))
      printDiagnostic(diagnostic, progress);
  });
  for (const auto &[name, values] : line.options) {
    for (const std::optional<std::string> &value : values)
      value ? options.set(name, *value) : options.set(name);
  }
  for (const auto &layer : brew::tools::loadHostLayers(line.hostPlugins))
    options.addHostLayer(layer);
  if (line.output.empty())
    options.set("check-only");
  return options;
}

brew_status upgrade(const CommandLine &line, const CompilerOptions &options,
                    Progress &progress) {
  Compilation compilation = Compilation::upgradeFile(line.input, options);
  progress.stop();
  printHeldBack(compilation, progress);
  if (compilation.succeeded() && line.output.empty())
    print(compilation.upgraded());
  else if (compilation.succeeded())
    compilation.write(BREW_OUTPUT_UPGRADED, line.output);
  return compilation.status();
}

/// Returns a size such as "1.5 MB".
std::string sizeText(std::size_t bytes) {
  const bool isLarge = bytes >= 1000000;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s",
                static_cast<double>(bytes) / (isLarge ? 1e6 : 1e3),
                isLarge ? "MB" : "kB");
  return text;
}

/// Says on standard error what a compilation did. A command that runs brewc to
/// make a temporary plan does not say it.
void note(const std::string &text) {
  if (brew::callerName().empty())
    std::fprintf(stderr, "brewc: %s\n", text.c_str());
}

brew_status compile(const CommandLine &line, const CompilerOptions &options,
                    Progress &progress) {
  Compilation compilation = Compilation::ofFile(line.input, options);
  progress.stop();
  printHeldBack(compilation, progress);
  for (const auto &artifact : compilation.artifacts())
    print(artifact.text);
  print(brew::printableText(compilation.report()));
  flush();
  if (!compilation.succeeded())
    return compilation.status();
  if (!compilation.plan().empty()) {
    compilation.write(BREW_OUTPUT_PLAN, line.output);
    note("wrote " + line.output + " (" + sizeText(compilation.plan().size()) +
         ")");
  } else if (compilation.artifacts().empty() && compilation.report().empty() &&
             !line.isGiven("emit") && !line.isOn("check-only") &&
             !line.isOn("solver-only")) {
    note("no errors; nothing is written without -o PLAN");
  }
  return compilation.status();
}

brew_status run(int argc, char **argv) {
  const std::string completion = brew::tools::completionScript(
      completionTool(), brew::tools::completionShell({argv + 1, argv + argc}));
  if (!completion.empty()) {
    print(completion);
    return BREW_OK;
  }
  const CommandLine line = parse(argc, argv);
  if (line.help) {
    print(helpText());
    return BREW_OK;
  }
  if (line.version) {
    print(std::string("brewc ") + brew_compiler_version() + "\n");
    return BREW_OK;
  }
  if (!line.llvm.empty())
    brew::api::setLlvmArguments(line.llvm);
  checkOutputs(line);
  Progress progress(brew::messagePrefix("brewc") + "compiling " +
                    brew::printableText(line.input));
  const CompilerOptions options = optionsOf(line, progress);
  return line.upgrade ? upgrade(line, options, progress)
                      : compile(line, options, progress);
}

} // namespace

int main(int argc, char **argv) {
  brew::tools::protectStandardStreams();
  brew_compiler_report_crashes(argc, argv);
  try {
    const brew_status status = run(argc, argv);
    flush();
    return status;
  } catch (const Error &error) {
    printError(error.what());
    return error.status();
  } catch (const std::exception &error) {
    printError(std::string("internal error: ") + error.what() +
               "\nThis is a defect of Brew. Please report it with the prototxt "
               "and the command line.");
    return BREW_BUG;
  }
}
