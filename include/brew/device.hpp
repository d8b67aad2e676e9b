//===- device.hpp - The machine that plans run on ---------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/device.h>
#include <brew/support.hpp>

#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// Returns the properties of a GPU, or of the CPU (-1), in order.
inline std::vector<std::pair<std::string, std::string>> deviceQuery(int gpu) {
  std::vector<std::pair<std::string, std::string>> properties;
  char message[1024];
  const brew_status status = brew_device_query(
      gpu,
      [](const char *name, const char *value, void *user) {
        static_cast<std::vector<std::pair<std::string, std::string>> *>(user)
            ->emplace_back(name, value);
      },
      &properties, message, sizeof message);
  detail::check(status, message);
  return properties;
}
inline int gpuCount() {
  char message[1024];
  int count = 0;
  detail::check(brew_gpu_count(&count, message, sizeof message), message);
  return count;
}

} // namespace brew::api
