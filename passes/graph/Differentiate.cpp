//===- Differentiate.cpp - Backward pass of a program ---------------------===//
#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "passes/Passes.h"
#include "passes/analysis/LayerPrograms.h"
#include "passes/graph/LossScale.h"
#include "passes/graph/NoGradient.h"
#include "passes/graph/ScalarGradient.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace brew::passes {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::BlobValue;
using brew::dialects::plan::LayerValue;

namespace {

/// Appends the backward pass of one program.
class BackwardBuilder {
public:
  /// `lossScale` is the initial factor of losses; 0 disables loss scaling.
  BackwardBuilder(ProgramOp program, SymbolTable &symbols, double lossScale)
      : program(program), symbols(symbols), lossScale(lossScale),
        b(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  /// Builds the backward pass. The gradients of `blobs`, which are pinned,
  /// start with output gradients that the caller writes.
  LogicalResult run(ArrayRef<std::string> blobs);
  /// Builds the backward pass of a program of one layer, from the gradients of
  /// all tops that have one. If the layer cannot be differentiated, the program
  /// has no backward pass, and its attribute kNoBackwardAttr is the reason.
  void runForLayer();
  void pinGradients(ArrayRef<std::string> blobs);
  Value fullGradient(Value value);
  void pinBottomGradients();

private:
  /// Returns whether a gradient must reach operand `i` of `op`. The layer's
  /// propagate_down overrides what the analysis found.
  bool propagates(Operation *op, unsigned i) const {
    if (auto down = op->getAttrOfType<DenseBoolArrayAttr>("propagate_down"))
      if (i < static_cast<unsigned>(down.size()))
        return down[i];
    return needed.contains(op->getOperand(i));
  }
  void findNeeded(ArrayRef<Operation *> layers);
  LogicalResult differentiateAll();
  LogicalResult differentiate(Operation *op);
  LogicalResult build(Operation *op, ArrayRef<Value> results,
                      ArrayRef<bool> selected, MutableArrayRef<Value> operands);
  bool tryBuild(Operation *op, ArrayRef<Value> results, ArrayRef<bool> selected,
                MutableArrayRef<Value> operands);
  void markBackwardSince(Operation *last, Operation *layer);
  void addGradient(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? markBackward(buildSum(b, gradient.getLoc(), sum, gradient),
                             value.getDefiningOp())
              : gradient;
  }
  void warnIfBlocked(Operation *op);
  void storeParameters();
  Value defaultDiff(Operation *op, OpResult result);
  PinOp pinOf(StringRef blob);
  OutputGradientOp createOutputGradient(Value value, StringRef blob);
  LogicalResult addOutputGradient(StringRef blob);
  LogicalResult addMemoryLossGradients(MemoryLossOp loss);
  bool addLossGradients();
  void addZeroGradients();
  InFlightDiagnostic usageError(Location loc);
  void ensureScale(Location loc) {
    if (!scale)
      scale = brew::passes::buildLossScale(b, loc, lossScale);
  }
  Value lossGradientOf(Operation *op, Value result, float weight);
  /// Divides a gradient that leaves the program by the loss scale. `producer`
  /// computes the value that the gradient belongs to.
  Value unscaled(Value gradient, Operation *producer) {
    if (!scale)
      return gradient;
    auto layer = producer->getAttrOfType<StringAttr>("layer");
    return brew::passes::buildUnscaledGradient(
        b, producer->getLoc(), gradient, scale,
        layer ? layer : b.getStringAttr(""));
  }

  /// Marks the producer of `value` as part of the backward pass of `layer`,
  /// which may also be a parameter.
  static Value markBackward(Value value, Operation *layer) {
    Origin{Origin::of(layer).layer, /*isBackward=*/true}.mark(
        value.getDefiningOp());
    return value;
  }
  Value buildFill(Location loc, Type type, double value, Operation *layer) {
    return markBackward(FillOp::create(b, loc, type, b.getF64FloatAttr(value)),
                        layer);
  }

  ProgramOp program;
  SymbolTable &symbols;
  double lossScale;
  OpBuilder b;
  bool isZero = false; ///< all gradients are zero: the net has no loss
  Value scale;         ///< factor of losses; null without scaling
  /// Values that depend on a learnable parameter. As in Caffe, a propagate_down
  /// that blocks the gradient on the way does not matter.
  llvm::DenseSet<Value> needed;
  /// Subset of `needed` whose gradient reaches no parameter.
  llvm::DenseSet<Value> reachesNoParameter;
  llvm::DenseMap<Value, Value> gradients;
  SmallVector<Operation *> layers;
  /// Output gradients with the values whose gradients they start.
  SmallVector<std::pair<Value, OutputGradientOp>> outputGradients;
  /// Blobs with an output gradient, including the bottoms of MemoryLoss.
  llvm::StringSet<> blobsWithOutputGradient;
};

void BackwardBuilder::findNeeded(ArrayRef<Operation *> layers) {
  for (Operation *op : layers) {
    if (auto read = dyn_cast<ParamValueOp>(op)) {
      // The importer marks parameters that get a gradient despite lr_mult 0.
      if (!symbols.lookup<ParamOp>(read.getParam()).getLrMult().isZero() ||
          read->hasAttr(kGradientAttr))
        needed.insert(read);
      continue;
    }
    if (isa<DataInputOp>(op) && op->hasAttr(kGradientAttr))
      needed.insert(op->result_begin(), op->result_end());
    if (!isa<GradientInterface, ScalarBodyInterface, ReinterpretOp>(op))
      continue;
    bool dependsOnParameter = false, reachesParameter = false;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const bool down = propagates(op, i);
      dependsOnParameter |= down || needed.contains(op->getOperand(i));
      reachesParameter |=
          down && !reachesNoParameter.contains(op->getOperand(i));
    }
    if (!dependsOnParameter)
      continue;
    for (Value result : op->getResults()) {
      // Integers (item counts, positions) have no gradient.
      if (auto type = dyn_cast<ShapedType>(result.getType());
          type && !isa<FloatType>(type.getElementType()))
        continue;
      needed.insert(result);
      if (!reachesParameter)
        reachesNoParameter.insert(result);
    }
  }
}

/// Builds the gradients of the operands selected by `selected` from the
/// gradients of the results.
LogicalResult BackwardBuilder::build(Operation *op, ArrayRef<Value> results,
                                     ArrayRef<bool> selected,
                                     MutableArrayRef<Value> operands) {
  if (auto layer = dyn_cast<GradientInterface>(op))
    return layer.buildGradients(b, results, selected, operands);
  if (auto layer = dyn_cast<ScalarBodyInterface>(op)) {
    for (auto [i, isSelected] : llvm::enumerate(selected)) {
      if (!isSelected)
        continue;
      FailureOr<Value> gradient =
          brew::passes::buildScalarGradient(b, layer, i, results[0]);
      if (failed(gradient))
        return failure();
      operands[i] = *gradient;
    }
  } else if (auto view = dyn_cast<ReinterpretOp>(op)) {
    operands[0] = ReinterpretOp::create(b, op->getLoc(), view.getX().getType(),
                                        results[0]);
  }
  return success();
}

/// Like build(), but failure is not an error: some of the operands lead to no
/// learnable parameter. Caffe computes their gradients too and shows them; a
/// layer may have none, for example for labels. Returns whether it succeeded.
bool BackwardBuilder::tryBuild(Operation *op, ArrayRef<Value> results,
                               ArrayRef<bool> selected,
                               MutableArrayRef<Value> operands) {
  Block &block = program.getBody().front();
  Operation *last = &block.back();
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  if (succeeded(build(op, results, selected, operands)))
    return true;
  while (&block.back() != last)
    block.back().erase();
  llvm::fill(operands, Value());
  return false;
}

LogicalResult BackwardBuilder::differentiate(Operation *op) {
  SmallVector<Value> results;
  bool hasGradient = false;
  for (Value result : op->getResults()) {
    results.push_back(gradients.lookup(result));
    hasGradient |= results.back() != nullptr;
  }
  if (!hasGradient)
    return success();
  SmallVector<bool> selected;
  bool anyReachesNoParameter = false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    selected.push_back(propagates(op, i));
    anyReachesNoParameter |=
        selected[i] && reachesNoParameter.contains(op->getOperand(i));
  }
  if (!llvm::is_contained(selected, true)) {
    warnIfBlocked(op);
    return success();
  }

  SmallVector<Value> operands(op->getNumOperands());
  if (!anyReachesNoParameter || !tryBuild(op, results, selected, operands)) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      selected[i] =
          selected[i] && !reachesNoParameter.contains(op->getOperand(i));
    if (!llvm::is_contained(selected, true))
      return success();
    // A gradient of zero needs no layer that can compute it.
    if (isZero)
      tryBuild(op, results, selected, operands);
    else if (failed(build(op, results, selected, operands)))
      return failure();
  }
  for (auto [operand, gradient, isSelected] :
       llvm::zip(op->getOperands(), operands, selected))
    if (isSelected && gradient)
      addGradient(operand, gradient);
  return success();
}

/// Warns if `op` blocks a gradient that would reach a learnable parameter.
void BackwardBuilder::warnIfBlocked(Operation *op) {
  auto blob = op->getAttrOfType<StringAttr>(brew::passes::kNoGradientAttr);
  if (blob && needed.contains(op->getOperand(0)) &&
      !reachesNoParameter.contains(op->getOperand(0)))
    layerWarning(op) << "no gradient passes its exposed hidden "
                     << blob.getValue()
                     << ", as in Caffe; --exact-hidden-gradients propagates it";
}

/// Marks all operations appended after `last` as the backward pass of `layer`.
void BackwardBuilder::markBackwardSince(Operation *last, Operation *layer) {
  const Origin origin{Origin::of(layer).layer, /*isBackward=*/true};
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    origin.mark(op);
}

/// Stores the gradient of each parameter: the sum over all reads of it.
void BackwardBuilder::storeParameters() {
  llvm::MapVector<StringAttr, Value> sums;
  llvm::DenseMap<StringAttr, ParamValueOp> reads;
  for (Operation *op : layers) {
    auto read = dyn_cast<ParamValueOp>(op);
    if (!read || !needed.contains(read))
      continue;
    StringAttr name = read.getParamAttr().getAttr();
    reads[name] = read;
    Value &sum = sums[name];
    Value gradient = gradients.lookup(read);
    if (sum && gradient)
      sum = markBackward(buildSum(b, read.getLoc(), sum, gradient),
                         symbols.lookup(name));
    else if (gradient)
      sum = gradient;
  }
  for (auto [name, sum] : sums) {
    ParamValueOp read = reads[name];
    Operation *param = symbols.lookup(name);
    if (!sum) // no loss depends on it
      sum = buildFill(read.getLoc(), read.getType(), 0, param);
    sum = unscaled(sum, param);
    StoreGradientOp::create(b, read.getLoc(), sum, read.getParamAttr());
  }
}

/// Returns the gradient of the total loss with respect to one of its terms.
Value BackwardBuilder::lossGradientOf(Operation *op, Value result,
                                      float weight) {
  if (lossScale == 0)
    return buildFill(op->getLoc(), result.getType(), weight, op);
  ensureScale(op->getLoc());
  return brew::passes::buildScaledLossGradient(
      b, op->getLoc(), result.getType(), scale,
      op->getAttrOfType<StringAttr>("layer"), weight);
}

/// Starts an error about the command line.
InFlightDiagnostic BackwardBuilder::usageError(Location loc) {
  InFlightDiagnostic error = emitError(loc);
  setExitStatus(error, brew::ExitStatus::Usage);
  return error;
}

/// Returns the operation that pins the data of a blob, or null.
PinOp BackwardBuilder::pinOf(StringRef blob) {
  for (Operation *op : layers)
    if (auto pin = dyn_cast<PinOp>(op);
        pin && pin.getBlob() == blob && pin.getKind() == BlobValue::Data)
      return pin;
  return {};
}

OutputGradientOp BackwardBuilder::createOutputGradient(Value value,
                                                       StringRef blob) {
  auto gradientOp =
      OutputGradientOp::create(b, value.getLoc(), value.getType(), blob);
  Origin{{}, /*isBackward=*/true}.mark(gradientOp);
  blobsWithOutputGradient.insert(blob);
  return gradientOp;
}

/// Starts the gradient of a pinned blob with the output gradient that the
/// caller will write.
LogicalResult BackwardBuilder::addOutputGradient(StringRef blob) {
  for (Operation *op : layers)
    if (auto pin = dyn_cast<PinOp>(op);
        pin && pin.getBlob() == blob && pin.getKind() == BlobValue::Count)
      return usageError(pin.getLoc())
             << "--output-gradient: the number of items of blob '" << blob
             << "' is only known at run time; reduce it first";
  PinOp pin = pinOf(blob);
  if (!pin)
    return usageError(program.getLoc())
           << "--output-gradient: blob '" << blob << "' is not pinned";
  Value value = pin.getValue();
  Location loc = value.getLoc();
  if (!isa<FloatType>(elementTypeOf(value)))
    return usageError(loc) << "--output-gradient: blob '" << blob
                           << "' has an integer type, which has no gradient";
  if (!needed.contains(value) || reachesNoParameter.contains(value))
    return usageError(loc)
           << "--output-gradient: no learnable parameter gets a gradient "
              "through blob '"
           << blob << "'";
  outputGradients.emplace_back(value, createOutputGradient(value, blob));
  return success();
}

/// Adds the output gradients that a MemoryLoss scales.
LogicalResult BackwardBuilder::addMemoryLossGradients(MemoryLossOp loss) {
  bool reachesParameter = false;
  for (auto [i, blob] :
       llvm::enumerate(loss.getBlobs().getAsValueRange<StringAttr>())) {
    Value x = loss.getXs()[i];
    if (!propagates(loss, static_cast<unsigned>(i)))
      continue;
    reachesParameter |= needed.contains(x) && !reachesNoParameter.contains(x);
    if (PinOp pin = pinOf(blob); !pin || pin.getValue() != x)
      return layerError(loss)
             << "'" << blob
             << "' is overwritten by a later in-place layer, so that its "
                "caller "
                "could not read it; give that layer's top a name of its own";
    if (blobsWithOutputGradient.contains(blob))
      return layerError(loss)
             << "the gradient of '" << blob
             << "' is already written by the caller: through another bottom or "
                "MemoryLoss, or by --output-gradient";
    createOutputGradient(x, blob);
  }
  if (!reachesParameter)
    return layerError(loss)
           << "no learnable parameter gets a gradient through its bottoms";
  return success();
}

/// Starts the gradients of the terms of the loss. Returns whether there is a
/// loss.
bool BackwardBuilder::addLossGradients() {
  bool hasLoss = false;
  for (Operation *op : layers) {
    auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
    if (!weights)
      continue;
    for (auto [weight, result] :
         llvm::zip(weights.asArrayRef(), op->getResults())) {
      hasLoss |= weight != 0;
      if (weight != 0 && needed.contains(result))
        addGradient(result, lossGradientOf(op, result, weight));
    }
  }
  return hasLoss;
}

/// Starts the gradients of a net without a loss: as in Caffe, the gradients of
/// its outputs are zero, and the backward pass still runs.
void BackwardBuilder::addZeroGradients() {
  isZero = true;
  for (Operation *op : layers)
    if (auto output = dyn_cast<OutputOp>(op);
        output && needed.contains(output.getValue()))
      addGradient(output.getValue(),
                  buildFill(op->getLoc(), output.getValue().getType(), 0,
                            output.getValue().getDefiningOp()));
}

LogicalResult BackwardBuilder::run(ArrayRef<std::string> blobs) {
  for (Operation &op : program.getBody().front())
    layers.push_back(&op);
  findNeeded(layers);
  // Output gradients come before all gradients: the forward pass ends here.
  for (StringRef blob : blobs)
    if (failed(addOutputGradient(blob)))
      return failure();
  for (Operation *op : layers)
    if (auto loss = dyn_cast<MemoryLossOp>(op);
        loss && failed(addMemoryLossGradients(loss)))
      return failure();
  for (auto [value, gradientOp] : outputGradients) {
    Value gradient = gradientOp.getGradient();
    if (lossScale != 0) {
      ensureScale(gradientOp.getLoc());
      gradient = brew::passes::buildScaledGradient(
          b, gradientOp.getLoc(), gradient, scale, gradientOp.getBlobAttr());
    }
    addGradient(value, gradient);
  }
  const bool hasLoss = addLossGradients();
  if (!hasLoss && outputGradients.empty() && blobsWithOutputGradient.empty())
    addZeroGradients();
  return differentiateAll();
}

/// Builds the gradients of all layers and stores those of the parameters.
LogicalResult BackwardBuilder::differentiateAll() {
  for (Operation *op : llvm::reverse(layers)) {
    Operation *last = &program.getBody().front().back();
    if (failed(differentiate(op)))
      return failure();
    markBackwardSince(last, op);
  }
  storeParameters();
  return success();
}

void BackwardBuilder::runForLayer() {
  Block &block = program.getBody().front();
  for (Operation &op : block)
    layers.push_back(&op);
  findNeeded(layers);
  SmallVector<PinOp> tops;
  for (Operation *op : layers)
    if (auto pin = dyn_cast<PinOp>(op);
        pin && pin.getKind() == BlobValue::Data &&
        needed.contains(pin.getValue()) &&
        !pin.getValue().getDefiningOp<DataInputOp>())
      tops.push_back(pin);
  std::string reason;
  Operation *last = &block.back();
  {
    ScopedDiagnosticHandler handler(
        program.getContext(), [&](Diagnostic &diagnostic) {
          if (reason.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            reason = diagnostic.str();
          return success();
        });
    for (PinOp pin : tops)
      addGradient(pin.getValue(),
                  createOutputGradient(pin.getValue(), pin.getBlob()));
    if (succeeded(differentiateAll()))
      return;
  }
  while (&block.back() != last)
    block.back().erase();
  gradients.clear();
  program.setDifferentiate(false);
  program->setAttr(brew::passes::kNoBackwardAttr, b.getStringAttr(reason));
}

/// Returns the diff that Caffe has for a blob that no gradient reaches. It is
/// zero; for a loss it is the loss weight, unless another layer reads the blob:
/// then the weight moves to the copy that Caffe's split creates. Null for
/// values without a diff.
Value BackwardBuilder::defaultDiff(Operation *op, OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return {};
  float value = 0;
  auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
  if (weights && llvm::all_of(result.getUsers(), [](Operation *user) {
        return isa<OutputOp, PinOp, PinLayerValueOp>(user);
      }))
    value = weights[result.getResultNumber()];
  return buildFill(op->getLoc(), type, value, op);
}

void BackwardBuilder::pinGradients(ArrayRef<std::string> blobs) {
  bool pinsAll = llvm::is_contained(blobs, "all");
  // The diff of an in-place blob is the gradient of its first version that has
  // one.
  llvm::MapVector<StringRef, OpResult> versions;
  for (Operation *op : layers) {
    auto tops = op->getAttrOfType<ArrayAttr>("tops");
    if (!tops)
      continue;
    for (auto [name, result] :
         llvm::zip(tops.getAsRange<StringAttr>(), op->getResults())) {
      if (name.getValue().empty() ||
          (!pinsAll && !llvm::is_contained(blobs, name.getValue())))
        continue;
      OpResult &version =
          versions.try_emplace(name.getValue(), result).first->second;
      if (!fullGradient(version) && fullGradient(result))
        version = result;
    }
  }
  for (auto [name, result] : versions) {
    Operation *op = result.getOwner();
    Value gradient = fullGradient(result);
    gradient = gradient ? unscaled(gradient, op)
               : brew::passes::isLayerProgram(program)
                   ? Value()
                   : defaultDiff(op, result);
    if (gradient)
      PinOp::create(b, op->getLoc(), gradient, BlobValue::Diff, name);
  }
}

/// Returns the gradient of a blob, or null. Recurrent layers compute a gradient
/// for a bottom that needs none; if other layers also read that blob, the
/// gradient is incomplete and does not count.
Value BackwardBuilder::fullGradient(Value value) {
  const auto contributesNoGradient = [&](OpOperand &use) {
    Operation *op =
        program.getBody().front().findAncestorOpInBlock(*use.getOwner());
    if (op->hasTrait<IsSink>() || Origin::of(op).isBackward)
      return false;
    auto down = op->getAttrOfType<DenseBoolArrayAttr>("propagate_down");
    return !down || use.getOperandNumber() >= down.size();
  };
  const bool isIncomplete =
      !needed.contains(value) &&
      llvm::any_of(value.getUses(), contributesNoGradient);
  return isIncomplete ? Value() : gradients.lookup(value);
}

/// Moves each `bottom_diff` pin of the importer from the bottom to its
/// gradient. Erases it if there is no gradient.
void BackwardBuilder::pinBottomGradients() {
  for (Operation *op : layers) {
    auto pin = dyn_cast<PinLayerValueOp>(op);
    if (!pin || pin.getKind() != LayerValue::BottomDiff)
      continue;
    if (Value gradient = gradients.lookup(pin.getValue()))
      PinLayerValueOp::create(
          b, pin.getLoc(), unscaled(gradient, pin.getValue().getDefiningOp()),
          LayerValue::BottomDiff, pin.getLayer(), pin.getIndex());
    pin.erase();
  }
}

struct Differentiate : brew::passes::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (!program.getDifferentiate())
        continue;
      BackwardBuilder backward(program, symbols, lossScale);
      if (brew::passes::isLayerProgram(program)) {
        backward.runForLayer();
        backward.pinGradients({"all"});
        continue;
      }
      if (failed(backward.run(SmallVector<std::string>(outputGradients.begin(),
                                                       outputGradients.end()))))
        return signalPassFailure();
      backward.pinGradients(SmallVector<std::string>(pin.begin(), pin.end()));
      backward.pinBottomGradients();
    }
  }
};

} // namespace
