//===- events.hpp - Events that sessions emit -------------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/events.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace brew::api {

using Listener = std::function<void(const brew_event &)>;

struct OutputValue {
  std::string blob;
  double value;
  double lossWeight; ///< 0 if the blob is no loss
};

namespace detail {
inline std::vector<OutputValue> copies(const brew_output_value *outputs,
                                       std::size_t count) {
  std::vector<OutputValue> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(
        {outputs[i].blob, outputs[i].value, outputs[i].loss_weight});
  return result;
}
} // namespace detail

} // namespace brew::api
