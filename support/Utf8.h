//===- Utf8.h - Texts for files that must be UTF-8 --------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace brew {

/// The text with U+FFFD in place of what is not UTF-8, as JSON shows it: names
/// of files and classes have any bytes.
inline std::string replaceInvalidUtf8(const std::string &text) {
  const nlohmann::json json = text;
  return nlohmann::json::parse(
             json.dump(-1, ' ', false,
                       nlohmann::json::error_handler_t::replace))
      .get<std::string>();
}

} // namespace brew
