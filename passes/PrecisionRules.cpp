//===- PrecisionRules.cpp - What may be rounded to 16 bits ----------------===//
#include "passes/PrecisionRules.h"

#include "dialects/Brew/layers/Precision.h"
#include "dialects/Brew/layers/Shape.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace brew::ir;

namespace {

/// What differs from the rule: operands that must be exact, tops that stay f32.
struct LayerRule {
  StringRef operation;
  ArrayRef<unsigned> exactOperands;
  ArrayRef<unsigned> wideTops;
};

constexpr unsigned kFirst[] = {0}, kSecond[] = {1}, kThird[] = {2},
                   kFirstTwo[] = {0, 1}, kLaterTwo[] = {1, 2};

ArrayRef<LayerRule> layerRules() {
  static const LayerRule rules[] = {
      {"brew.accuracy", kSecond, kFirstTwo},
      {"brew.argmax", {}, kFirst},
      {"brew.batch_reindex", kSecond, {}},
      {"brew.contrastive_loss", kThird, {}},
      {"brew.detection_output", {}, kFirst},
      {"brew.embed", kFirst, {}},
      {"brew.hinge_loss", kSecond, {}},
      {"brew.infogain_loss", kLaterTwo, kSecond},
      // The cell is a sum over all time steps.
      {"brew.lstm_unit", kThird, kFirst},
      // A mask numbers the places of a plane.
      {"brew.max_pooling", {}, kSecond},
      {"brew.max_unpooling", kSecond, {}},
      {"brew.multinomial_logistic_loss", kSecond, {}},
      {"brew.prior_box", {}, kFirst},
      {"brew.psroi_pooling", kSecond, {}},
      {"brew.reduction", {}, kFirst},
      {"brew.roi_pooling", kSecond, {}},
      {"brew.sigmoid_cross_entropy_loss", kSecond, {}},
      {"brew.softmax", {}, kFirst},
      {"brew.softmax_loss", kSecond, kSecond},
  };
  return rules;
}

const LayerRule *ruleOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (const LayerRule &rule : layerRules())
    if (rule.operation == name)
      return &rule;
  return nullptr;
}

/// Layers that give elements of their first operand, at other places.
bool rearranges(Operation *op) {
  static const llvm::StringSet<> names = {"brew.batch_reindex",
                                          "brew.mask_items", "brew.permute",
                                          "brew.tile"};
  return names.contains(op->getName().getStringRef());
}

/// Tops stand in the order of the bottoms; the last operand is the selector.
bool isFilter(Operation *op) {
  return op->getName().getStringRef() == "brew.filter";
}

bool isSink(Operation *op) {
  return isa<StoreParamOp, StoreGradientOp, StoreStateOp, OutputOp, KeepOp,
             CheckLabelsOp>(op);
}

/// Whether exact results make the operands exact as well.
bool passesOn(Operation *op) {
  if (isa<ScalarBodyInterface, UnscaleOp>(op) || brew::movesElements(op))
    return true;
  auto nest = dyn_cast<linalg::GenericOp>(op);
  return nest && nest.getNumParallelLoops() == nest.getNumLoops();
}

} // namespace

llvm::DenseSet<Value> brew::findExactValues(ProgramOp program) {
  // A rule for a name that no operation has would round what must not be.
  assert(llvm::all_of(layerRules(), [&](const LayerRule &rule) {
    return RegisteredOperationName::lookup(rule.operation,
                                           program.getContext());
  }));
  llvm::DenseSet<Value> exact;
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    if (isa<StoreParamOp, StoreGradientOp, StoreStateOp>(op))
      exact.insert(op.getOperand(0));
    if (const LayerRule *rule = ruleOf(&op))
      for (unsigned operand : rule->exactOperands)
        if (operand < op.getNumOperands())
          exact.insert(op.getOperand(operand));
    if (isFilter(&op)) {
      const unsigned selector = op.getNumOperands() - 1;
      // What is nearly 0 selects.
      exact.insert(op.getOperand(selector));
      for (unsigned i = 0; i < selector; ++i)
        if (exact.contains(op.getResult(i)))
          exact.insert(op.getOperand(i));
    }
    if (rearranges(&op) && exact.contains(op.getResult(0)))
      exact.insert(op.getOperand(0));
    bool any = llvm::any_of(
        op.getResults(), [&](Value result) { return exact.contains(result); });
    if (!any || !passesOn(&op))
      continue;
    for (Value operand : op.getOperands())
      // What others read too was not made for the exact result.
      if (operand.hasOneUse() || !isa<linalg::GenericOp>(op))
        exact.insert(operand);
  }
  return exact;
}

bool brew::movesElements(Operation *op) {
  return isa<ReinterpretOp, JoinOp, CutOp, PasteOp, ConcatOp, SliceOp, CropOp>(
      op);
}

bool brew::isMoved(OpOperand &operand) {
  return !isa<CropOp>(operand.getOwner()) || operand.getOperandNumber() == 0;
}

bool brew::isNarrowResult(OpResult result) {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !type.getElementType().isF32() || type.getNumElements() <= 1)
    return false;
  if (isa<FeedOp, ParamValueOp, ParamGradientOp, ParamStateOp, SolverScalarOp,
          FillOp, CastOp, UnscaleOp, tensor::EmptyOp, linalg::FillOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (llvm::all_of(result.getUsers(), isSink))
    return false;
  // Beyond its tops a layer's results are what it saves for the backward pass.
  // Parts of a composite layer have no names for theirs.
  unsigned number = result.getResultNumber();
  if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
    if (number >= tops.size() && op->getNumResults() > 1)
      return false;
  const LayerRule *rule = ruleOf(op);
  return !rule || !llvm::is_contained(rule->wideTops, number);
}
