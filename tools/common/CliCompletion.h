//===- CliCompletion.h - Completion of CLI11 programs -----------*- C++ -*-===//
#pragma once

#include "tools/common/Completion.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace brew::tools {

/// Returns the values of CLI::IsMember, which CLI11 exposes only as
/// "TEXT:{a,b}".
inline std::vector<std::string> allowedValues(const CLI::Option &option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos)
    return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

/// Returns all options that --help shows.
inline std::vector<CompletionOption> completionOptions(const CLI::App &app) {
  std::vector<CompletionOption> options;
  for (const CLI::Option *option : app.get_options()) {
    CompletionOption entry;
    for (const std::string &name : option->get_lnames())
      entry.names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      entry.names.push_back("-" + name);
    if (entry.names.empty() || option->get_group().empty())
      continue; // positional, or hidden
    entry.help = option->get_description();
    entry.takesValue = option->get_items_expected_max() > 0;
    entry.values = allowedValues(*option);
    options.push_back(std::move(entry));
  }
  return options;
}

inline CompletionTool completionTool(const CLI::App &app,
                                     const std::string &name) {
  CompletionTool tool{name, completionOptions(app), {}};
  for (const CLI::App *command : app.get_subcommands({}))
    tool.commands.push_back({command->get_name(), command->get_description(),
                             completionOptions(*command)});
  return tool;
}

/// Prints the script for `--completion=SHELL`. Returns false if that is not the
/// only argument or the shell is not supported.
inline bool printCompletion(const CLI::App &app, const std::string &name,
                            const std::vector<std::string> &arguments) {
  const std::string script =
      completionScript(completionTool(app, name), completionShell(arguments));
  std::fputs(script.c_str(), stdout);
  return !script.empty();
}

} // namespace brew::tools
