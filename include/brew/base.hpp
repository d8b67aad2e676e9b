//===- base.hpp - Definitions common to Brew's two C++ APIs -----*- C++ -*-===//
//
// Header-only, over the C API, which defines the ABI.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.h>

#include <stdexcept>
#include <string>

namespace brew::api {

/// The error of a failed call.
class Error : public std::runtime_error {
public:
  Error(brew_status status, const std::string &text)
      : std::runtime_error(text), why(status) {}
  brew_status status() const { return why; }

private:
  brew_status why;
};

/// Makes a structure for the library to read or fill in.
template <typename Struct> Struct makeStruct() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

} // namespace brew::api
