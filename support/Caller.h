//===- Caller.h - The command that runs this program ------------*- C++ -*-===//
//
// `caffe` and `extract_features` run brewc and brew-run. They then name log
// files after their caller, and do not advise flags that `caffe` lacks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew {

/// The environment variable with the name of the calling command.
inline constexpr char kCallerVariable[] = "BREW_CALLER";

/// Returns the name of the calling command, or "".
std::string callerName();

/// Returns whether the calling command is `caffe`. It runs nets that change
/// their shapes in Python, so brewc reports them to it by its exit status alone
/// (ExitStatus::ShapesVary).
bool isCalledByCaffe();

/// Returns the beginning of messages: "NAME: ", with the name of the calling
/// command if there is one, else of `program`.
std::string messagePrefix(const std::string &program);

/// Returns a message as the calling command prints it, without control
/// characters (PrintableText.h). For `caffe`, removes
/// advice about flags that it lacks from the first line: clauses after a
/// semicolon, and parentheses, that name such a flag.
std::string messageForCaller(const std::string &text);

} // namespace brew
