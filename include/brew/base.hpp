//===- base.hpp - What Brew's two C++ APIs share ----------------*- C++ -*-===//
//
// Header-only, over the C API: the ABI is C's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.h>

#include <stdexcept>
#include <string>

namespace brew::api {

/// A call that failed.
class Error : public std::runtime_error {
public:
  Error(brew_status status, const std::string &text)
      : std::runtime_error(text), why(status) {}
  brew_status status() const { return why; }

private:
  brew_status why;
};

/// A structure that the library fills in.
template <typename Struct> Struct makeStruct() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

} // namespace brew::api
