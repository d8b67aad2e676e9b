//===- CliErrors.h - Errors and versions of CLI11 programs ------*- C++ -*-===//
#pragma once

#include "support/Suggest.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace brew::tools {

/// Adds --version to the program and to each of its commands.
inline void addVersionFlags(CLI::App &app, const std::string &version) {
  app.set_version_flag("--version", version);
  for (CLI::App *command : app.get_subcommands({}))
    command->set_version_flag("--version", version)->group("");
}

/// Returns the long names of the options that help shows.
inline std::vector<std::string> flagsOf(const CLI::App &command) {
  std::vector<std::string> flags;
  for (const CLI::Option *option : command.get_options())
    if (!option->get_group().empty())
      for (const std::string &name : option->get_lnames())
        flags.push_back("--" + name);
  return flags;
}

/// Returns the message for a flag that was given with a value ("--flag=text"),
/// or "" if there is none.
inline std::string
flagWithValueText(const CLI::App &app,
                  const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (name.size() == argument.size() || name.compare(0, 2, "--") != 0)
      continue;
    for (const CLI::App *command : app.get_subcommands())
      if (const CLI::Option *option = command->get_option_no_throw(name);
          option && option->get_items_expected_max() == 0)
        return name + " takes no value (see " + app.get_name() + " " +
               command->get_name() + " --help)";
  }
  return "";
}

/// Returns the message about a first argument that is no command of the
/// program, or "". CLI11 would only report that a command is missing.
inline std::string unknownCommandText(const CLI::App &app,
                                      const std::string &first) {
  if (first.empty() || first[0] == '-')
    return "";
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), first) != names.end())
    return "";
  return "unknown command '" + first + "'" + didYouMean(first, names) +
         " (see " + app.get_name() + " --help)";
}

/// Returns the message for arguments that no command of `app` expects, with the
/// flag that the user may have meant.
inline std::string unexpectedText(const CLI::App &app) {
  const std::vector<CLI::App *> parsed = app.get_subcommands();
  const CLI::App &command = parsed.empty() ? app : *parsed.front();
  const std::string name = command.get_name();
  const std::string see = " (see " + app.get_name() +
                          (parsed.empty() ? "" : " " + name) + " --help)";
  for (const std::string &argument : app.remaining(/*recurse=*/true)) {
    if (argument.size() < 2 || argument[0] != '-')
      continue;
    const std::string flag = argument.substr(0, argument.find('='));
    for (const CLI::App *other : app.get_subcommands({}))
      if (other != &command)
        for (const std::string &known : flagsOf(*other))
          if (known == flag)
            return flag + " is not an option of '" + name + "', but of '" +
                   other->get_name() + "'" + see;
    return "unknown option '" + flag + "'" +
           didYouMean(flag, flagsOf(command)) + see;
  }
  std::string arguments;
  for (const std::string &argument : app.remaining(/*recurse=*/true))
    arguments += (arguments.empty() ? "" : " ") + argument;
  return "unexpected argument '" + arguments + "'" + see;
}

} // namespace brew::tools
