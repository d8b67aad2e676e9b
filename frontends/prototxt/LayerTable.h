//===- LayerTable.h - How each layer type becomes operations ----*- C++ -*-===//
//
// One row per supported layer type. A builder turns a checked layer into its
// operation; it gets the values of bottoms and parameters and hands back those
// of the tops.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "frontends/prototxt/NetGraph.h"

#include "mlir/IR/Builders.h"

#include <set>
#include <string>

namespace brew::prototxt {

/// One layer while its operations are built.
struct LayerBuild {
  mlir::OpBuilder &b;
  mlir::Location loc;
  const caffe::LayerParameter &layer;
  const NetGraph &graph;
  const GraphLayer &entry;
  /// An unranked tensor of the program's element type.
  mlir::Type blob;
  /// Folder of the prototxt, where the layer's files may lie.
  std::string folder;
  llvm::SmallVector<mlir::Value> bottoms, params;
  /// Filled by the builder, one per top.
  llvm::SmallVector<mlir::Value> tops = {};
};

struct LayerRow {
  const char *type;
  void (*build)(LayerBuild &);
};

/// The row of that type, or null.
const LayerRow *findLayerRow(llvm::StringRef type);

/// The types that have a row.
const std::set<std::string> &supportedLayerTypes();

} // namespace brew::prototxt
