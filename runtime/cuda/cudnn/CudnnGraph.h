//===- CudnnGraph.h - Convolutions as operations of cuDNN -------*- C++ -*-===//
//
// Describes a convolution as a list of cuDNN operations. Nothing here needs a
// device.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/VendorTable.h"
#include "runtime/cuda/cudnn/CudnnApi.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda::cudnn {

/// What tensors are called in graphs and variant packs.
enum TensorId : std::int64_t { IdX = 1, IdW = 2, IdB = 3, IdY = 4, IdVirtual = 10 };

/// Operations with the descriptors that they refer to.
struct Operations {
  std::vector<Descriptor> tensors, parameters, operations;
  std::vector<std::int64_t> ids; ///< tensors that a run gives memory for
};

/// cuDNN's number of a type. Throws Failure for one it has no arithmetic for.
DataType dataType(int32_t type);

/// The bare convolution of any direction; with `accumulate` its result is
/// added.
Operations convolutionOnly(const Api &api, const BrewVendorConvolution &call);

/// act(conv(x, w) + b) as one graph, for the forward direction.
Operations convolutionFused(const Api &api, const BrewVendorConvolution &call);

/// Equal for calls for which convolutionFused(), or convolutionOnly() unless
/// `fused`, makes equal operations.
std::string operationsKey(const BrewVendorConvolution &call, bool fused);

} // namespace brew::runtime::cuda::cudnn
