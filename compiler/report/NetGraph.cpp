//===- NetGraph.cpp - Graph of a net for reports --------------------------===//
#include "compiler/report/NetGraph.h"

#include "compiler/PassDiagnostics.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace brew::dialects;

namespace brew::compiler {
namespace {

/// Returns the shape and element type, for example "64x20x24x24 f32".
std::string shapeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type;
    return text;
  }
  llvm::interleave(tensor.getShape(), os, "x");
  os << (tensor.getRank() ? " " : "") << tensor.getElementType();
  return text;
}

uint64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  return static_cast<uint64_t>(tensor.getNumElements()) *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Returns the Caffe type of an operation's layer, which the importer stores in
/// locations.
std::string layerType(Location location) {
  std::string type;
  location->walk([&](Location nested) {
    auto named = dyn_cast<NameLoc>(nested);
    if (!named)
      return WalkResult::advance();
    type = named.getName().str();
    return WalkResult::interrupt();
  });
  return type;
}

/// Returns the operation's name without dialect and underscores.
std::string operationWords(Operation *op) {
  std::string words = op->getName().stripDialect().str();
  llvm::replace(words, '_', ' ');
  return words;
}

/// Splits "ip1+relu1" into its layers.
std::vector<std::string> split(StringRef layers) {
  SmallVector<StringRef> parts;
  layers.split(parts, '+', -1, false);
  return {parts.begin(), parts.end()};
}

class GraphBuilder {
public:
  GraphBuilder(ProgramOp program, bool byLayer) : byLayer(byLayer) {
    graph.name = program.getSymName().str();
    for (Operation &op : program.getBody().front()) {
      // Steps after the first one of the backward pass belong to it, as in
      // plans.
      isInBackwardPass |=
          isa<OutputGradientOp>(op) || Origin::of(&op).isBackward;
      if (auto kernel = dyn_cast<KernelOp>(op))
        isInBackwardPass |= kernel.getBackward();
      if (!hasNoNode(&op))
        addEdges(&op, nodeFor(&op));
    }
  }

  ProgramGraph graph;

private:
  /// Returns whether an operation has no node: it has no data flow or no cost.
  /// Views are not steps.
  bool hasNoNode(Operation *op) const {
    return isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, RandomKeyOp>(
               op) ||
           op->hasTrait<IsPersistentRead>() ||
           (!byLayer && op->hasTrait<IsView>()) ||
           (op->hasTrait<IsSink>() && !isa<OutputOp>(op));
  }

  /// Returns the node of an operation; by layer, all operations of a layer
  /// share one.
  unsigned nodeFor(Operation *op) {
    const Origin origin = Origin::of(op);
    if (byLayer && origin.layer && !isa<OutputOp>(op)) {
      auto [entry, isNew] = layers.try_emplace(
          {origin.layer.getValue(), origin.isBackward}, graph.nodes.size());
      if (isNew)
        graph.nodes.push_back(describe(op, origin));
      nodes[op] = entry->second;
      return entry->second;
    }
    nodes[op] = graph.nodes.size();
    graph.nodes.push_back(describe(op, origin));
    return nodes[op];
  }

  GraphNode describe(Operation *op, const Origin &origin) const {
    GraphNode node;
    node.backward =
        byLayer ? origin.isBackward : isInBackwardPass && !isa<OutputOp>(op);
    node.source = sourceOf(op->getLoc()).str();
    if (origin.layer) {
      node.name = origin.layer.str();
      node.layers =
          byLayer ? std::vector{node.name} : split(origin.layer.getValue());
    }
    if (auto input = dyn_cast<DataInputOp>(op)) {
      node.kind = GraphNode::Kind::Data;
      node.type = input.getKind().str();
    } else if (auto outputGradient = dyn_cast<OutputGradientOp>(op)) {
      node.kind = GraphNode::Kind::Data;
      node.name = outputGradient.getBlob().str();
      node.type = "output gradient";
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      node.kind = GraphNode::Kind::Output;
      node.name = output.getBlob().str();
      node.type = "output";
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      node.kind = GraphNode::Kind::Kernel;
      node.name = kernel.getName().str();
      node.type = "kernel";
      if (ArrayAttr names = kernel.getLayersAttr())
        for (auto name : names.getAsRange<StringAttr>())
          node.layers.push_back(name.str());
    } else if (!byLayer) {
      node.kind = isa<HostLayerOp, HostLayerBackwardOp>(op)
                      ? GraphNode::Kind::Host
                      : GraphNode::Kind::Call;
      node.type = operationWords(op);
    } else {
      node.type = layerType(op->getLoc());
      if (node.type.empty())
        node.type = operationWords(op);
    }
    if (node.name.empty())
      node.name = parameterOf(op);
    return node;
  }

  /// Names an operation without a layer by the parameter that it updates, or
  /// else by its kind.
  static std::string parameterOf(Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && source->hasTrait<IsPersistentRead>())
        for (NamedAttribute attribute : source->getAttrs())
          if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
            return symbol.getValue().str();
    return operationWords(op);
  }

  void addEdges(Operation *op, unsigned to) {
    auto addEdgeFrom = [&](Value value) {
      SmallVector<Value> sources;
      collectSources(value, sources);
      for (Value source : sources) {
        auto from = nodes.find(source.getDefiningOp());
        if (from == nodes.end() || from->second == to ||
            !addedEdges.insert({source, to}).second)
          continue;
        graph.edges.push_back({from->second, to, shapeText(source.getType()),
                               bytesOf(source.getType())});
      }
    };
    for (Value operand : op->getOperands())
      addEdgeFrom(operand);
    // Regions of nests and host layers may use values from outside.
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentRegion() == op->getParentRegion())
            addEdgeFrom(operand);
      });
  }

  /// Appends the values that `value` consists of. Views have no nodes; a view
  /// of concatenated blobs has several sources. A part of such a view gets all
  /// of them, also those outside the part.
  void collectSources(Value value, SmallVectorImpl<Value> &sources) const {
    Operation *op = value.getDefiningOp();
    if (!op || nodes.contains(op) || !op->hasTrait<IsView>() ||
        !op->getNumOperands()) {
      sources.push_back(value);
      return;
    }
    for (Value operand : op->getOperands())
      collectSources(operand, sources);
  }

  const bool byLayer;
  bool isInBackwardPass = false; ///< the backward pass has begun
  llvm::DenseMap<Operation *, unsigned> nodes;
  std::map<std::pair<StringRef, bool>, unsigned> layers;
  llvm::DenseSet<std::pair<Value, unsigned>> addedEdges;
};

NetGraph build(ModuleOp module, bool byLayer) {
  NetGraph graph;
  for (auto program : module.getOps<ProgramOp>())
    graph.push_back(GraphBuilder(program, byLayer).graph);
  return graph;
}

} // namespace

NetGraph layerGraph(ModuleOp module) { return build(module, true); }

NetGraph stepGraph(ModuleOp module) { return build(module, false); }

} // namespace brew::compiler
