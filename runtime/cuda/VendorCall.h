//===- VendorCall.h - One library call of a CUDA plan -----------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <memory>
#include <string>

namespace brew::runtime::cuda {

class CublasLt;
class VendorLibrary;

/// A buffer of the plan and where it lies on the device.
struct DeviceBuffer {
  const plan::Buffer *buffer = nullptr;
  CUdeviceptr address = 0;
};

/// What all calls of a plan have in common.
struct CallOptions {
  plan::Target::Math math = plan::Target::STRICT;
  /// Only candidates whose results repeat to the bit.
  bool deterministic = false;
  /// Bytes of scratch that a candidate may ask for.
  std::uint64_t workspaceLimit = 0;
};

/// A library knows several ways ("candidates") to do a call on this device, the
/// most promising first; the timings choose one (CallTuner.h).
class VendorCall {
public:
  virtual ~VendorCall() = default;

  /// What is computed, on which shapes and types, by which library, and what
  /// else decides which candidates there are: equal for calls that can share a
  /// choice.
  virtual std::string key() const = 0;
  virtual int candidates() const = 0;
  /// The same in every run with this library and device.
  virtual std::string describe(int candidate) const = 0;
  /// What candidates that differ in settings alone have in common.
  virtual std::string engine(int candidate) const {
    return describe(candidate);
  }
  /// Gives back what the library has built for a candidate that has run to its
  /// end; it is built again if it is asked for.
  virtual void release(int) {}
  /// Bytes of scratch; kUnusable for a candidate that turns out so.
  virtual std::uint64_t workspaceBytes(int candidate) const = 0;
  static constexpr std::uint64_t kUnusable = ~std::uint64_t(0);
  /// Enqueues the call; `workspace` has the candidate's size, 256-byte aligned.
  virtual void run(int candidate, CUdeviceptr workspace,
                   const Stream &stream) = 0;
};

/// Creates calls. `where` says which step it is, in errors. Throw Error (3) if
/// the library cannot do the call on this device.
std::unique_ptr<VendorCall>
makeConvolution(VendorLibrary &library, const plan::ConvolutionCall &call,
                DeviceBuffer x, DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                const CallOptions &options, const std::string &where);
std::unique_ptr<VendorCall>
makeInnerProduct(const Device &device, CublasLt &library,
                 const plan::InnerProductCall &call, DeviceBuffer x,
                 DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                 const CallOptions &options, const std::string &where);

/// The largest power of two that `address` is a multiple of; at most 256, which
/// device memory is aligned to.
std::uint32_t alignmentOf(CUdeviceptr address);

} // namespace brew::runtime::cuda
