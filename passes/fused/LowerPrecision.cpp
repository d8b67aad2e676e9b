//===- LowerPrecision.cpp - Activations in 16 bits ------------------------===//
//
// Every activation, and every gradient of one, is cast to the narrow type after
// its producer, and its users read it through a cast back to f32: layers still
// compute in f32, and brew-fold-casts merges casts into adjacent nests.
// Operations that only move elements move narrow ones. Products take narrow
// operands if the target's calls support them; otherwise their operands are
// still rounded.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/PrecisionInterface.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/Epilogue.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/fused/PrecisionRules.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace brew::passes {
#define GEN_PASS_DEF_LOWERPRECISION
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::target::Precision;

namespace {

RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

/// Rewrites one program.
class Narrowing {
public:
  /// `hasNarrowCalls` is whether the library's products take narrow operands.
  Narrowing(ProgramOp program, FloatType narrow,
            brew::dialects::target::LibraryAttr library, bool hasNarrowCalls)
      : program(program), narrow(narrow), library(library),
        hasNarrowCalls(hasNarrowCalls),
        exactValues(brew::passes::findExactValues(program)) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : program.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops)
      visit(op);
    groupParameterCasts();
    deferGradientCasts();
    deferWeightGradients();
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
      if (isa<CastOp>(op) && op.use_empty())
        op.erase();
  }

private:
  void visit(Operation *op) {
    if (isa<LibraryInterface>(op))
      return visitProduct(op);
    if (auto loop = dyn_cast<LoopInterface>(op))
      return visitLoop(loop);
    if (brew::passes::movesElements(op)) {
      if (llvm::any_of(op->getOperands(), [&](Value operand) {
            auto cast = operand.getDefiningOp<CastOp>();
            return cast && elementTypeOf(cast.getX()) == narrow;
          }))
        narrowMove(op);
      return;
    }
    for (OpResult result : op->getResults())
      if (!exactValues.contains(result) && brew::passes::isNarrowResult(result))
        narrowResult(result);
  }

  /// Rounds a result; all its users read the rounded value.
  void narrowResult(OpResult result) {
    OpBuilder b(result.getOwner());
    b.setInsertionPointAfter(result.getOwner());
    CastOp rounded = cast(b, result.getOwner(), result, narrow);
    CastOp wide = cast(b, result.getOwner(), rounded, b.getF32Type());
    result.replaceAllUsesExcept(wide, rounded);
  }

  /// Makes the producer itself return a narrow result.
  void retypeResult(OpResult result) {
    result.setType(withElement(tensorTypeOf(result), narrow));
    OpBuilder b(result.getOwner());
    b.setInsertionPointAfter(result.getOwner());
    CastOp wide = cast(b, result.getOwner(), result, b.getF32Type());
    result.replaceAllUsesExcept(wide, wide);
  }

  void narrowMove(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (brew::passes::isMoved(operand))
        operand.set(narrowForm(operand.get(), op));
    for (OpResult result : op->getResults())
      retypeResult(result);
  }

  void visitProduct(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      operand.set(hasNarrowCalls ? narrowForm(operand.get(), op)
                                 : roundedForm(operand.get(), op));
    }
    if (auto weights = dyn_cast<ConvolutionBackwardWeightsOp>(op))
      if (hasNarrowCalls)
        op = splitBias(weights);
    // Products accumulate in f32, and libraries can return that.
    if (isa<InnerProductBackwardWeightsOp>(op) ||
        (isa<ConvolutionBackwardWeightsOp>(op) &&
         library.getF32WeightGradients()))
      return;
    for (OpResult result : op->getResults()) {
      if (hasNarrowCalls)
        retypeResult(result);
      else if (!exactValues.contains(result) &&
               brew::passes::isNarrowResult(result))
        narrowResult(result);
    }
  }

  /// Makes the operands and results narrow that the products of the loop
  /// access, or only rounds them.
  void visitLoop(LoopInterface loop) {
    auto rule = llvm::cast<PrecisionInterface>(loop.getOperation());
    for (OpOperand &operand : loop->getOpOperands())
      if (!rule.mustStayExact(operand.getOperandNumber()))
        operand.set(hasNarrowCalls ? narrowForm(operand.get(), loop)
                                   : roundedForm(operand.get(), loop));
    if (!hasNarrowCalls)
      loop.setRounded(narrow);
    for (OpResult result : loop->getResults()) {
      if (rule.staysF32(result.getResultNumber()))
        continue;
      if (hasNarrowCalls)
        retypeResult(result);
      else if (!exactValues.contains(result) &&
               brew::passes::isNarrowResult(result))
        narrowResult(result);
    }
  }

  /// Splits off the bias gradient into a nest: it must be f32, which no call
  /// returns for narrow operands.
  Operation *splitBias(ConvolutionBackwardWeightsOp op) {
    if (!op.getDb())
      return op;
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    CastOp wide = cast(b, op, op.getDy(), b.getF32Type());
    // Channels come before the spatial dimensions.
    const auto output = static_cast<int64_t>(shapeOf(op.getDy()).size() - 1 -
                                             op.getKernel().size());
    Value sum = buildBiasGradient(b, op.getLoc(), wide, output,
                                  tensorTypeOf(op.getDb()));
    Origin::of(op).mark(sum.getDefiningOp());
    return brew::passes::splitBiasGradient(op, sum);
  }

  /// Returns the f32 form of a value that `user` reads, rounded to the narrow
  /// type.
  Value roundedForm(Value value, Operation *user) {
    Value form = narrowForm(value, user);
    Value &wide = widened[form];
    if (!wide) {
      OpBuilder b(user);
      b.setInsertionPointAfterValue(form);
      wide = cast(b, user, form, b.getF32Type());
    }
    return wide;
  }

  /// Returns whether all operands are parameters, which are rounded one by one.
  static bool concatenatesParameters(ConcatViewOp concat) {
    return llvm::all_of(concat.getXs(), [](Value operand) {
      return operand.getDefiningOp<ParamValueOp>() != nullptr;
    });
  }

  /// Returns the narrow form of a value that `user` reads.
  Value narrowForm(Value value, Operation *user) {
    if (elementTypeOf(value) == narrow)
      return value;
    if (auto cast = value.getDefiningOp<CastOp>())
      if (elementTypeOf(cast.getX()) == narrow)
        return cast.getX();
    Value &form = narrowed[value];
    if (form)
      return form;
    OpBuilder b(user);
    b.setInsertionPointAfterValue(value);
    auto type = withElement(tensorTypeOf(value), narrow);
    if (auto concat = value.getDefiningOp<ConcatViewOp>();
        concat && concatenatesParameters(concat)) {
      SmallVector<Value> operands;
      for (Value operand : concat.getXs())
        operands.push_back(narrowForm(operand, concat));
      auto narrowConcat =
          ConcatViewOp::create(b, concat.getLoc(), type, operands,
                               concat.getLayerAttr(), concat.getAxisAttr());
      Origin::of(concat).mark(narrowConcat);
      // The recursion may have invalidated `form`.
      return narrowed[value] = narrowConcat;
    }
    if (auto fill = value.getDefiningOp<FillOp>()) {
      form = FillOp::create(b, fill.getLoc(), type, fill.getValueAttr());
      Origin::of(fill).mark(form.getDefiningOp());
    } else {
      form = cast(b, user, value, narrow);
    }
    return form;
  }

  CastOp cast(OpBuilder &b, Operation *reason, Value x, Type element) {
    Origin origin = Origin::of(reason);
    // A view has no layer; use the viewed value's.
    if (Operation *producer = brew::passes::stripReshapes(x).getDefiningOp();
        producer && !origin.layer)
      origin.layer = Origin::of(producer).layer;
    if (!origin.layer)
      origin.layer = b.getStringAttr("");
    auto cast =
        CastOp::create(b, reason->getLoc(),
                       withElement(tensorTypeOf(x), element), x, origin.layer);
    // A parameter's copy belongs to the forward pass even if only the backward
    // pass reads it.
    origin.isBackward &= !x.getDefiningOp<ParamValueOp>();
    origin.mark(cast);
    return cast;
  }

  /// Moves casts of parameters together, so that one kernel computes them.
  void groupParameterCasts() {
    Block &block = program.getBody().front();
    SmallVector<Operation *> reads, casts;
    for (auto cast : block.getOps<CastOp>())
      if (auto read = cast.getX().getDefiningOp<ParamValueOp>()) {
        reads.push_back(read);
        casts.push_back(cast);
      }
    Operation *last = nullptr;
    for (Operation *op : llvm::concat<Operation *>(reads, casts)) {
      if (last)
        op->moveAfter(last);
      else
        op->moveBefore(&block, block.begin());
      last = op;
    }
  }

  /// Moves casts of weight gradients to their stores at the end, so that one
  /// kernel computes them.
  void deferGradientCasts() {
    for (auto product :
         program.getBody().front().getOps<ConvolutionBackwardWeightsOp>()) {
      Value dw = product.getDw();
      if (elementTypeOf(dw) != narrow)
        continue;
      // Fused convolutions have one slice per layer.
      for (Operation *user : llvm::to_vector(dw.getUsers()))
        if (auto slice = dyn_cast<SubviewOp>(user);
            slice && slice.getY().hasOneUse())
          moveToUser(*slice.getY().user_begin());
        else if (dw.hasOneUse())
          moveToUser(user);
    }
  }

  static void moveToUser(Operation *cast) {
    Operation *first = nullptr;
    for (Operation *user : cast->getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    if (first && first->getBlock() == cast->getBlock())
      cast->moveBefore(first);
  }

  /// Moves weight gradients after data gradients. The latter read a copy of the
  /// weights, which can then use the memory of the weight gradient.
  void deferWeightGradients() {
    for (auto backwardData : llvm::make_early_inc_range(
             program.getBody().front().getOps<InnerProductBackwardDataOp>())) {
      Operation *weights = nullptr;
      for (Operation *user : backwardData.getDy().getUsers())
        if (auto product = dyn_cast<InnerProductBackwardWeightsOp>(user);
            product && product.getLayerAttr() == backwardData.getLayerAttr())
          weights = product;
      if (weights && weights->isBeforeInBlock(backwardData) &&
          llvm::none_of(weights->getUsers(), [&](Operation *user) {
            return user->isBeforeInBlock(backwardData);
          }))
        weights->moveAfter(backwardData);
    }
  }

  ProgramOp program;
  FloatType narrow;
  brew::dialects::target::LibraryAttr library;
  bool hasNarrowCalls;
  llvm::DenseSet<Value> exactValues;
  llvm::DenseMap<Value, Value> narrowed, widened;
};

struct LowerPrecision : brew::passes::impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    Builder b(&getContext());
    const FloatType narrow = type == Precision::BF16
                                 ? FloatType(b.getBF16Type())
                                 : FloatType(b.getF16Type());
    ProgramOp program = getOperation();
    for (auto param : program.getOps<ParamValueOp>())
      if (!cast<ShapedType>(param.getType()).getElementType().isF32()) {
        param.emitError() << "only f32 nets can be computed in "
                          << brew::dialects::target::stringifyPrecision(type);
        return signalPassFailure();
      }
    const auto library = brew::dialects::target::libraryOf(getOperation());
    const bool hasNarrowCalls = library.isFasterIn(type);
    // Programs without layers compute on parameters, gradients and solver
    // state, which stay f32.
    if (!program.getBody().front().getOps<ShapeInterface>().empty())
      Narrowing(program, narrow, library, hasNarrowCalls).run();
  }
};

} // namespace
