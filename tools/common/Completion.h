//===- Completion.h - Shell completion from a tool's own options ----------===//
#pragma once

#include <string>
#include <vector>

namespace brew::tools {

struct CompletionOption {
  /// With their dashes: "-o", "--plan".
  std::vector<std::string> names;
  std::string help;
  bool takesValue = false;
  /// The value may be left out, and stands behind a `=` where it is not.
  bool valueIsOptional = false;
  /// What the value can be; empty: anything, and file names are offered.
  std::vector<std::string> values;
};

/// A command, or (without a name) a tool that has none.
struct CompletionCommand {
  std::string name;
  std::string help;
  std::vector<CompletionOption> options;
};

struct CompletionTool {
  std::string name;
  /// Options before a command, or all of them.
  std::vector<CompletionOption> options;
  std::vector<CompletionCommand> commands;
};

/// The script for "bash" or "zsh"; empty for another shell.
std::string completionScript(const CompletionTool &tool,
                             const std::string &shell);

/// The shell that `--completion=SHELL`, alone on a command line, names; empty
/// otherwise. The flag is for whoever packages the tools and not in --help.
std::string completionShell(const std::vector<std::string> &arguments);

} // namespace brew::tools
