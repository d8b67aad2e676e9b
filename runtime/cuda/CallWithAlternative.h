//===- CallWithAlternative.h - Library call or generated kernel -*- C++ -*-===//
#pragma once

#include "runtime/cuda/KernelLaunch.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/executor/CallTimingKey.h"

#include <memory>
#include <string>

namespace brew::runtime::cuda {

/// A library call with a generated kernel as an alternative, which is its last
/// candidate.
class CallWithAlternative : public VendorCall {
public:
  /// `generator` identifies the compiler and architecture of the kernel. It is
  /// part of the key, because different code takes different times.
  CallWithAlternative(std::unique_ptr<VendorCall> library, KernelLaunch launch,
                      std::string generator)
      : library(std::move(library)), launch(std::move(launch)),
        generator(std::move(generator)) {}

  std::string key() const override {
    return library->key() + generatedAlternativeKey(generator);
  }
  int candidates() const override { return library->candidates() + 1; }
  std::string describe(int candidate) const override {
    return isLibrary(candidate) ? library->describe(candidate) : kGeneratedCode;
  }
  std::string engine(int candidate) const override {
    return isLibrary(candidate) ? library->engine(candidate) : kGeneratedCode;
  }
  void release(int candidate) override {
    if (isLibrary(candidate))
      library->release(candidate);
  }
  std::uint64_t scratchBytes(int candidate) const override {
    return isLibrary(candidate) ? library->scratchBytes(candidate) : 0;
  }
  void run(int candidate, const LaunchContext &context) override {
    if (isLibrary(candidate))
      library->run(candidate, context);
    else
      launch.run(context);
  }

private:
  bool isLibrary(int candidate) const {
    return candidate < library->candidates();
  }

  std::unique_ptr<VendorCall> library;
  KernelLaunch launch;
  std::string generator;
};

} // namespace brew::runtime::cuda
