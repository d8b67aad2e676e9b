//===- NetGraph.h - The net of a phase as nodes and edges -------*- C++ -*-===//
//
// What people look at instead of a module: layers, or the kernels and calls
// that they have become, and the values that flow between them. Parameters are
// no edges, nor are constants.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::compiler {

struct GraphNode {
  enum class Kind { Data, Layer, Kernel, Call, Host, Output };

  Kind kind = Kind::Layer;
  std::string name;
  std::string type; ///< a layer's type, a call's operation
  std::vector<std::string> layers;
  bool backward = false;
  std::string source; ///< FILE:LINE:COL of the first layer; may be empty
};

/// A value on its way from the node that makes it to one that reads it.
struct GraphEdge {
  unsigned from = 0, to = 0;
  std::string shape; ///< "64x20x24x24 f32"
  uint64_t bytes = 0;
};

struct ProgramGraph {
  std::string name;
  std::vector<GraphNode> nodes; ///< in the order of the program
  std::vector<GraphEdge> edges;
};

using NetGraph = std::vector<ProgramGraph>;

/// The programs of a module in phase graph: a node for each layer and
/// direction.
NetGraph layerGraph(mlir::ModuleOp module);

/// Those of a module in phase fused: a node for each kernel and call.
NetGraph stepGraph(mlir::ModuleOp module);

/// Graphviz text of it; each program is a cluster. `name` is the graph's.
std::string dotText(const NetGraph &graph, const std::string &name);

} // namespace brew::compiler
