//===- VendorCall.h - Vendor library calls of a CUDA plan -------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/CudaStep.h"
#include "runtime/executor/CallTuner.h"

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

/// A call of a vendor library (cuDNN, cuBLASLt), whose candidates the library
/// suggests for the device, fastest first by its own estimate.
class VendorCall : public TunableCall {
public:
  /// Returns the size of the scratch memory in bytes, or kUnusable if the
  /// library or the limit rejects the candidate.
  virtual std::uint64_t scratchBytes(int candidate) const = 0;
  static constexpr std::uint64_t kUnusable = ~std::uint64_t(0);
  bool isUsable(int candidate) const override {
    return scratchBytes(candidate) != kUnusable;
  }
  /// Enqueues the call. The scratch memory has scratchBytes(candidate) bytes.
  virtual void run(int candidate, const LaunchContext &context) = 0;
};

/// The operands of a library call; `b` is null without a bias.
struct CallBuffers {
  DeviceBuffer x, w, b, y;
};

/// These functions create calls. `where` identifies the step in error messages.
/// They throw Error (3) if the library does not support the call on this
/// device.
std::unique_ptr<VendorCall> makeConvolution(VendorLibrary &library,
                                            const plan::ConvolutionCall &call,
                                            const CallBuffers &buffers,
                                            const CallOptions &options,
                                            const std::string &where);
std::unique_ptr<VendorCall>
makeInnerProduct(const Device &device, CublasLt &library,
                 const plan::InnerProductCall &call, const CallBuffers &buffers,
                 const CallOptions &options, const std::string &where);

/// Returns the alignment of `address` in bytes, a power of two; at most 256,
/// the alignment of device allocations.
std::uint32_t alignmentOf(CUdeviceptr address);

} // namespace brew::runtime::cuda
