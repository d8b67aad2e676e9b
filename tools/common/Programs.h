//===- Programs.h - Other programs of Brew ----------------------*- C++ -*-===//
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace brew::tools {

/// The path of Brew's program of that name, which is in this one's folder.
/// Throws Error (3) if it is not; `who` needs it.
std::string siblingProgram(const std::string &name, const std::string &who);

/// Runs a program to its end; returns its exit status, or, as shells do, 128
/// and the signal that ended it. `words` begin with its path. Throws Error (3)
/// if it cannot be started.
///
/// When a signal interrupts the wait and `isInterrupted` says that it counts,
/// the program is asked to end as well.
int runProgram(const std::vector<std::string> &words,
               const std::function<bool()> &isInterrupted = {});

/// Goes on as that program. Throws Error (3) if it cannot be started.
[[noreturn]] void execProgram(const std::vector<std::string> &words);

} // namespace brew::tools
