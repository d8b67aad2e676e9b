//===- OptionStruct.h - Rows of option tables as C structures ---*- C++ -*-===//
#pragma once

#include "support/OptionTable.h"

#include <brew/option.h>

namespace brew {

static_assert(int(OptionKind::Flag) == BREW_OPTION_FLAG);
static_assert(int(OptionKind::Text) == BREW_OPTION_TEXT);
static_assert(int(OptionKind::Integer) == BREW_OPTION_INTEGER);
static_assert(int(OptionKind::Real) == BREW_OPTION_REAL);
static_assert(int(OptionKind::Choice) == BREW_OPTION_CHOICE);
static_assert(int(OptionKind::List) == BREW_OPTION_LIST);
static_assert(int(OptionKind::Integers) == BREW_OPTION_INTEGERS);

/// Returns the row as the structure of the C APIs, without its choices.
inline brew_option optionStruct(const OptionInfo &row) {
  brew_option result{};
  result.name = row.name;
  result.kind = static_cast<brew_option_kind>(row.kind);
  result.help = row.help;
  result.value_name = row.valueName;
  result.default_value = row.defaultText;
  result.implied_value = row.impliedText;
  return result;
}

} // namespace brew
