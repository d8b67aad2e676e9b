//===- Options.h - The options of a compilation, by name --------*- C++ -*-===//
//
// One table: the API lists it, brewc's command line and help are made from it,
// and a value is checked and obeyed by its row alone. What options mean
// together stands in OptionSet::resolve().
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
  Text,    ///< any
  Integer, ///< of 64 bits
  Real,
  Choice, ///< one of `values`
  List,   ///< each value given adds to it
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
  const char *valueName = "value"; ///< what stands for the value in usage lines
  const char *defaultText = "";    ///< the value where the option is not given
  /// The value where it is given by its name alone; null: it needs one.
  const char *impliedText = nullptr;
  std::vector<OptionValue> values; ///< all that are allowed; empty: any
  bool isCommaSeparated = false; ///< List: a value may hold several, with commas
  /// What a value is called in the error that there is no such.
  const char *noun = nullptr;
  /// What a value must: "be positive", and whether it does. Null: anything.
  const char *constraint = nullptr;
  bool (*meetsConstraint)(const std::string &) = nullptr;
  Apply apply = nullptr; ///< obeys one checked value

  // For the table: the same row with one thing more.
  OptionRow withValueName(const char *text) const;
  OptionRow withDefault(const char *text) const;
  OptionRow withImpliedValue(const char *text) const;
  OptionRow withChoices(std::vector<OptionValue> allowed) const;
  OptionRow withCommaLists() const;
  OptionRow withNoun(const char *text) const;
  OptionRow withConstraint(const char *text, bool (*holds)(const std::string &)) const;
  OptionRow withAction(Apply function) const;
};

/// In the order of help.
const std::vector<OptionRow> &optionTable();

/// The options that a caller has explicitValues.
class OptionSet {
public:
  /// Checks and keeps a value. A list's value is added to those before, any
  /// other one's replaces them. Null as value stands for the option's
  /// name alone. Throws Error (Usage).
  void set(const std::string &name, const char *value);
  /// Makes a type known that the program computes itself. Throws Error (Usage)
  /// for one that Brew has, or that was given before.
  void addHostLayer(dialects::HostLayerType type);
  bool isSet(const std::string &name) const { return explicitValues.count(name); }

  /// Throws Error (Usage) where options contradict each other.
  CompileOptions resolve() const;

private:
  std::map<std::string, std::vector<std::string>> explicitValues;
  dialects::HostLayerTypes hostLayers;
};

/// Adds a type to those of `options`; see OptionSet::addHostLayer.
void addHostLayer(CompileOptions &options, dialects::HostLayerType type);

} // namespace brew::compiler
