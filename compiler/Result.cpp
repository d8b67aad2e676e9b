//===- Result.cpp - What a compilation gives back -------------------------===//
#include "compiler/Result.h"

#include <new>

namespace brew::compiler {

using prototxt::Diagnostic;
using prototxt::Severity;

void Reporter::report(const Diagnostic &diagnostic) {
  result.diagnostics.push_back(diagnostic);
  if (sink)
    sink(diagnostic);
}

void Reporter::report(const prototxt::Diagnostics &diagnostics) {
  for (const Diagnostic &each : diagnostics.items())
    report(each);
}

void Reporter::reportException() {
  try {
    throw;
  } catch (const Reported &reported) {
    result.status = reported.status;
  } catch (const prototxt::LocatedError &error) {
    result.status = error.status();
    report({Severity::Error, error.where(), error.what()});
  } catch (const Error &error) {
    result.status = error.status();
    report({Severity::Error, {}, error.what()});
  } catch (const std::bad_alloc &) {
    result.status = ExitStatus::MachineLacks;
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
