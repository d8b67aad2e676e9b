//===- support.hpp - Internals of the C++ API -------------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.hpp>
#include <brew/types.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// Throws if the library was built with an incompatible header.
inline void checkAbiVersion() {
  if (brew_abi_version() != BREW_ABI_VERSION)
    throw Error(BREW_UNAVAILABLE, "libbrew_runtime has ABI version " +
                                      std::to_string(brew_abi_version()) +
                                      ", this program needs " +
                                      std::to_string(BREW_ABI_VERSION));
}

namespace detail {

template <typename Handle, void (*destroy)(Handle *)> struct Destroy {
  void operator()(Handle *handle) const { destroy(handle); }
};
template <typename Handle, void (*destroy)(Handle *)>
using UniqueHandle = std::unique_ptr<Handle, Destroy<Handle, destroy>>;

inline void check(brew_status status, const char *message) {
  if (status != BREW_OK)
    throw Error(status, message);
}

inline std::vector<const char *>
cStrings(const std::vector<std::string> &texts) {
  std::vector<const char *> result;
  for (const std::string &text : texts)
    result.push_back(text.c_str());
  return result;
}

template <typename Value> constexpr brew_dtype dtypeOf();
template <> constexpr brew_dtype dtypeOf<float>() { return BREW_F32; }
template <> constexpr brew_dtype dtypeOf<double>() { return BREW_F64; }
template <> constexpr brew_dtype dtypeOf<std::int32_t>() { return BREW_I32; }

/// The first exception of the callbacks within a call.
class CallbackError {
public:
  template <typename Body> bool capture(Body &&body) noexcept {
    try {
      body();
      return true;
    } catch (...) {
      if (!first)
        first = std::current_exception();
      return false;
    }
  }
  explicit operator bool() const noexcept { return bool(first); }
  void rethrow() {
    if (first)
      std::rethrow_exception(std::exchange(first, nullptr));
  }

private:
  std::exception_ptr first;
};

} // namespace detail

} // namespace brew::api
