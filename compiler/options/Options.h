//===- Options.h - Compiler options by name ---------------------*- C++ -*-===//
//
// One table defines all options. The API lists it, brewc's command line and
// help are generated from it, and each row checks and applies its own values.
// OptionSet::resolve() checks combinations of options.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Compile.h"
#include "support/OptionTable.h"

#include <map>
#include <string>
#include <vector>

namespace brew::compiler {

struct OptionRow : OptionRowBase<OptionRow> {
  using Apply = void (*)(CompileOptions &, const std::string &);

  Apply apply = nullptr; ///< applies one checked value

  OptionRow withAction(Apply function) const {
    OptionRow row = *this;
    row.apply = function;
    return row;
  }
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
  /// Sets the number of parameters of a layer; see describeNet().
  void setParamCount(const std::string &layer, int count) {
    paramCounts[layer] = count;
  }
  bool isSet(const std::string &name) const {
    return explicitValues.count(name);
  }

  /// Returns the options of a compilation. Throws Error (Usage) for
  /// contradictory options.
  CompileOptions resolve() const;

private:
  std::map<std::string, std::vector<std::string>> explicitValues;
  dialects::HostLayerTypes hostLayers;
  std::map<std::string, int> paramCounts;
};

/// Adds a host layer type to `options`, or replaces the type of the same name.
/// Throws Error (Usage) for a type that Brew implements.
void addHostLayer(CompileOptions &options, dialects::HostLayerType type);

} // namespace brew::compiler
