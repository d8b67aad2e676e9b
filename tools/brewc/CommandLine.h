//===- CommandLine.h - brewc's arguments ------------------------*- C++ -*-===//
//
// Most flags are the compiler's options, whose table the library has; help and
// parsing are made from it.
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

/// What the arguments say.
struct CommandLine {
  std::string input;
  std::string output;      ///< of -o; empty without it
  std::string hostPlugins; ///< of --host-plugin: files, with commas
  bool upgrade = false, help = false, version = false;
  /// Values of the compiler's options, by name; nothing where one is given by
  /// its name alone.
  std::map<std::string, std::vector<std::optional<std::string>>> options;
  /// MLIR's and LLVM's.
  std::vector<std::string> llvm;

  bool isGiven(const std::string &option) const {
    return options.count(option);
  }
  /// Whether a flag is given, and not as `--flag=false`.
  bool isOn(const std::string &flag) const {
    const auto given = options.find(flag);
    return given != options.end() &&
           (!given->second.back() || *given->second.back() == "true" ||
            *given->second.back() == "1");
  }
};

/// Reads arguments as GNU tools and Caffe's do: one dash or two, values behind
/// a `=` or in the next argument. What is no flag of brewc's is taken for one
/// of LLVM's, whose values stand behind a `=`. Throws brew::api::Error
/// (BREW_USAGE).
CommandLine parse(int argc, const char *const *argv);

/// What --help prints.
std::string helpText();

/// The same flags for shells.
brew::tools::CompletionTool completionTool();

} // namespace brewc
