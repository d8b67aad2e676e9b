//===- Utf8.h - Replacement of invalid UTF-8 --------------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace brew {

/// Returns the text with U+FFFD in place of invalid UTF-8, which JSON cannot
/// represent. Names of files and classes may contain any bytes.
inline std::string replaceInvalidUtf8(const std::string &text) {
  const nlohmann::json json = text;
  return nlohmann::json::parse(
             json.dump(-1, ' ', false,
                       nlohmann::json::error_handler_t::replace))
      .get<std::string>();
}

} // namespace brew
