//===- OutlineKernel.cpp - Outlining of nest groups into kernels ----------===//
#include "passes/fused/OutlineKernel.h"

#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <utility>

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

namespace {

/// Outlines groups of nests into one kernel.
///
/// MLIR's makeRegionIsolatedFromAbove would also create the arguments, but in
/// the order in which it meets operands, initial values first. The arguments of
/// a kernel are the inputs of its nests, in order.
class Outliner {
public:
  Outliner(ArrayRef<const NestGroup *> groups, Operation *position)
      : groups(groups), b(position) {
    b.setInsertionPointAfter(position);
  }

  KernelOp build() {
    collect();
    SmallVector<Type> types;
    for (Value output : outputs)
      types.push_back(output.getType());
    SmallVector<Location> locations;
    for (const NestGroup *group : groups)
      for (auto nest : group->nests)
        locations.push_back(nest.getLoc());
    auto kernel = KernelOp::create(b, b.getFusedLoc(locations), types,
                                   inputs.getArrayRef(), profileName(),
                                   layersAttr(), isBackward());
    Block *body = b.createBlock(&kernel.getBody());
    IRMapping map;
    for (Value input : inputs)
      map.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (auto [subKernel, group] : llvm::enumerate(groups))
      for (auto nest : group->nests)
        cloneNest(nest, subKernel, group->grid, map);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(map.lookup(output));
    YieldOp::create(b, kernel.getLoc(), yielded);
    for (auto [store, resultNumber] : additionalStores)
      store->set(kernel.getOutputs()[resultNumber]);
    for (auto [output, result] : llvm::zip(outputs, kernel.getOutputs()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !members.contains(use.getOwner()) &&
               !isInsideMember(use.getOwner());
      });
    for (const NestGroup *group : llvm::reverse(groups))
      for (auto nest : llvm::reverse(group->nests))
        nest->erase();
    return kernel;
  }

private:
  bool isInsideMember(Operation *op) const {
    for (Operation *parent = op; parent; parent = parent->getParentOp())
      if (members.contains(parent))
        return true;
    return false;
  }

  /// Collects the inputs and outputs of the kernel.
  void collect() {
    for (const NestGroup *group : groups)
      for (auto nest : group->nests)
        members.insert(nest);
    for (const NestGroup *group : groups)
      for (auto nest : group->nests) {
        auto addInput = [&](Value tensor) {
          Operation *source = tensor.getDefiningOp();
          if (!members.contains(source) &&
              !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp, FillOp>(source))
            inputs.insert(tensor);
        };
        for (Value input : nest.getInputs())
          addInput(input);
        nest.getBody()->walk(
            [&](tensor::ExtractOp extract) { addInput(extract.getTensor()); });
        for (OpResult result : nest->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) {
                return !isInsideMember(user);
              }))
            addOutput(result);
      }
  }

  /// Adds one output per store of `result`: the kernel writes all of them, so
  /// no copy is needed.
  void addOutput(OpResult result) {
    outputs.push_back(result);
    bool isStored = false;
    for (OpOperand &use : result.getUses())
      if (use.getOwner()->hasTrait<IsStore>() &&
          std::exchange(isStored, true)) {
        additionalStores.push_back({&use, outputs.size()});
        outputs.push_back(result);
      }
  }

  /// Clones a nest with its constants and initial values.
  void cloneNest(linalg::GenericOp nest, int64_t subKernel, int64_t grid,
                 IRMapping &map) {
    std::function<void(Value)> cloneConstant = [&](Value value) {
      Operation *source = value.getDefiningOp();
      if (map.contains(value) || !source ||
          !isa<tensor::EmptyOp, linalg::FillOp, FillOp, arith::ConstantOp>(
              source))
        return;
      for (Value operand : source->getOperands())
        cloneConstant(operand);
      Origin::clear(b.clone(*source, map));
    };
    for (Value operand : nest->getOperands())
      cloneConstant(operand);
    nest.getBody()->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (operand.getParentBlock() == nest->getBlock())
          cloneConstant(operand);
    });
    NestGrid{subKernel, grid}.mark(b.clone(*nest, map));
  }

  SmallVector<StringRef> layerNames() {
    llvm::SetVector<StringRef> names;
    for (const NestGroup *group : groups)
      for (auto nest : group->nests)
        if (StringAttr layer = Origin::of(nest).layer)
          names.insert(layer.getValue());
    return names.takeVector();
  }
  /// Returns whether all nests compute gradients.
  bool isBackward() const {
    return llvm::all_of(groups, [](const NestGroup *group) {
      return llvm::all_of(group->nests, [](linalg::GenericOp nest) {
        return Origin::of(nest).isBackward;
      });
    });
  }
  ArrayAttr layersAttr() { return b.getStrArrayAttr(layerNames()); }

  /// Returns a name for profiles, from the layer names; not yet unique.
  std::string profileName() {
    SmallVector<StringRef> names = layerNames();
    // Two layer names suffice; the layers attribute lists all.
    std::string text;
    for (StringRef layer : ArrayRef(names).take_front(2))
      text += (text.empty() ? "" : "_") + layer.str();
    if (text.empty()) // no layers, or layers without names
      text = b.getInsertionBlock()
                 ->getParentOp()
                 ->getAttrOfType<StringAttr>("sym_name")
                 .str();
    if (isBackward())
      text += "_backward";
    return brew::passes::toIdentifier(std::move(text));
  }

  SmallVector<const NestGroup *> groups;
  OpBuilder b;
  llvm::DenseSet<Operation *> members;
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
  /// Uses by stores after the first one, with their result number.
  SmallVector<std::pair<OpOperand *, size_t>> additionalStores;
};

} // namespace

std::string brew::passes::toIdentifier(std::string text) {
  for (char &c : text)
    if (!llvm::isAlnum(c))
      c = '_';
  return text;
}

KernelOp brew::passes::outlineKernel(ArrayRef<const NestGroup *> groups,
                                     Operation *position) {
  return Outliner(groups, position).build();
}
