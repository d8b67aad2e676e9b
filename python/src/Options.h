//===- Options.h - Options of sessions and trainers in Python ---*- C++ -*-===//
#pragma once

#include <brew/options.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::python {

/// Names of options and their values; None sets the implied value.
using Settings =
    std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Throws Error (2) for an unknown name or an invalid value.
inline api::Options optionsOf(const Settings &settings) {
  api::Options options;
  for (const auto &[name, value] : settings)
    value ? options.set(name, *value) : options.set(name);
  return options;
}

} // namespace brew::python
