//===- TableOptions.cpp - Flags from the table of options -----------------===//

#include "TableOptions.h"

#include <algorithm>

namespace brew::run {
namespace {

bool isTakenBy(const api::Option &row, const std::string &command) {
  const std::vector<std::string> commands =
      CLI::detail::split(row.commands, ' ');
  return std::find(commands.begin(), commands.end(), command) != commands.end();
}

CLI::Option *addFlag(CLI::App &command, const api::Option &row,
                     api::Options &options) {
  const std::string flag = "--" + row.name;
  if (row.kind == BREW_OPTION_FLAG && row.impliedValue)
    return command.add_flag_function(
        flag,
        [&options, name = row.name](std::int64_t count) {
          options.set(name, count > 0);
        },
        row.help);
  if (row.kind == BREW_OPTION_LIST)
    return command
        .add_option_function<std::vector<std::string>>(
            flag,
            [&options,
             name = row.name](const std::vector<std::string> &values) {
              for (const std::string &value : values)
                options.set(name, value);
            },
            row.help)
        ->allow_extra_args(false);
  if (row.kind == BREW_OPTION_INTEGERS)
    return command
        .add_option_function<std::vector<std::string>>(
            flag,
            [&options,
             name = row.name](const std::vector<std::string> &values) {
              options.set(name, CLI::detail::join(values, ","));
            },
            row.help)
        ->allow_extra_args(false);
  return command.add_option_function<std::string>(
      flag,
      [&options, name = row.name](const std::string &value) {
        options.set(name, value);
      },
      row.help);
}

} // namespace

void addTableOptions(CLI::App &command, api::Options &options) {
  for (const api::Option &row : api::options()) {
    if (!isTakenBy(row, command.get_name()))
      continue;
    CLI::Option *option = addFlag(command, row, options);
    // A command that takes one field of the solver needs no group for it.
    if (!row.group.empty() && (!row.field || command.get_name() == "train"))
      option->group(row.group);
    if (row.kind != BREW_OPTION_FLAG || !row.impliedValue)
      option->type_name(row.kind == BREW_OPTION_FLAG ? "BOOLEAN"
                        : row.valueName == "value"
                            ? (row.kind == BREW_OPTION_TEXT ? "TEXT" : "NUMBER")
                            : row.valueName);
    if (!row.defaultValue.empty())
      option->default_str(row.defaultValue);
  }
}

} // namespace brew::run
