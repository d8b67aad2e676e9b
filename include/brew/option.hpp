//===- option.hpp - A row of a table of options -----------------*- C++ -*-===//
#pragma once

#include <brew/base.hpp>
#include <brew/option.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// See brew_option.
struct Option {
  std::string name;
  brew_option_kind kind = BREW_OPTION_TEXT;
  std::string help, valueName, defaultValue;
  std::optional<std::string> impliedValue;
  /// Name and meaning.
  std::vector<std::pair<std::string, std::string>> values;
  std::string group, commands;
  std::optional<std::string> field;
  bool whileTraining = false;
};

namespace detail {

/// Returns the rows that `get` fills in.
inline std::vector<Option> optionTable(brew_status (*get)(size_t,
                                                          brew_option *)) {
  std::vector<Option> table;
  auto row = makeStruct<brew_option>();
  for (size_t i = 0; get(i, &row) == BREW_OK; ++i) {
    Option option = {row.name,
                     row.kind,
                     row.help,
                     row.value_name,
                     row.default_value,
                     {},
                     {},
                     row.group ? row.group : "",
                     row.commands ? row.commands : "",
                     {},
                     row.while_training != 0};
    if (row.implied_value)
      option.impliedValue = row.implied_value;
    if (row.field)
      option.field = row.field;
    for (size_t v = 0; v < row.value_count; ++v)
      option.values.emplace_back(row.values[v], row.value_help[v]);
    table.push_back(std::move(option));
  }
  return table;
}

} // namespace detail

} // namespace brew::api
