//===- CudnnGraph.h - Convolutions as cuDNN operations ----------*- C++ -*-===//
//
// Describes a convolution as a list of cuDNN operations. Needs no device.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/VendorTable.h"
#include "runtime/cuda/cudnn/CudnnApi.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda::cudnn {

/// Unique ids of tensors in graphs and variant packs.
enum TensorId : std::int64_t {
  IdX = 1,
  IdW = 2,
  IdB = 3,
  IdY = 4,
  IdVirtual = 10
};

/// Operations and the descriptors that they refer to.
struct Operations {
  std::vector<Descriptor> tensors, parameters, operations;
  std::vector<std::int64_t> ids; ///< of the tensors that the caller provides
};

/// Returns cuDNN's constant of a BrewVendorType. Throws Failure if cuDNN cannot
/// compute with the type.
DataType dataType(int32_t type);

/// Returns the bare convolution of any direction. With `accumulate` it adds to
/// its output.
Operations convolutionOnly(const Api &api, const BrewVendorConvolution &call);

/// Returns act(conv(x, w) + b) as one graph, for the forward direction.
Operations convolutionFused(const Api &api, const BrewVendorConvolution &call);

/// Returns a key of the operations that convolutionFused(), if `fused`, or
/// convolutionOnly() creates. Calls with equal operations have equal keys.
std::string operationsKey(const BrewVendorConvolution &call, bool fused);

} // namespace brew::runtime::cuda::cudnn
