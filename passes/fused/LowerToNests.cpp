//===- LowerToNests.cpp - Lowering of layers to loop nests ----------------===//
#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/convolution/Epilogue.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/LibraryCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace brew::passes {
#define GEN_PASS_DEF_LOWERTONESTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct LowerToNests : brew::passes::impl::LowerToNestsBase<LowerToNests> {
  using LowerToNestsBase::LowerToNestsBase;

  /// Lets a nest write the constants that sinks and calls read, since these
  /// read from memory.
  static void materializeFills(ProgramOp program) {
    program.walk([](FillOp fill) {
      auto needsMemory = [](OpOperand &use) {
        return use.getOwner()->hasTrait<IsSink>() ||
               isa<PlanStepInterface, LoopInterface>(use.getOwner());
      };
      if (llvm::none_of(fill->getUses(), needsMemory))
        return;
      OpBuilder b(fill);
      auto type = tensorTypeOf(fill);
      NestBuilder nest(b, fill.getLoc(), type.getShape());
      nest.output(type, iota(type.getRank()));
      Value constantTensor =
          nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
            return {body.s.constant(type.getElementType(),
                                    fill.getValue().convertToDouble())};
          })[0];
      Origin::of(fill).mark(constantTensor.getDefiningOp());
      fill.getResult().replaceUsesWithIf(constantTensor, needsMemory);
    });
  }

  /// Marks the operations that replace `op` with its origin, for names and
  /// profiles. A builder listener would miss the sums of gradients before `op`,
  /// which belong to the layer too.
  static void markNests(Operation *op) {
    const Origin origin = Origin::of(op);
    for (Operation *nest = op->getPrevNode();
         nest && !Origin::of(nest).layer &&
         isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp,
             arith::ConstantOp, ReinterpretOp, FillOp, AllReduceStartOp,
             AllReduceWaitOp>(nest);
         nest = nest->getPrevNode())
      origin.mark(nest);
  }

  /// Computes the bias gradient in a nest; the call keeps the weight gradient.
  static void sumBias(ConvolutionBackwardWeightsOp op) {
    OpBuilder b(op);
    Value sum = buildBiasGradient(b, op.getLoc(), op.getDy(), /*output=*/1,
                                  tensorTypeOf(op.getDb()));
    markNests(op);
    brew::passes::splitBiasGradient(op, sum);
  }

  /// Erases dead operations: a layer may need only the shape of a bottom (the
  /// reference of a Crop).
  static void eraseUnused(ProgramOp program) {
    IRRewriter rewriter(program.getContext());
    (void)runRegionDCE(rewriter, program.getBody());
  }

  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    // From this number of elements of a gradient on, a separate kernel for the
    // bias gradient pays off, although it reads the gradient from memory again:
    // oneDNN sums at a fraction of the memory bandwidth, and cuDNN has only a
    // function of its deprecated interface for it.
    const int64_t minSeparateBiasElements =
        brew::dialects::target::libraryOf(getOperation()).getSlowBiasElements();
    ProgramOp program = getOperation();
    program.walk([&](LibraryInterface op) {
      if (!brew::passes::usesLibrary(op, disabled))
        brew::passes::computeInF32(op);
    });
    program.walk([&](ConvolutionBackwardWeightsOp op) {
      if (op.getDb() && brew::passes::usesLibrary(op, disabled) &&
          tensorTypeOf(op.getDy()).getNumElements() >= minSeparateBiasElements)
        sumBias(op);
    });
    SmallVector<Operation *> ops;
    for (Operation &op : program.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      // brew-fold-casts merges casts into nests later.
      if (brew::passes::usesLibrary(op, disabled) || isa<CastOp>(op))
        continue;
      OpBuilder b(op);
      SmallVector<Value> results;
      if (auto generic = dyn_cast<LoopNestInterface>(op))
        results = generic.buildNests(b);
      else if (auto scalar = dyn_cast<ScalarBodyInterface>(op))
        results = {buildElementwise(b, scalar)};
      else
        continue;
      for (auto [result, value] : llvm::zip(op->getResults(), results))
        if (value)
          result.replaceAllUsesWith(value);
      markNests(op);
      op->erase();
    }
    materializeFills(program);
    eraseUnused(program);
  }
};
} // namespace
