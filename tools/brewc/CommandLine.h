//===- CommandLine.h - Command line of brewc --------------------*- C++ -*-===//
//
// Most flags are options of the compiler library. The library's table of
// options also determines how they are parsed and what --help prints.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/common/Completion.h"

#include <brew/compiler.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace brewc {

/// Parsed command line.
struct CommandLine {
  std::string input;
  std::string output;      ///< of -o; empty if absent
  std::string hostPlugins; ///< of --host-plugin: files, separated by commas
  bool upgrade = false, help = false, version = false;
  /// Values of the compiler's options, by name; null if only the name is given.
  std::map<std::string, std::vector<std::optional<std::string>>> options;
  /// Options of MLIR and LLVM.
  std::vector<std::string> llvm;

  bool isGiven(const std::string &option) const {
    return options.count(option);
  }
  /// Returns whether a flag is given, and not as `--flag=false`.
  bool isOn(const std::string &flag) const {
    const auto entry = options.find(flag);
    return entry != options.end() &&
           (!entry->second.back() || *entry->second.back() == "true" ||
            *entry->second.back() == "1");
  }
};

/// Parses arguments like GNU and Caffe tools: one dash or two, values after a
/// `=` or in the next argument. Passes unknown flags to LLVM; their values must
/// follow a `=`. Throws brew::api::Error (BREW_USAGE) for invalid arguments.
CommandLine parse(int argc, const char *const *argv);

/// Returns the text of --help.
std::string helpText();

/// Returns the flags for shell completion.
brew::tools::CompletionTool completionTool();

} // namespace brewc
