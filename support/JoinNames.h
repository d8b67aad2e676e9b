//===- JoinNames.h - Lists of names in sentences ----------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew {

/// Returns "a", "a and b" or "a, b and c" if `conjunction` is "and"; "" for no
/// names.
inline std::string joinNames(const std::vector<std::string> &names,
                             const std::string &conjunction) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool isLast = i + 1 == names.size();
    text += (i == 0 ? "" : isLast ? " " + conjunction + " " : ", ") + names[i];
  }
  return text;
}

} // namespace brew
