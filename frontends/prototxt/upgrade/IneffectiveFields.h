//===- IneffectiveFields.h - Forks' fields without effect -------*- C++ -*-===//
//
// Forks of Caffe have fields that choose between ways to compute or read the
// same values: libraries, threads, caches, types of intermediate results. Brew
// accepts them and reports once that they have no effect.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/Diagnostic.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns whether `field` of the message type `message` ("LayerParameter") is
/// such a field. The message type must lack it in Brew.
bool isIneffectiveField(const std::string &message, const std::string &field);

/// Returns whether `value` of the enum type `enumType` ("Engine") is a fork's
/// value that only chooses how to compute.
bool isIneffectiveValue(const std::string &enumType, const std::string &value);

/// Collects the fields of one file for a single warning.
class IneffectiveFields {
public:
  void add(const SourceLocation &where, const std::string &field,
           const std::string &value);
  /// Adds the warnings, at the first of the fields.
  void report(Diagnostics &diagnostics) const;

private:
  struct Use {
    SourceLocation where;
    std::string text; ///< "forward_type: FLOAT16"
  };
  std::optional<Use> otherType; ///< the first with another type than FLOAT
  std::vector<Use> uses;        ///< the first of each field
};

} // namespace brew::prototxt
