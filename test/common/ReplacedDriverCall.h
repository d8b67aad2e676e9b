//===- ReplacedDriverCall.h - Watch calls of the CUDA driver ----*- C++ -*-===//
#pragma once

#include "runtime/cuda/DriverApi.h"

#include <string>
#include <utility>

namespace brew::test {

/// Returns the driver of the CUDA simulator, opened as by plans for the
/// simulator.
inline runtime::cuda::DriverApi &simulatedDriver() {
  return const_cast<runtime::cuda::DriverApi &>(runtime::cuda::DriverApi::open(
      std::string(CUDASIM_FOLDER) + "/libcuda.so.1"));
}

/// During its lifetime, `replacement` replaces one function of the simulator's
/// driver; it may call original().
template <typename Function> class ReplacedDriverCall {
public:
  using Member = Function *runtime::cuda::DriverApi::*;

  ReplacedDriverCall(Member function, Function *replacement)
      : member(function), originalFunction(std::exchange(
                              simulatedDriver().*member, replacement)) {}
  ~ReplacedDriverCall() { simulatedDriver().*member = originalFunction; }
  ReplacedDriverCall(const ReplacedDriverCall &) = delete;
  ReplacedDriverCall &operator=(const ReplacedDriverCall &) = delete;

  Function *original() const { return originalFunction; }

private:
  Member member;
  Function *originalFunction;
};

} // namespace brew::test
