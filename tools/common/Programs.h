//===- Programs.h - Execution of Brew's programs ----------------*- C++ -*-===//
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace brew::tools {

/// Returns the path of the program of that name in this program's folder.
/// Throws Error (3) if it does not exist; the message names `caller`, the
/// program that needs it.
std::string siblingProgram(const std::string &name, const std::string &caller);

/// Returns the path of the executable of that name in a folder of $PATH, or "".
std::string findInPath(const std::string &name);

/// Runs a program to completion. `command`: its path and arguments. Returns its
/// exit status or, as shells do, 128 + N if signal N killed it. Throws Error
/// (3) if it cannot be started.
///
/// If a signal interrupts the wait and `isInterrupted` returns true, terminates
/// the program with SIGTERM.
int runProgram(const std::vector<std::string> &command,
               const std::function<bool()> &isInterrupted = {});

/// Replaces this process with a program. `command`: see runProgram(). Throws
/// Error (3) if it cannot be started.
[[noreturn]] void execProgram(const std::vector<std::string> &command);

} // namespace brew::tools
