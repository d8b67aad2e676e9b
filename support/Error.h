//===- Error.h - The one error type users meet ------------------*- C++ -*-===//
//
// Every failure that is the user's or the machine's is thrown as brew::Error;
// the tools print its text once and exit with its status.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <stdexcept>
#include <string>

namespace brew {

/// Exit statuses shared by all tools.
enum class ExitStatus : int {
  Success = 0,
  BadInput = 1, ///< prototxt, weights, plan or database content is wrong
  Usage = 2,    ///< the command line is wrong
  Unavailable =
      3,    ///< a file, feature, library, memory or disk space is missing
  Bug = 70, ///< a defect of Brew itself
};

class Error : public std::runtime_error {
public:
  Error(ExitStatus status, const std::string &text)
      : std::runtime_error(text), exitStatus(status) {}
  ExitStatus status() const { return exitStatus; }

private:
  ExitStatus exitStatus;
};

/// The caller asked for what cannot be (exit status 2).
inline Error usageError(const std::string &text) {
  return Error(ExitStatus::Usage, text);
}
/// The input is wrong (exit status 1).
inline Error badInput(const std::string &text) {
  return Error(ExitStatus::BadInput, text);
}
/// The machine lacks something (exit status 3).
inline Error unavailable(const std::string &text) {
  return Error(ExitStatus::Unavailable, text);
}

} // namespace brew
