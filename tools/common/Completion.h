//===- Completion.h - Shell completion scripts ------------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::tools {

struct CompletionOption {
  /// Names with dashes: "-o", "--plan".
  std::vector<std::string> names;
  std::string help;
  bool takesValue = false;
  /// The value is optional and must follow `=`.
  bool valueIsOptional = false;
  /// The allowed values; empty: any value, completed by file names.
  std::vector<std::string> values;
};

/// A command of a tool.
struct CompletionCommand {
  std::string name;
  std::string help;
  std::vector<CompletionOption> options;
};

struct CompletionTool {
  std::string name;
  /// Options before the command, or all options of a tool without commands.
  std::vector<CompletionOption> options;
  std::vector<CompletionCommand> commands;
};

/// Returns the script for "bash" or "zsh"; empty for other shells.
std::string completionScript(const CompletionTool &tool,
                             const std::string &shell);

/// Returns the shell of `--completion=SHELL` if that is the only argument, else
/// "". The flag is for packagers and hidden from --help.
std::string completionShell(const std::vector<std::string> &arguments);

} // namespace brew::tools
