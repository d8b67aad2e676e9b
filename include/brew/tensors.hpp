//===- tensors.hpp - Blobs, parameters and gradients by name ----*- C++ -*-===//
//
// Part of brew.hpp, which says what holds for all of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/support.hpp>
#include <brew/tensors.h>

#include <string>

namespace brew::api {

/// Names one tensor of a session, by value.
struct TensorName {
  brew_tensor_kind kind = BREW_BLOB;
  int program = 0;
  std::string name;
  int index = 0, slot = 0;
};

} // namespace brew::api
