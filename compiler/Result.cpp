//===- Result.cpp - Result of a compilation -------------------------------===//
#include "compiler/Result.h"

#include "llvm/Support/JSON.h"

#include <new>

namespace brew::compiler {

using prototxt::Diagnostic;
using prototxt::Severity;

void Reporter::report(const Diagnostic &diagnostic) {
  // A prototxt may contain invalid UTF-8. File names stay unchanged.
  Diagnostic valid = diagnostic;
  for (std::string *text : {&valid.text, &valid.layer})
    *text = llvm::json::fixUTF8(*text);
  for (prototxt::Note &note : valid.notes)
    note.text = llvm::json::fixUTF8(note.text);
  result.diagnostics.push_back(valid);
  if (sink)
    sink(valid);
}

void Reporter::report(const prototxt::Diagnostics &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics.items())
    report(diagnostic);
}

void Reporter::reportException() {
  try {
    throw;
  } catch (const DiagnosedError &reported) {
    result.status = reported.status;
  } catch (const prototxt::LocatedError &error) {
    result.status = error.status();
    report({Severity::Error, error.where(), error.what()});
  } catch (const Error &error) {
    result.status = error.status();
    report({Severity::Error, {}, error.what()});
  } catch (const std::bad_alloc &) {
    result.status = ExitStatus::Unavailable;
    report({Severity::Error, {}, "out of memory"});
  } catch (const std::exception &error) {
    result.status = ExitStatus::Bug;
    report({Severity::Error,
            {},
            "internal error: " + std::string(error.what()) +
                "\nThis is a defect of Brew. Please report it with the "
                "prototxt and the options."});
  }
}

} // namespace brew::compiler
