//===- Programs.h - Execution of Brew's programs ----------------*- C++ -*-===//
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace brew::tools {

/// Returns the path of the program of that name in this program's folder.
/// Throws Error (3), which names `who` needs it, if it does not exist.
std::string siblingProgram(const std::string &name, const std::string &who);

/// Runs a program to completion. `words` begin with its path. Returns its exit
/// status or, as shells do, 128 + N if signal N killed it. Throws Error (3) if
/// it cannot be started.
///
/// If a signal interrupts the wait and `isInterrupted` returns true, terminates
/// the program with SIGTERM.
int runProgram(const std::vector<std::string> &words,
               const std::function<bool()> &isInterrupted = {});

/// Replaces this process by a program. Throws Error (3) if it cannot be
/// started.
[[noreturn]] void execProgram(const std::vector<std::string> &words);

} // namespace brew::tools
