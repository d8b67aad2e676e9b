//===- tensors.hpp - Blobs, parameters and gradients by name ----*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/support.hpp>
#include <brew/tensors.h>

#include <cstdint>
#include <string>
#include <vector>

namespace brew::api {

/// The name of one tensor of a session.
struct TensorName {
  brew_tensor_kind kind = BREW_BLOB;
  int program = 0;
  std::string name;
  int index = 0, slot = 0;
};

/// Writes the values of a filler to an array of shape `dims`; see brew_fill().
inline void fill(const std::string &filler,
                 const std::vector<std::int64_t> &dims, std::uint64_t seed,
                 const std::string &name, float *values) {
  char message[1024];
  const brew_status status =
      brew_fill(filler.c_str(), dims.data(), dims.size(), seed, name.c_str(),
                values, message, sizeof message);
  detail::check(status, message);
}

} // namespace brew::api
