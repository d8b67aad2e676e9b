//===- Result.h - Result of a compilation -----------------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/text/Diagnostic.h"
#include "support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// A text requested by `--emit`.
struct Artifact {
  std::string name; ///< file name: "graph.mlir", "kernels.s"
  std::string text;
};

struct CompileResult {
  ExitStatus status = ExitStatus::Success;
  std::vector<prototxt::Diagnostic> diagnostics;
  // Set if requested and completed:
  std::optional<std::string> plan;     ///< bytes of the plan file
  std::optional<std::string> report;   ///< in the requested format
  std::optional<std::string> upgraded; ///< net or solver in current syntax
  std::optional<std::string> net;      ///< encoded: layers of one state
  std::optional<std::string> splitNet; ///< encoded: with Split layers
  std::vector<Artifact> artifacts;
};

/// Receives each diagnostic immediately, on the compiling thread.
using DiagnosticSink = std::function<void(const prototxt::Diagnostic &)>;

/// Adds diagnostics to a result and passes them to the sink.
class Reporter {
public:
  Reporter(CompileResult &result, DiagnosticSink sink)
      : result(result), sink(std::move(sink)) {}

  void report(const prototxt::Diagnostic &diagnostic);
  void report(const prototxt::Diagnostics &diagnostics);
  /// Converts the current exception to the last diagnostic and the status of
  /// the result. Call it in a catch block.
  void reportException();

private:
  CompileResult &result;
  DiagnosticSink sink;
};

/// Thrown after diagnostics that explain the failure were reported.
struct DiagnosedError {
  ExitStatus status = ExitStatus::BadInput;
};

/// Runs `work(result, reporter)`, which fills in a result, and returns the
/// result. Converts exceptions to diagnostics.
template <typename Work>
CompileResult collectResult(const DiagnosticSink &sink, Work work) {
  CompileResult result;
  Reporter reporter(result, sink);
  try {
    work(result, reporter);
  } catch (...) {
    reporter.reportException();
  }
  return result;
}

} // namespace brew::compiler
