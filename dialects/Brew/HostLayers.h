//===- HostLayers.h - Layer types that host code computes -------*- C++ -*-===//
//
// The compiler's view of layer types whose forward and backward passes are
// functions of the program that runs the plan (include/brew/host_layer.h). The
// dialect of a context owns the list, which shape inference queries.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::dialects {

using Shapes = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// One layer of such a type, as passed to HostLayerType::shapes.
struct HostLayerSetup {
  std::string type, layer;
  std::string settings; ///< caffe.LayerParameter as text
  std::string paramStr; ///< python_param.param_str
  bool testPhase = false;
  llvm::ArrayRef<llvm::SmallVector<int64_t>> bottoms;
  size_t tops = 0;
};

/// A layer type that host code computes.
struct HostLayerType {
  std::string name;
  /// Returns one shape for each of the HostLayerSetup::tops tops, or throws
  /// brew::Error. If null, the caller of the compiler provides the shapes.
  std::function<Shapes(const HostLayerSetup &)> shapes = {};
  bool hasBackward = true;
  /// Value of the padding items of bottoms with an item count (see
  /// ItemCounts.h); nullopt if the layer does not accept item counts.
  std::optional<double> paddingValue = {};
};

using HostLayerTypes = std::vector<HostLayerType>;

/// Returns the type of that name that the runtime implements, or null.
const HostLayerType *findBuiltinHostLayer(const std::string &name);

} // namespace brew::dialects
