//===- HostLayers.h - Layer types that the program computes -----*- C++ -*-===//
//
// What a compilation knows of types whose forward and backward passes are
// functions of the program that will run the plan (include/brew/host_layer.h).
// The dialect of a context holds them, as operations ask for their shapes.
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

/// A layer of such a type.
struct HostLayerSetup {
  std::string type, layer;
  std::string settings; ///< caffe.LayerParameter as text
  std::string paramStr; ///< its python_param.param_str
  bool testPhase = false;
  llvm::ArrayRef<llvm::SmallVector<int64_t>> bottoms;
  size_t tops = 0;
};

struct HostLayerType {
  std::string name;
  /// Gives the shapes of the tops, as many as HostLayerSetup::tops. Throws
  /// brew::Error. Null: whoever compiles gives them.
  std::function<Shapes(const HostLayerSetup &)> shapes = {};
  bool hasBackward = true;
  /// What bottoms hold in place of items that are not there (see ItemCounts.h);
  /// none: the layer needs all items.
  std::optional<double> paddingValue = {};
};

using HostLayerTypes = std::vector<HostLayerType>;

/// The type of that name that the runtime itself computes, or null.
const HostLayerType *findBuiltinHostLayer(const std::string &name);

} // namespace brew::dialects
