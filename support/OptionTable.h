//===- OptionTable.h - Rows of a table of options ---------------*- C++ -*-===//
//
// The compiler and the runtime each define their options in one table.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace brew {

enum class OptionKind {
  Flag,    ///< true or false
  Text,    ///< any text
  Integer, ///< 64 bits
  Real,
  Choice,   ///< one of `values`
  List,     ///< each value is appended
  Integers, ///< any number of integers of 32 bits, separated by commas
};

struct OptionValue {
  const char *name;
  const char *help;
};

/// An option and the values that it accepts.
struct OptionInfo {
  const char *name = nullptr; ///< without dashes
  OptionKind kind = OptionKind::Flag;
  const char *help = nullptr;      ///< one sentence
  const char *valueName = "value"; ///< name of the value in usage lines
  const char *defaultText = "";    ///< value if the option is absent
  /// Value if the option is set without a value; null if a value is required.
  const char *impliedText = nullptr;
  std::vector<OptionValue> values; ///< allowed values; empty: any
  bool isCommaSeparated = false;   ///< List: a value may contain several,
                                   ///< separated by commas
  /// Noun for a value in the error for an unknown value.
  const char *noun = nullptr;
  /// Limits of Integer.
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
               maximum = std::numeric_limits<std::int64_t>::max();
  /// Constraint on a value, such as "be positive", and its predicate; null
  /// without a constraint.
  const char *constraint = nullptr;
  bool (*meetsConstraint)(const std::string &) = nullptr;

  /// Returns the values that setting the option to `value` (null: without a
  /// value) adds. Throws Error (Usage) if it is not valid.
  std::vector<std::string> checkedValues(const char *value) const;
};

/// Fluent setters for the rows of a table: each returns a copy of the row with
/// one field set. `Row` derives from this class.
template <typename Row> struct OptionRowBase : OptionInfo {
  Row withValueName(const char *text) const {
    return with(&OptionInfo::valueName, text);
  }
  Row withDefault(const char *text) const {
    return with(&OptionInfo::defaultText, text);
  }
  Row withImpliedValue(const char *text) const {
    return with(&OptionInfo::impliedText, text);
  }
  Row withChoices(std::vector<OptionValue> allowed) const {
    return with(&OptionInfo::values, std::move(allowed));
  }
  Row withCommaLists() const {
    return with(&OptionInfo::isCommaSeparated, true);
  }
  Row withNoun(const char *text) const { return with(&OptionInfo::noun, text); }
  Row withRange(
      std::int64_t smallest,
      std::int64_t largest = std::numeric_limits<std::int64_t>::max()) const {
    Row row = with(&OptionInfo::minimum, smallest);
    row.maximum = largest;
    return row;
  }
  Row withConstraint(const char *text,
                     bool (*isMet)(const std::string &)) const {
    Row row = with(&OptionInfo::constraint, text);
    row.meetsConstraint = isMet;
    return row;
  }

private:
  template <typename Field, typename Value>
  Row with(Field OptionInfo::*field, Value value) const {
    Row row = static_cast<const Row &>(*this);
    row.*field = std::move(value);
    return row;
  }
};

// The following functions parse values that have been checked.
std::int64_t optionInteger(const std::string &value);
double optionReal(const std::string &value);
inline bool optionFlag(const std::string &value) {
  return value == "true" || value == "1";
}

} // namespace brew
