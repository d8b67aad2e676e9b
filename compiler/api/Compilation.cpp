//===- Compilation.cpp - compiler.h: compilations -------------------------===//
#include "compiler/api/Api.h"

#include "support/AtomicFile.h"

#include <deque>

using namespace brew;
using namespace brew::compiler;
using namespace brew::compiler::api;

struct brew_compilation {
  CompileResult result;
  std::deque<DiagnosticView> diagnostics;
  std::string message;
  std::string writeMessage; ///< reason of the last failed write
};

namespace {

brew_severity severityOf(prototxt::Severity severity) {
  switch (severity) {
  case prototxt::Severity::Error:
    return BREW_ERROR;
  case prototxt::Severity::Warning:
    return BREW_WARNING;
  case prototxt::Severity::Note:
    break;
  }
  return BREW_NOTE;
}

/// Returns the text of a diagnostic without its notes and final newline.
std::string textWithoutNotes(prototxt::Diagnostic diagnostic) {
  diagnostic.notes.clear();
  std::string text = diagnostic.str();
  text.pop_back();
  return text;
}

DiagnosticSink sinkOf(const brew_compiler_options *options) {
  if (!options || !options->onDiagnostic)
    return {};
  return [function = options->onDiagnostic,
          user = options->user](const prototxt::Diagnostic &diagnostic) {
    function(user, &DiagnosticView(diagnostic).view());
  };
}

/// Creates a handle with the result of `work`. Sets it to null if the arguments
/// are invalid.
template <typename Work>
brew_status
makeCompilation(brew_compilation **compilation, bool areArgumentsValid,
                const brew_compiler_options *options, Work work) noexcept {
  if (!compilation)
    return BREW_USAGE;
  *compilation = nullptr;
  if (!areArgumentsValid)
    return BREW_USAGE;
  std::string ignoredMessage;
  return guarded(ignoredMessage, [&] {
    auto handle = std::make_unique<brew_compilation>();
    const DiagnosticSink sink = sinkOf(options);
    CompileResult &result = handle->result;
    try {
      result = work(options ? options->set : OptionSet(), sink);
    } catch (...) {
      Reporter(result, sink).reportException();
    }
    for (const prototxt::Diagnostic &diagnostic : result.diagnostics) {
      handle->diagnostics.emplace_back(diagnostic);
      if (handle->message.empty() &&
          diagnostic.severity == prototxt::Severity::Error)
        handle->message = textWithoutNotes(diagnostic);
    }
    *compilation = handle.release();
    return statusOf((*compilation)->result.status);
  });
}

prototxt::SourceText sourceOf(const char *text, size_t size, const char *name,
                              const char *folder) {
  return {std::string(text ? text : "", text ? size : 0),
          name ? name : "<text>", folder ? folder : ""};
}

/// Returns an output, which is an empty optional if it was not requested or
/// could not be produced. Returns null if `output` is invalid.
const std::optional<std::string> *outputOf(const brew_compilation &compilation,
                                           brew_output output) {
  switch (output) {
  case BREW_OUTPUT_PLAN:
    return &compilation.result.plan;
  case BREW_OUTPUT_REPORT:
    return &compilation.result.report;
  case BREW_OUTPUT_UPGRADED:
    return &compilation.result.upgraded;
  case BREW_OUTPUT_NET:
    return &compilation.result.net;
  case BREW_OUTPUT_SPLIT_NET:
    return &compilation.result.splitNet;
  }
  return nullptr;
}

} // namespace

DiagnosticView::DiagnosticView(const prototxt::Diagnostic &diagnostic) {
  for (const prototxt::Note &note : diagnostic.notes)
    notes.push_back({note.where.file.c_str(), note.where.line,
                     note.where.column, note.text.c_str()});
  cDiagnostic = {sizeof cDiagnostic,
                 severityOf(diagnostic.severity),
                 diagnostic.where.file.c_str(),
                 diagnostic.where.line,
                 diagnostic.where.column,
                 diagnostic.layer.c_str(),
                 diagnostic.text.c_str(),
                 notes.size(),
                 notes.data()};
}

brew_status brew_compile_file(const brew_compiler_options *options,
                              const char *path,
                              brew_compilation **compilation) {
  return makeCompilation(compilation, path, options,
                         [&](const OptionSet &set, const DiagnosticSink &sink) {
                           return compileFile(path, set.resolve(), sink);
                         });
}

brew_status brew_compile_text(const brew_compiler_options *options,
                              const char *text, size_t size, const char *name,
                              const char *folder,
                              brew_compilation **compilation) {
  return makeCompilation(compilation, text || !size, options,
                         [&](const OptionSet &set, const DiagnosticSink &sink) {
                           return compile(sourceOf(text, size, name, folder),
                                          set.resolve(), sink);
                         });
}

brew_status brew_upgrade_file(const brew_compiler_options *options,
                              const char *path,
                              brew_compilation **compilation) {
  return makeCompilation(compilation, path, options,
                         [&](const OptionSet &, const DiagnosticSink &sink) {
                           return upgradeFile(path, sink);
                         });
}

brew_status brew_upgrade_text(const brew_compiler_options *options,
                              const char *text, size_t size, const char *name,
                              brew_compilation **compilation) {
  return makeCompilation(compilation, text || !size, options,
                         [&](const OptionSet &, const DiagnosticSink &sink) {
                           return upgrade(sourceOf(text, size, name, nullptr),
                                          sink);
                         });
}

brew_status brew_describe_net(const brew_compiler_options *options,
                              const void *net, size_t size, const char *name,
                              brew_compilation **compilation) {
  return makeCompilation(
      compilation, net || !size, options,
      [&](const OptionSet &set, const DiagnosticSink &sink) {
        const std::string encoded(static_cast<const char *>(net), size);
        return describeNet(encoded, name ? name : "<net>", set.resolve(), sink);
      });
}

void brew_compilation_destroy(brew_compilation *compilation) {
  delete compilation;
}

brew_status brew_compilation_status(const brew_compilation *compilation) {
  return compilation ? statusOf(compilation->result.status) : BREW_USAGE;
}

const char *brew_compilation_message(const brew_compilation *compilation) {
  if (!compilation)
    return "";
  return (compilation->writeMessage.empty() ? compilation->message
                                            : compilation->writeMessage)
      .c_str();
}

size_t brew_compilation_diagnostic_count(const brew_compilation *compilation) {
  return compilation ? compilation->diagnostics.size() : 0;
}

brew_status brew_compilation_diagnostic(const brew_compilation *compilation,
                                        size_t index,
                                        brew_diagnostic *diagnostic) {
  if (!compilation || !diagnostic || index >= compilation->diagnostics.size())
    return BREW_USAGE;
  std::string ignoredMessage;
  return guarded(ignoredMessage, [&] {
    copyToCaller(diagnostic, compilation->diagnostics[index].view());
    return BREW_OK;
  });
}

brew_status brew_compilation_get(const brew_compilation *compilation,
                                 brew_output output, const char **bytes,
                                 size_t *size) {
  const std::optional<std::string> *found =
      compilation ? outputOf(*compilation, output) : nullptr;
  if (!found || !bytes || !size)
    return BREW_USAGE;
  *bytes = *found ? (*found)->c_str() : "";
  *size = *found ? (*found)->size() : 0;
  return BREW_OK;
}

brew_status brew_compilation_write(brew_compilation *compilation,
                                   brew_output output, const char *path) {
  if (!compilation)
    return BREW_USAGE;
  return guarded(compilation->writeMessage, [&] {
    const std::optional<std::string> *found = outputOf(*compilation, output);
    if (!found || !*found || !path)
      throw Error(ExitStatus::Usage, "there is no such output to write");
    writeFileAtomically(path, **found);
    return BREW_OK;
  });
}

size_t brew_compilation_artifact_count(const brew_compilation *compilation) {
  return compilation ? compilation->result.artifacts.size() : 0;
}

brew_status brew_compilation_artifact(const brew_compilation *compilation,
                                      size_t index, const char **name,
                                      const char **text, size_t *size) {
  if (!compilation || !name || !text || !size ||
      index >= compilation->result.artifacts.size())
    return BREW_USAGE;
  const Artifact &artifact = compilation->result.artifacts[index];
  *name = artifact.name.c_str();
  *text = artifact.text.c_str();
  *size = artifact.text.size();
  return BREW_OK;
}
