//===- Error.h - The exception type for errors shown to users ---*- C++ -*-===//
//
// Every failure caused by the user or the machine is thrown as brew::Error. The
// tools print its text once and exit with its status.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <stdexcept>
#include <string>

namespace brew {

/// Exit statuses shared by all tools.
enum class ExitStatus : int {
  Success = 0,
  BadInput = 1, ///< wrong content of a prototxt, weight file, plan or database
  Usage = 2,    ///< wrong command line or API use
  Unavailable =
      3,          ///< a file, feature, library, memory or disk space is missing
  ShapesVary = 4, ///< the net changes shapes while it runs, which no plan does
  Bug = 70,       ///< a defect of Brew itself
};

class Error : public std::runtime_error {
public:
  Error(ExitStatus status, const std::string &text)
      : std::runtime_error(text), exitStatus(status) {}
  ExitStatus status() const { return exitStatus; }

private:
  ExitStatus exitStatus;
};

/// Returns the error for a wrong command line or API use (exit status 2).
inline Error usageError(const std::string &text) {
  return Error(ExitStatus::Usage, text);
}
/// Returns the error for wrong input (exit status 1).
inline Error badInput(const std::string &text) {
  return Error(ExitStatus::BadInput, text);
}
/// Returns the error for a missing file, feature, library or memory (exit
/// status 3).
inline Error unavailable(const std::string &text) {
  return Error(ExitStatus::Unavailable, text);
}

} // namespace brew
