//===- Api.h - Handles of compiler.h ----------------------------*- C++ -*-===//
#pragma once

#include "brew/compiler.h"
#include "compiler/options/Options.h"
#include "support/CallerStructs.h"

#include <memory>
#include <new>
#include <string>
#include <vector>

struct brew_compiler_options {
  brew::compiler::OptionSet set;
  brew_diagnostic_function onDiagnostic = nullptr;
  void *user = nullptr;
  std::string message;
};

namespace brew::compiler::api {

inline brew_status statusOf(ExitStatus status) {
  return static_cast<brew_status>(status);
}
static_assert(static_cast<int>(ExitStatus::BadInput) == BREW_BAD_INPUT &&
              static_cast<int>(ExitStatus::Usage) == BREW_USAGE &&
              static_cast<int>(ExitStatus::Unavailable) == BREW_UNAVAILABLE &&
              static_cast<int>(ExitStatus::ShapesVary) == BREW_SHAPES_VARY &&
              static_cast<int>(ExitStatus::Bug) == BREW_BUG);

/// Runs `work`, which returns a status. Converts exceptions to a status, with
/// their text in `message`.
template <typename Work>
brew_status guarded(std::string &message, Work work) noexcept {
  try {
    try {
      message.clear();
      return work();
    } catch (const Error &error) {
      message = error.what();
      return statusOf(error.status());
    } catch (const std::bad_alloc &) {
      message = "out of memory";
      return BREW_UNAVAILABLE;
    } catch (const std::exception &error) {
      message = std::string("internal error: ") + error.what();
      return BREW_BUG;
    }
  } catch (...) {
    return BREW_UNAVAILABLE; // no memory for the message
  }
}

using brew::copyToCaller;

/// View of a diagnostic as the C structure; the diagnostic must outlive it.
class DiagnosticView {
public:
  explicit DiagnosticView(const prototxt::Diagnostic &diagnostic);
  DiagnosticView(const DiagnosticView &) = delete;
  DiagnosticView &operator=(const DiagnosticView &) = delete;
  const brew_diagnostic &view() const { return cDiagnostic; }

private:
  std::vector<brew_note> notes;
  brew_diagnostic cDiagnostic;
};

} // namespace brew::compiler::api
