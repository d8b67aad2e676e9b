//===- OptionRow.cpp - A row of the table of options ----------------------===//
#include "compiler/options/Options.h"

#include <utility>

namespace brew::compiler {

OptionRow OptionRow::shows(const char *text) const {
  OptionRow result = *this;
  result.valueName = text;
  return result;
}

OptionRow OptionRow::defaultsTo(const char *text) const {
  OptionRow result = *this;
  result.defaultText = text;
  return result;
}

OptionRow OptionRow::alone(const char *text) const {
  OptionRow result = *this;
  result.impliedText = text;
  return result;
}

OptionRow OptionRow::oneOf(std::vector<OptionValue> allowed) const {
  OptionRow result = *this;
  result.values = std::move(allowed);
  return result;
}

OptionRow OptionRow::separatedByCommas() const {
  OptionRow result = *this;
  result.hasCommas = true;
  return result;
}

OptionRow OptionRow::calledA(const char *text) const {
  OptionRow result = *this;
  result.noun = text;
  return result;
}

OptionRow OptionRow::must(const char *text,
                          bool (*holds)(const std::string &)) const {
  OptionRow result = *this;
  result.demand = text;
  result.meetsDemand = holds;
  return result;
}

OptionRow OptionRow::by(Apply function) const {
  OptionRow result = *this;
  result.apply = function;
  return result;
}

} // namespace brew::compiler
