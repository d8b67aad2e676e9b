//===- Differentiate.cpp - Appends the backward pass ----------------------===//
#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "passes/Passes.h"
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

/// Differentiates one program.
class Backward {
public:
  /// `lossScale` is what losses are multiplied by at first, or 0.
  Backward(ProgramOp program, SymbolTable &symbols, double lossScale)
      : program(program), symbols(symbols), lossScale(lossScale),
        b(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  /// `blobs`, which are pinned, begin with a gradient from outside.
  LogicalResult run(ArrayRef<std::string> blobs);
  void keepGradients(ArrayRef<std::string> keep);
  Value wholeGradient(Value value);
  void keepBottomGradients();

private:
  /// Whether a gradient must reach operand `i` of `op`. What the layer says
  /// about a bottom goes first, whether or not anything learns behind it.
  bool propagates(Operation *op, unsigned i) const {
    if (auto down = op->getAttrOfType<DenseBoolArrayAttr>("propagate_down"))
      if (i < static_cast<unsigned>(down.size()))
        return down[i];
    return needed.contains(op->getOperand(i));
  }
  void findNeeded(ArrayRef<Operation *> layers);
  LogicalResult differentiate(Operation *op);
  LogicalResult build(Operation *op, ArrayRef<Value> results,
                      ArrayRef<bool> wanted, MutableArrayRef<Value> operands);
  bool buildsIdle(Operation *op, ArrayRef<Value> results, ArrayRef<bool> wanted,
                  MutableArrayRef<Value> operands);
  void markNew(Operation *last, Operation *layer);
  void add(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? ofBackward(buildSum(b, gradient.getLoc(), sum, gradient),
                           value.getDefiningOp())
              : gradient;
  }
  void warnOfBlocked(Operation *op);
  void storeParameters();
  Value restingGradient(Operation *op, OpResult result);
  PinOp pinOf(StringRef blob);
  OutputGradientOp makeSeed(Value value, StringRef blob);
  LogicalResult takeSeed(StringRef blob);
  LogicalResult takeLossSeeds(MemoryLossOp loss);
  InFlightDiagnostic refuseSeed(Location loc);
  void buildScale(Location loc) {
    if (!scale)
      scale = brew::passes::buildLossScale(b, loc, lossScale);
  }
  Value seedOf(Operation *op, Value result, float weight);
  /// A gradient as it leaves the program, of what `of` computes.
  Value unscaled(Value gradient, Operation *of) {
    if (!scale)
      return gradient;
    auto layer = of->getAttrOfType<StringAttr>("layer");
    return brew::passes::buildUnscaledGradient(b, of->getLoc(), gradient, scale,
                                       layer ? layer : b.getStringAttr(""));
  }

  /// Marks what gives `value` as the backward pass of `layer`, or of the layer
  /// of that parameter.
  static Value ofBackward(Value value, Operation *layer) {
    Origin{Origin::of(layer).layer, /*isBackward=*/true}.mark(
        value.getDefiningOp());
    return value;
  }
  Value fill(Location loc, Type type, double value, Operation *layer) {
    return ofBackward(FillOp::create(b, loc, type, b.getF64FloatAttr(value)),
                      layer);
  }

  ProgramOp program;
  SymbolTable &symbols;
  double lossScale;
  OpBuilder b;
  Value scale; ///< what losses are multiplied by, or null
  /// Values that something learns behind, as Caffe sees it: whether or not a
  /// propagate_down on the way keeps gradients from getting there.
  llvm::DenseSet<Value> needed;
  /// Those of them whose gradient no parameter gets anything of.
  llvm::DenseSet<Value> idle;
  llvm::DenseMap<Value, Value> gradients;
  SmallVector<Operation *> layers;
  SmallVector<std::pair<Value, OutputGradientOp>> seeds; ///< and what they belong to
  llvm::StringSet<> seeded; ///< blobs, those of losses included
};

void Backward::findNeeded(ArrayRef<Operation *> layers) {
  for (Operation *op : layers) {
    if (auto read = dyn_cast<ParamValueOp>(op)) {
      // The importer marks reads that get a gradient at lr_mult 0.
      if (!symbols.lookup<ParamOp>(read.getParam()).getLrMult().isZero() ||
          read->hasAttr("brew.gradient"))
        needed.insert(read);
      continue;
    }
    if (!isa<GradientInterface, ScalarBodyInterface, ReinterpretOp>(op))
      continue;
    bool any = false, reaches = false;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const bool down = propagates(op, i);
      any |= down || needed.contains(op->getOperand(i));
      reaches |= down && !idle.contains(op->getOperand(i));
    }
    if (!any)
      continue;
    for (Value result : op->getResults()) {
      // Integers (counts of items, places) have no gradient.
      if (auto type = dyn_cast<ShapedType>(result.getType());
          type && !isa<FloatType>(type.getElementType()))
        continue;
      needed.insert(result);
      if (!reaches)
        idle.insert(result);
    }
  }
}

/// Builds the gradients of the operands in `wanted` from those of the results.
LogicalResult Backward::build(Operation *op, ArrayRef<Value> results,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operands) {
  if (auto layer = dyn_cast<GradientInterface>(op))
    return layer.buildGradients(b, results, wanted, operands);
  if (auto layer = dyn_cast<ScalarBodyInterface>(op)) {
    for (auto [i, isWanted] : llvm::enumerate(wanted)) {
      if (!isWanted)
        continue;
      FailureOr<Value> gradient =
          brew::passes::buildScalarGradient(b, layer, i, results[0]);
      if (failed(gradient))
        return layerError(op) << "is not differentiable";
      operands[i] = *gradient;
    }
  } else if (auto view = dyn_cast<ReinterpretOp>(op)) {
    operands[0] = ReinterpretOp::create(b, op->getLoc(), view.getX().getType(),
                                        results[0]);
  }
  return success();
}

/// The same for operands some of which nobody learns from. Caffe computes their
/// gradients too, and shows them; but a layer that has none, as towards labels,
/// is no error then.
bool Backward::buildsIdle(Operation *op, ArrayRef<Value> results,
                          ArrayRef<bool> wanted,
                          MutableArrayRef<Value> operands) {
  Block &block = program.getBody().front();
  Operation *last = &block.back();
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  if (succeeded(build(op, results, wanted, operands)))
    return true;
  while (&block.back() != last)
    block.back().erase();
  llvm::fill(operands, Value());
  return false;
}

LogicalResult Backward::differentiate(Operation *op) {
  SmallVector<Value> results;
  bool any = false;
  for (Value result : op->getResults()) {
    results.push_back(gradients.lookup(result));
    any |= results.back() != nullptr;
  }
  if (!any)
    return success();
  SmallVector<bool> wanted;
  bool someIdle = false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    wanted.push_back(propagates(op, i));
    someIdle |= wanted[i] && idle.contains(op->getOperand(i));
  }
  if (!llvm::is_contained(wanted, true)) {
    warnOfBlocked(op);
    return success();
  }

  SmallVector<Value> operands(op->getNumOperands());
  if (!someIdle || !buildsIdle(op, results, wanted, operands)) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      wanted[i] = wanted[i] && !idle.contains(op->getOperand(i));
    if (!llvm::is_contained(wanted, true))
      return success();
    if (failed(build(op, results, wanted, operands)))
      return failure();
  }
  for (auto [operand, gradient, isWanted] :
       llvm::zip(op->getOperands(), operands, wanted))
    if (isWanted && gradient)
      add(operand, gradient);
  return success();
}

/// Says where a gradient ends that something could learn from.
void Backward::warnOfBlocked(Operation *op) {
  auto what = op->getAttrOfType<StringAttr>(brew::passes::kNoGradientAttr);
  if (what && needed.contains(op->getOperand(0)) &&
      !idle.contains(op->getOperand(0)))
    layerWarning(op) << "no gradient passes its exposed hidden "
                     << what.getValue()
                     << ", as in Caffe; --exact-hidden-gradients lets it pass";
}

/// What was appended after `last` belongs to the backward pass of `layer`.
void Backward::markNew(Operation *last, Operation *layer) {
  const Origin origin{Origin::of(layer).layer, /*isBackward=*/true};
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    origin.mark(op);
}

/// Sums the gradients of all reads of each parameter and stores them.
void Backward::storeParameters() {
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
      sum = ofBackward(buildSum(b, read.getLoc(), sum, gradient),
                       symbols.lookup(name));
    else if (gradient)
      sum = gradient;
  }
  for (auto [name, sum] : sums) {
    ParamValueOp read = reads[name];
    Operation *param = symbols.lookup(name);
    if (!sum) // no loss depends on it
      sum = fill(read.getLoc(), read.getType(), 0, param);
    sum = unscaled(sum, param);
    StoreGradientOp::create(b, read.getLoc(), sum, read.getParamAttr());
  }
}

/// The gradient of the total loss by one of its terms.
Value Backward::seedOf(Operation *op, Value result, float weight) {
  if (lossScale == 0)
    return fill(op->getLoc(), result.getType(), weight, op);
  buildScale(op->getLoc());
  return brew::passes::buildScaledLossGradient(b, op->getLoc(), result.getType(), scale,
                                       op->getAttrOfType<StringAttr>("layer"),
                                       weight);
}

/// The command line asks for what cannot be.
InFlightDiagnostic Backward::refuseSeed(Location loc) {
  InFlightDiagnostic error = emitError(loc);
  setExitStatus(error, brew::ExitStatus::Usage);
  return error;
}

/// What keeps the last version of a blob.
PinOp Backward::pinOf(StringRef blob) {
  for (Operation *op : layers)
    if (auto keep = dyn_cast<PinOp>(op);
        keep && keep.getBlob() == blob && keep.getWhat() == BlobValue::Data)
      return keep;
  return {};
}

OutputGradientOp Backward::makeSeed(Value value, StringRef blob) {
  auto seed = OutputGradientOp::create(b, value.getLoc(), value.getType(), blob);
  Origin{{}, /*isBackward=*/true}.mark(seed);
  seeded.insert(blob);
  return seed;
}

/// Begins the gradient of a pinned blob with what the caller will write.
LogicalResult Backward::takeSeed(StringRef blob) {
  for (Operation *op : layers)
    if (auto keep = dyn_cast<PinOp>(op);
        keep && keep.getBlob() == blob && keep.getWhat() == BlobValue::Count)
      return refuseSeed(keep.getLoc())
             << "--output-gradient: the number of items of blob '" << blob
             << "' is only known at run time; reduce it first";
  PinOp pin = pinOf(blob);
  if (!pin)
    return refuseSeed(program.getLoc())
           << "--output-gradient: blob '" << blob << "' is not kept";
  Value value = pin.getValue();
  Location loc = value.getLoc();
  if (!isa<FloatType>(elementTypeOf(value)))
    return refuseSeed(loc) << "--output-gradient: blob '" << blob
                           << "' holds whole numbers, which have no gradient";
  if (!needed.contains(value) || idle.contains(value))
    return refuseSeed(loc) << "--output-gradient: no learnable parameter gets a gradient "
                              "through blob '"
                           << blob << "'";
  seeds.emplace_back(value, makeSeed(value, blob));
  return success();
}

/// The seeds that a loss of the caller's scales.
LogicalResult Backward::takeLossSeeds(MemoryLossOp loss) {
  bool learns = false;
  for (auto [i, blob] :
       llvm::enumerate(loss.getBlobs().getAsValueRange<StringAttr>())) {
    Value x = loss.getXs()[i];
    if (!propagates(loss, static_cast<unsigned>(i)))
      continue;
    learns |= needed.contains(x) && !idle.contains(x);
    if (PinOp pin = pinOf(blob); !pin || pin.getValue() != x)
      return layerError(loss)
             << "'" << blob
             << "' is computed over by a later layer in place, so that its "
                "caller could not read it; give that layer's top a name of its "
                "own";
    if (seeded.contains(blob))
      return layerError(loss) << "the gradient of '" << blob
                              << "' comes from outside already: from another "
                                 "bottom or MemoryLoss, or by --output-gradient";
    makeSeed(x, blob);
  }
  if (!learns)
    return layerError(loss)
           << "no learnable parameter gets a gradient through its bottoms";
  return success();
}

LogicalResult Backward::run(ArrayRef<std::string> blobs) {
  for (Operation &op : program.getBody().front())
    layers.push_back(&op);
  findNeeded(layers);
  // All of them before anything else: forward ends here.
  for (StringRef blob : blobs)
    if (failed(takeSeed(blob)))
      return failure();
  for (Operation *op : layers)
    if (auto loss = dyn_cast<MemoryLossOp>(op);
        loss && failed(takeLossSeeds(loss)))
      return failure();
  for (auto [value, seed] : seeds) {
    Value gradient = seed.getGradient();
    if (lossScale != 0) {
      buildScale(seed.getLoc());
      gradient = brew::passes::buildScaledGradient(b, seed.getLoc(), gradient, scale,
                                           seed.getBlobAttr());
    }
    add(value, gradient);
  }
  for (Operation *op : layers) {
    auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
    if (!weights)
      continue;
    for (auto [weight, result] :
         llvm::zip(weights.asArrayRef(), op->getResults()))
      if (weight != 0 && needed.contains(result))
        add(result, seedOf(op, result, weight));
  }
  for (Operation *op : llvm::reverse(layers)) {
    Operation *last = &program.getBody().front().back();
    if (failed(differentiate(op)))
      return failure();
    markNew(last, op);
  }
  storeParameters();
  return success();
}

/// What Caffe's diff of a blob holds that no gradient reaches: zeros; in a loss
/// the weight that it is set up with, which moves on to a copy where the blob
/// is read. Null for what has no diff.
Value Backward::restingGradient(Operation *op, OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return {};
  float value = 0;
  auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
  if (weights && llvm::all_of(result.getUsers(), [](Operation *user) {
        return isa<OutputOp, PinOp, PinLayerValueOp>(user);
      }))
    value = weights[result.getResultNumber()];
  return fill(op->getLoc(), type, value, op);
}

void Backward::keepGradients(ArrayRef<std::string> keep) {
  bool all = llvm::is_contained(keep, "all");
  // An in-place blob has the gradient of its first version that has one.
  llvm::MapVector<StringRef, OpResult> versions;
  for (Operation *op : layers) {
    auto tops = op->getAttrOfType<ArrayAttr>("tops");
    if (!tops)
      continue;
    for (auto [name, result] :
         llvm::zip(tops.getAsRange<StringAttr>(), op->getResults())) {
      if (name.getValue().empty() ||
          (!all && !llvm::is_contained(keep, name.getValue())))
        continue;
      OpResult &version =
          versions.try_emplace(name.getValue(), result).first->second;
      if (!wholeGradient(version) && wholeGradient(result))
        version = result;
    }
  }
  for (auto [name, result] : versions) {
    Operation *op = result.getOwner();
    Value gradient = wholeGradient(result);
    gradient = gradient ? unscaled(gradient, op) : restingGradient(op, result);
    if (gradient)
      PinOp::create(b, op->getLoc(), gradient, BlobValue::Diff, name);
  }
}

/// The gradient of a blob, or null. Recurrent layers compute one for a bottom
/// that needs none: where other layers read the blob too, it is only a part.
Value Backward::wholeGradient(Value value) {
  const auto addsNone = [&](OpOperand &use) {
    Operation *op =
        program.getBody().front().findAncestorOpInBlock(*use.getOwner());
    if (op->hasTrait<IsSink>() || Origin::of(op).isBackward)
      return false;
    auto down = op->getAttrOfType<DenseBoolArrayAttr>("propagate_down");
    return !down || use.getOperandNumber() >= down.size();
  };
  const bool isPart =
      !needed.contains(value) && llvm::any_of(value.getUses(), addsNone);
  return isPart ? Value() : gradients.lookup(value);
}

/// A `bottom_diff` that the importer put on a bottom moves on to its gradient,
/// or goes where there is none.
void Backward::keepBottomGradients() {
  for (Operation *op : layers) {
    auto keep = dyn_cast<PinLayerValueOp>(op);
    if (!keep || keep.getWhat() != LayerValue::BottomDiff)
      continue;
    if (Value gradient = gradients.lookup(keep.getValue()))
      PinLayerValueOp::create(
          b, keep.getLoc(), unscaled(gradient, keep.getValue().getDefiningOp()),
          LayerValue::BottomDiff, keep.getLayer(), keep.getIndex());
    keep.erase();
  }
}

struct Differentiate : brew::passes::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (!program.getDifferentiate())
        continue;
      Backward backward(program, symbols, lossScale);
      if (failed(backward.run(
              SmallVector<std::string>(seeds.begin(), seeds.end()))))
        return signalPassFailure();
      backward.keepGradients(
          SmallVector<std::string>(keep.begin(), keep.end()));
      backward.keepBottomGradients();
    }
  }
};

} // namespace
