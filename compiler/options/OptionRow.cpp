//===- OptionRow.cpp - Fluent setters of option rows ----------------------===//
#include "compiler/options/Options.h"

#include <utility>

namespace brew::compiler {

OptionRow OptionRow::withValueName(const char *text) const {
  OptionRow result = *this;
  result.valueName = text;
  return result;
}

OptionRow OptionRow::withDefault(const char *text) const {
  OptionRow result = *this;
  result.defaultText = text;
  return result;
}

OptionRow OptionRow::withImpliedValue(const char *text) const {
  OptionRow result = *this;
  result.impliedText = text;
  return result;
}

OptionRow OptionRow::withChoices(std::vector<OptionValue> allowed) const {
  OptionRow result = *this;
  result.values = std::move(allowed);
  return result;
}

OptionRow OptionRow::withCommaLists() const {
  OptionRow result = *this;
  result.isCommaSeparated = true;
  return result;
}

OptionRow OptionRow::withNoun(const char *text) const {
  OptionRow result = *this;
  result.noun = text;
  return result;
}

OptionRow OptionRow::withConstraint(const char *text,
                                    bool (*isMet)(const std::string &)) const {
  OptionRow result = *this;
  result.constraint = text;
  result.meetsConstraint = isMet;
  return result;
}

OptionRow OptionRow::withAction(Apply function) const {
  OptionRow result = *this;
  result.apply = function;
  return result;
}

} // namespace brew::compiler
