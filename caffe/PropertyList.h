//===- PropertyList.h - Lists of properties as text -------------*- C++ -*-===//
//
// Properties are text of the form "KEY=VALUE;KEY=VALUE", as in MyCaffe's
// custom_trainer_properties.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::caffe {

/// An entry of a property list and its location in the text.
struct PropertyEntry {
  std::string text;
  std::size_t offset; ///< in bytes of the list

  /// Returns whether the entry is KEY=VALUE.
  bool isProperty() const { return text.find('=') != text.npos; }
  std::string key() const;
  std::string value() const;
  /// Returns the offset of the value in the list.
  std::size_t valueOffset() const;
  /// Returns the message for an entry that is not KEY=VALUE.
  std::string syntaxError() const { return "'" + text + "' is not KEY=VALUE"; }
};

/// Splits a list into its entries, without blanks around them; skips empty
/// entries.
std::vector<PropertyEntry> parsePropertyList(const std::string &text);

} // namespace brew::caffe
