//===- Result.h - What a compilation gives back -----------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/text/Diagnostic.h"
#include "support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// A text that `--emit` asks for.
struct Artifact {
  std::string name; ///< as a file: "graph.mlir", "kernels.s"
  std::string text;
};

struct CompileResult {
  ExitStatus status = ExitStatus::Success;
  std::vector<prototxt::Diagnostic> diagnostics;
  // What was asked for and has been made:
  std::optional<std::string> plan;     ///< bytes of the plan file
  std::optional<std::string> report;   ///< in the form asked for
  std::optional<std::string> upgraded; ///< net or solver in today's syntax
  std::vector<Artifact> artifacts;
};

/// Told each diagnostic as soon as it is known, by the compiling thread.
using DiagnosticSink = std::function<void(const prototxt::Diagnostic &)>;

/// Collects diagnostics in a result and tells the sink.
class Reporter {
public:
  Reporter(CompileResult &result, DiagnosticSink sink)
      : result(result), sink(std::move(sink)) {}

  void report(const prototxt::Diagnostic &diagnostic);
  void report(const prototxt::Diagnostics &diagnostics);
  /// For the handler of an exception: it becomes the last diagnostic and the
  /// status of the result.
  void reportException();

private:
  CompileResult &result;
  DiagnosticSink sink;
};

/// Thrown when diagnostics have been reported and tell the reason.
struct DiagnosedError {
  ExitStatus status = ExitStatus::BadInput;
};

} // namespace brew::compiler
