//===- VendorCall.h - Vendor library calls of a CUDA plan -------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <memory>
#include <string>

namespace brew::runtime::cuda {

class CublasLt;
class VendorLibrary;

/// A buffer of the plan and its device address.
struct DeviceBuffer {
  const plan::Buffer *buffer = nullptr;
  CUdeviceptr address = 0;
};

/// Options that apply to all library calls of a plan.
struct CallOptions {
  plan::Target::Math math = plan::Target::STRICT;
  /// Allows only candidates with bitwise reproducible results.
  bool deterministic = false;
  /// Maximum size of a candidate's scratch memory, in bytes.
  std::uint64_t workspaceLimit = 0;
};

/// A call of a vendor library (cuDNN, cuBLASLt). The library has one or more
/// implementations of the call ("candidates") for the device, fastest first by
/// its own estimate. CallTuner chooses one.
class VendorCall {
public:
  virtual ~VendorCall() = default;

  /// Returns the timing cache's key: the computation, shapes, types, library
  /// and everything else that determines the candidates. Calls with equal keys
  /// can share a choice.
  virtual std::string key() const = 0;
  virtual int candidates() const = 0;
  /// Returns a candidate's name, which is stable across runs with the same
  /// library and device.
  virtual std::string describe(int candidate) const = 0;
  /// Returns the name of the candidate's engine. Candidates that differ only in
  /// settings have the same engine.
  virtual std::string engine(int candidate) const {
    return describe(candidate);
  }
  /// Frees the library's resources of a candidate. None of its runs may be
  /// pending. Its next use rebuilds the resources.
  virtual void release(int) {}
  /// Returns the size of the scratch memory in bytes, or kUnusable if the
  /// library or the limit rejects the candidate.
  virtual std::uint64_t workspaceBytes(int candidate) const = 0;
  static constexpr std::uint64_t kUnusable = ~std::uint64_t(0);
  /// Enqueues the call. `workspace` has workspaceBytes(candidate) bytes and is
  /// 256-byte aligned.
  virtual void run(int candidate, CUdeviceptr workspace,
                   const Stream &stream) = 0;
};

/// These functions create calls. `where` identifies the step in error messages.
/// They throw Error (3) if the library does not support the call on this
/// device.
std::unique_ptr<VendorCall>
makeConvolution(VendorLibrary &library, const plan::ConvolutionCall &call,
                DeviceBuffer x, DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                const CallOptions &options, const std::string &where);
std::unique_ptr<VendorCall>
makeInnerProduct(const Device &device, CublasLt &library,
                 const plan::InnerProductCall &call, DeviceBuffer x,
                 DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                 const CallOptions &options, const std::string &where);

/// Returns the alignment of `address` in bytes, a power of two; at most 256,
/// the alignment of device allocations.
std::uint32_t alignmentOf(CUdeviceptr address);

} // namespace brew::runtime::cuda
