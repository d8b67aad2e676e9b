//===- NetGraph.h - Graph of a net for reports ------------------*- C++ -*-===//
//
// A graph for drawings: nodes are layers, or the kernels and calls that compute
// them; edges are the values between them. Parameters and constants have no
// edges.
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
  std::string type; ///< a layer's type, or a call's operation
  std::vector<std::string> layers;
  bool backward = false;
  std::string source; ///< FILE:LINE:COL of the first layer, or empty
};

/// A value from its producer to one consumer.
struct GraphEdge {
  unsigned from = 0, to = 0;
  std::string shape; ///< "64x20x24x24 f32"
  uint64_t bytes = 0;
};

struct ProgramGraph {
  std::string name;
  std::vector<GraphNode> nodes; ///< in program order
  std::vector<GraphEdge> edges;
};

using NetGraph = std::vector<ProgramGraph>;

/// Returns the graph of a module in phase graph: a node per layer and
/// direction.
NetGraph layerGraph(mlir::ModuleOp module);

/// Returns the graph of a module in phase fused: a node per kernel and call.
NetGraph stepGraph(mlir::ModuleOp module);

/// Returns Graphviz text; each program is a cluster. `name` is the graph's
/// name.
std::string dotText(const NetGraph &graph, const std::string &name);

} // namespace brew::compiler
