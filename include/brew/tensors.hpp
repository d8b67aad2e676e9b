//===- tensors.hpp - Blobs, parameters and gradients by name ----*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/support.hpp>
#include <brew/tensors.h>

#include <string>

namespace brew::api {

/// The name of one tensor of a session.
struct TensorName {
  brew_tensor_kind kind = BREW_BLOB;
  int program = 0;
  std::string name;
  int index = 0, slot = 0;
};

} // namespace brew::api
