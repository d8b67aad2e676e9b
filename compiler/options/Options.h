//===- Options.h - Compiler options by name ---------------------*- C++ -*-===//
//
// One table defines all options. The API lists it, brewc's command line and
// help are generated from it, and each row checks and applies its own values.
// OptionSet::resolve() checks combinations of options.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Compile.h"

#include <map>
#include <string>
#include <vector>

namespace brew::compiler {

enum class OptionKind {
  Flag,    ///< true or false
  Text,    ///< any text
  Integer, ///< 64 bits
  Real,
  Choice, ///< one of `values`
  List,   ///< each value is appended
};

struct OptionValue {
  const char *name;
  const char *help;
};

struct OptionRow {
  using Apply = void (*)(CompileOptions &, const std::string &);

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
  /// Constraint on a value, such as "be positive", and its predicate; null
  /// without a constraint.
  const char *constraint = nullptr;
  bool (*meetsConstraint)(const std::string &) = nullptr;
  Apply apply = nullptr; ///< applies one checked value

  // Fluent setters for the table: each returns a copy of the row with one field
  // set.
  OptionRow withValueName(const char *text) const;
  OptionRow withDefault(const char *text) const;
  OptionRow withImpliedValue(const char *text) const;
  OptionRow withChoices(std::vector<OptionValue> allowed) const;
  OptionRow withCommaLists() const;
  OptionRow withNoun(const char *text) const;
  OptionRow withConstraint(const char *text,
                           bool (*isMet)(const std::string &)) const;
  OptionRow withAction(Apply function) const;
};

/// Returns the rows in the order of brewc's help.
const std::vector<OptionRow> &optionTable();

/// Option values set by a caller.
class OptionSet {
public:
  /// Checks and stores a value. Appends the value to a list; replaces the value
  /// of other options. A null `value` sets the option to its implied value.
  /// Throws Error (Usage).
  void set(const std::string &name, const char *value);
  /// Adds a host layer type. Throws Error (Usage) for a type that Brew
  /// implements or that was added before.
  void addHostLayer(dialects::HostLayerType type);
  bool isSet(const std::string &name) const {
    return explicitValues.count(name);
  }

  /// Returns the options of a compilation. Throws Error (Usage) for
  /// contradictory options.
  CompileOptions resolve() const;

private:
  std::map<std::string, std::vector<std::string>> explicitValues;
  dialects::HostLayerTypes hostLayers;
};

/// Adds a host layer type to `options`, or replaces the type of the same name.
/// Throws Error (Usage) for a type that Brew implements.
void addHostLayer(CompileOptions &options, dialects::HostLayerType type);

} // namespace brew::compiler
