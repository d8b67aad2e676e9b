//===- VerifyPhases.cpp - What each phase of the brew dialect promises ----===//
#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace brew::passes {
#define GEN_PASS_DEF_VERIFYIMPORT
#define GEN_PASS_DEF_VERIFYGRAPH
#define GEN_PASS_DEF_VERIFYFUSED
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// What is at the edges of a program in every phase.
bool isEdge(Operation *op) {
  return op->hasTrait<IsPersistentRead>() || op->hasTrait<IsSink>() ||
         isa<DataInputOp, OutputGradientOp>(op);
}

/// The parameter that an operation reads or stores, if it does.
FlatSymbolRefAttr paramOf(Operation *op) {
  return op->hasTrait<IsPersistentRead>() || op->hasTrait<IsSink>()
             ? op->getAttrOfType<FlatSymbolRefAttr>("param")
             : FlatSymbolRefAttr();
}

struct VerifyImport : brew::passes::impl::VerifyImportBase<VerifyImport> {
  LogicalResult check(Operation *op, const SymbolTable &symbols) {
    if (!isa<ShapeInterface>(op) && !isEdge(op))
      return op->emitError("phase import: this operation is no layer");
    if (Origin::of(op).isBackward || isa<StoreGradientOp>(op))
      return op->emitError("phase import: there are no gradients yet");
    if (!llvm::all_of(op->getResultTypes(), llvm::IsaPred<UnrankedTensorType>))
      return op->emitError("phase import: shapes are not known yet");
    if (!prototxtLocation(op->getLoc()))
      return op->emitError("phase import: this operation has no location in a "
                           "prototxt");
    if (auto param = paramOf(op);
        param && !symbols.lookup<ParamOp>(param.getAttr()))
      return op->emitError("phase import: there is no parameter ") << param;
    return success();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (failed(check(&op, symbols)))
          return signalPassFailure();
  }
};

struct VerifyGraph : brew::passes::impl::VerifyGraphBase<VerifyGraph> {
  /// What learns has a gradient in programs that learn, and where there is an
  /// update, what has a gradient has one.
  LogicalResult checkLearning() {
    SymbolTable symbols(getOperation());
    bool hasUpdate = false;
    llvm::DenseSet<StringAttr> updated;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getRole() != ProgramRole::Update)
        continue;
      hasUpdate = true;
      program.walk([&](StoreParamOp store) {
        updated.insert(store.getParamAttr().getAttr());
      });
    }
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (!program.getDifferentiate())
        continue;
      llvm::DenseSet<StringAttr> stored;
      program.walk([&](StoreGradientOp store) {
        stored.insert(store.getParamAttr().getAttr());
      });
      for (auto read : program.getOps<ParamValueOp>()) {
        StringAttr name = read.getParamAttr().getAttr();
        auto param = symbols.lookup<ParamOp>(name);
        if (!param)
          return read.emitError("phase graph: there is no parameter ")
                 << read.getParamAttr();
        if (!param.getLrMult().isZero() && !stored.contains(name))
          return read.emitError("phase graph: parameter ")
                 << read.getParamAttr() << " learns, and has no gradient";
        if (hasUpdate && stored.contains(name) && !updated.contains(name))
          return read.emitError("phase graph: parameter ")
                 << read.getParamAttr() << " has a gradient, and no update";
      }
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(checkLearning()))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (isa<SplitOp, LSTMOp, RNNOp>(op)) {
        op->emitError("phase graph: this layer should have been replaced");
        return WalkResult::interrupt();
      }
      for (Type type : op->getResultTypes())
        if (auto shaped = dyn_cast<ShapedType>(type))
          if (!shaped.hasRank() || !shaped.hasStaticShape()) {
            op->emitError("phase graph: a value has no static shape");
            return WalkResult::interrupt();
          }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

/// What is joined and cut shares the whole's memory, and nothing that does not
/// follow strides reads or writes a subview.
LogicalResult checkSubviews(Operation *op) {
  auto check = [&](Value subview, Value whole) -> LogicalResult {
    if (subview.getType() == subviewOf(tensorTypeOf(whole), shapeOf(subview)))
      return success();
    return op->emitError("phase fused: a subview does not have the strides of "
                         "the whole");
  };
  if (auto cut = dyn_cast<SubviewOp>(op))
    return check(cut.getY(), cut.getX());
  if (auto join = dyn_cast<ConcatViewOp>(op)) {
    for (Value x : join.getXs())
      if (failed(check(x, join.getY())))
        return failure();
    return success();
  }
  if (op->hasTrait<AcceptsSubviews>())
    return success();
  auto isTaken = [](Value value, auto takes) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || !isSubview(type) ||
           takes(type, brew::passes::storageOf(value).offset);
  };
  bool follows = true;
  for (OpOperand &use : op->getOpOperands())
    follows &= isTaken(use.get(), [&](RankedTensorType type, int64_t offset) {
      return brew::passes::readsSliceInPlace(use, type, offset);
    });
  for (Value result : op->getResults())
    follows &= isTaken(result, [&](RankedTensorType type, int64_t offset) {
      return brew::passes::writesSliceInPlace(result, type, offset);
    });
  if (follows)
    return success();
  return op->emitError("phase fused: this operation does not follow the "
                       "strides of a subview");
}

/// Whether `value`, of a program or of a kernel in it, is or holds a gradient:
/// the backward pass has made it.
bool isOfBackwardPass(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    return kernel &&
           isOfBackwardPass(kernel.getInputs()[argument.getArgNumber()]);
  }
  Operation *op = value.getDefiningOp();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return isOfBackwardPass(
        kernel.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber()));
  return Origin::of(op).isBackward ||
         (op->hasTrait<IsView>() &&
          llvm::any_of(op->getOperands(), isOfBackwardPass));
}

/// Whether a program computes layers; others compute with parameters and what
/// belongs to them.
bool hasLayers(ProgramRole role) {
  switch (role) {
  case ProgramRole::Main:
  case ProgramRole::ForwardBackward:
  case ProgramRole::Test:
  case ProgramRole::Deploy:
  case ProgramRole::Prepare:
    return true;
  case ProgramRole::Update:
  case ProgramRole::Accumulate:
  case ProgramRole::Collect:
  case ProgramRole::Clip:
  case ProgramRole::Reduce:
    return false;
  }
  llvm_unreachable("a program without a role");
}

/// What passes have made of layers still says which, and what reads gradients
/// that it computes gradients.
LogicalResult checkOrigin(linalg::GenericOp nest) {
  const Origin origin = Origin::of(nest);
  auto program = nest->getParentOfType<ProgramOp>();
  if (!origin.layer && hasLayers(program.getRole()))
    return nest.emitError("phase fused: this nest names no layer");
  bool readsGradient = false;
  nest->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      readsGradient |= operand.getParentBlock() == nest->getBlock() &&
                       isOfBackwardPass(operand);
  });
  if (readsGradient && !origin.isBackward)
    return nest.emitError("phase fused: this nest reads a gradient and does "
                          "not belong to the backward pass");
  return success();
}

/// The operation itself verifies how its nests make parts.
LogicalResult checkKernel(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp,
             arith::ConstantOp, FillOp, YieldOp>(op))
      return op.emitError("phase fused: this operation has no place in a "
                          "kernel");
    if (auto nest = dyn_cast<linalg::GenericOp>(op);
        nest && failed(checkOrigin(nest)))
      return failure();
  }
  return success();
}

struct VerifyFused : brew::passes::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      bool ends = false;
      for (Operation &op : program.getBody().front()) {
        if (isa<KernelOp, PlanStepInterface>(op) && ends) {
          op.emitError("phase fused: a step stands behind what stores or keeps "
                       "values");
          return signalPassFailure();
        }
        // The caller looks at what forward left before it writes the seeds.
        ends = !isa<OutputGradientOp>(op) && (ends || op.hasTrait<IsSink>());
        if (auto kernel = dyn_cast<KernelOp>(op);
            kernel && failed(checkKernel(kernel)))
          return signalPassFailure();
        if (!isa<KernelOp, PlanStepInterface>(op) && !op.hasTrait<IsView>() &&
            !isEdge(&op)) {
          op.emitError("phase fused: this operation is neither a vendor call "
                       "nor part of a kernel");
          return signalPassFailure();
        }
        if (failed(checkSubviews(&op)))
          return signalPassFailure();
      }
    }
  }
};

} // namespace
