//===- LowerPrecision.cpp - Activations in 16 bits ------------------------===//
//
// Every activation and gradient of one gets a cast to the narrow type behind
// what computes it, and its users read that through a cast back: layers go on
// computing in f32, and casts that nothing separates from a nest become part of
// it (brew-fold-casts). What only moves elements moves narrow ones. Products
// take narrow operands themselves, where the target's calls can; where they
// cannot, their operands are rounded all the same.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/Epilogue.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
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
  /// `calls`: the library's products take narrow operands.
  Narrowing(ProgramOp program, FloatType narrow,
            brew::dialects::target::LibraryAttr library, bool calls)
      : program(program), narrow(narrow), library(library), calls(calls),
        exact(brew::passes::findExactValues(program)) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : program.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops)
      visit(op);
    gatherParameterCasts();
    delayGradientCasts();
    delayWeightGradients();
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
      if (isa<CastOp>(op) && op.use_empty())
        op.erase();
  }

private:
  void visit(Operation *op) {
    if (isa<LibraryInterface>(op))
      return visitProduct(op);
    if (brew::passes::movesElements(op)) {
      if (llvm::any_of(op->getOperands(), [&](Value operand) {
            auto cast = operand.getDefiningOp<CastOp>();
            return cast && elementTypeOf(cast.getX()) == narrow;
          }))
        narrowMove(op);
      return;
    }
    for (OpResult result : op->getResults())
      if (!exact.contains(result) && brew::passes::isNarrowResult(result))
        narrowResult(result);
  }

  /// Rounds what `op` computes; everything behind it reads the rounded value.
  void narrowResult(OpResult result) {
    OpBuilder b(result.getOwner());
    b.setInsertionPointAfter(result.getOwner());
    CastOp rounded = cast(b, result.getOwner(), result, narrow);
    CastOp wide = cast(b, result.getOwner(), rounded, b.getF32Type());
    result.replaceAllUsesExcept(wide, rounded);
  }

  /// Makes a result narrow by itself.
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
      Value form = narrowForm(operand.get(), op);
      if (!calls) {
        Value &wide = widened[form];
        if (!wide) {
          OpBuilder b(op);
          b.setInsertionPointAfterValue(form);
          wide = cast(b, op, form, b.getF32Type());
        }
        form = wide;
      }
      operand.set(form);
    }
    if (auto weights = dyn_cast<ConvolutionBackwardWeightsOp>(op))
      if (calls)
        op = splitBias(weights);
    // A product's own sums are f32, and libraries can give them as such.
    if (isa<InnerProductBackwardWeightsOp>(op) ||
        (isa<ConvolutionBackwardWeightsOp>(op) && library.getF32WeightGradients()))
      return;
    for (OpResult result : op->getResults()) {
      if (calls)
        retypeResult(result);
      else if (!exact.contains(result) && brew::passes::isNarrowResult(result))
        narrowResult(result);
    }
  }

  /// The sum over a convolution's narrow gradient needs f32 for its result,
  /// which no call gives: a nest computes it.
  Operation *splitBias(ConvolutionBackwardWeightsOp op) {
    if (!op.getDb())
      return op;
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    CastOp wide = cast(b, op, op.getDy(), b.getF32Type());
    // Channels stand before what the kernel moves over.
    const auto output = static_cast<int64_t>(shapeOf(op.getDy()).size() - 1 -
                                             op.getKernel().size());
    Value sum =
        buildBiasGradient(b, op.getLoc(), wide, output, tensorTypeOf(op.getDb()));
    Origin::of(op).mark(sum.getDefiningOp());
    return brew::passes::splitBiasGradient(op, sum);
  }

  /// Parameters side by side, of which each is rounded where it belongs.
  static bool joinsParameters(ConcatViewOp join) {
    return llvm::all_of(join.getXs(), [](Value part) {
      return part.getDefiningOp<ParamValueOp>() != nullptr;
    });
  }

  /// The narrow form of a value that `user` reads.
  Value narrowForm(Value value, Operation *user) {
    if (elementTypeOf(value) == narrow)
      return value;
    if (auto known = value.getDefiningOp<CastOp>())
      if (elementTypeOf(known.getX()) == narrow)
        return known.getX();
    Value &form = narrowed[value];
    if (form)
      return form;
    OpBuilder b(user);
    b.setInsertionPointAfterValue(value);
    auto type = withElement(tensorTypeOf(value), narrow);
    if (auto join = value.getDefiningOp<ConcatViewOp>();
        join && joinsParameters(join)) {
      SmallVector<Value> parts;
      for (Value part : join.getXs())
        parts.push_back(narrowForm(part, join));
      auto joined = ConcatViewOp::create(b, join.getLoc(), type, parts,
                                   join.getLayerAttr(), join.getAxisAttr());
      Origin::of(join).mark(joined);
      // The map has grown.
      return narrowed[value] = joined;
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
    // A view is of no layer; what it is a view of is.
    if (Operation *made = brew::passes::stripReshapes(x).getDefiningOp();
        made && !origin.layer)
      origin.layer = Origin::of(made).layer;
    if (!origin.layer)
      origin.layer = b.getStringAttr("");
    auto cast =
        CastOp::create(b, reason->getLoc(), withElement(tensorTypeOf(x), element),
                       x, origin.layer);
    // A parameter's copy belongs to the forward pass even where only the
    // backward pass reads it.
    origin.isBackward &= !x.getDefiningOp<ParamValueOp>();
    origin.mark(cast);
    return cast;
  }

  /// Copies of parameters stand side by side, so that one kernel makes them.
  void gatherParameterCasts() {
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

  /// Gradients by weights become f32 where they are stored, behind everything
  /// else, for the same reason.
  void delayGradientCasts() {
    for (auto product :
         program.getBody().front().getOps<ConvolutionBackwardWeightsOp>()) {
      Value dw = product.getDw();
      if (elementTypeOf(dw) != narrow)
        continue;
      // Of joined convolutions each has its part.
      for (Operation *user : llvm::to_vector(dw.getUsers()))
        if (auto part = dyn_cast<SubviewOp>(user); part && part.getY().hasOneUse())
          delay(*part.getY().user_begin());
        else if (dw.hasOneUse())
          delay(user);
    }
  }

  static void delay(Operation *cast) {
    Operation *first = nullptr;
    for (Operation *user : cast->getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    if (first && first->getBlock() == cast->getBlock())
      cast->moveBefore(first);
  }

  /// The product by the data reads a copy of the weights, which can lie in the
  /// place of their gradient if that comes later.
  void delayWeightGradients() {
    for (auto data : llvm::make_early_inc_range(
             program.getBody().front().getOps<InnerProductBackwardDataOp>())) {
      Operation *weights = nullptr;
      for (Operation *user : data.getDy().getUsers())
        if (auto product = dyn_cast<InnerProductBackwardWeightsOp>(user);
            product && product.getLayerAttr() == data.getLayerAttr())
          weights = product;
      if (weights && weights->isBeforeInBlock(data) &&
          llvm::none_of(weights->getUsers(), [&](Operation *user) {
            return user->isBeforeInBlock(data);
          }))
        weights->moveAfter(data);
    }
  }

  ProgramOp program;
  FloatType narrow;
  brew::dialects::target::LibraryAttr library;
  bool calls;
  llvm::DenseSet<Value> exact;
  llvm::DenseMap<Value, Value> narrowed, widened;
};

struct LowerPrecision : brew::passes::impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    Builder b(&getContext());
    const FloatType narrow = type == Precision::BF16
                                 ? FloatType(b.getBF16Type())
                                 : FloatType(b.getF16Type());
    for (auto param : getOperation().getOps<ParamOp>())
      if (!cast<ShapedType>(param.getType()).getElementType().isF32()) {
        param.emitError() << "only f32 nets can be computed in "
                          << brew::dialects::target::stringifyPrecision(type);
        return signalPassFailure();
      }
    const auto library = brew::dialects::target::libraryOf(getOperation());
    const bool calls = library.isFasterIn(type);
    for (auto program : getOperation().getOps<ProgramOp>())
      // Programs without layers compute with parameters and what belongs to
      // them, which stay f32.
      if (!program.getBody().front().getOps<ShapeInterface>().empty())
        Narrowing(program, narrow, library, calls).run();
  }
};

} // namespace
