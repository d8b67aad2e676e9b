//===- FoldCoefficients.cpp - Coefficients of channels, computed once -----===//
//
// A nest that normalizes reads several numbers per channel (mean, deviation,
// scale, shift) for each element, more bytes than the element itself. If a
// value is a sum of elements times such numbers, this pass replaces the numbers
// by the coefficients of that sum, which a nest over the channels computes.
// FuseFinalReduction then moves that nest to the reductions of the statistics.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/fused/ChannelSums.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

#include "llvm/ADT/MapVector.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDCOEFFICIENTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::passes::ChannelSums;
using brew::passes::Coefficients;
using Id = Coefficients::Id;

namespace {

/// Folds the coefficients of one program.
class CoefficientFolder {
public:
  explicit CoefficientFolder(MLIRContext *context) : rewriter(context) {}

  void fold(linalg::GenericOp nest) {
    ChannelSums body(nest, coefficients);
    if (!body.analyse())
      return;
    // Compute coefficients as early as possible, for the nests that follow.
    llvm::MapVector<Operation *, SmallVector<Id>> missing;
    for (Id id : body.neededIds())
      if (!tensorOf(id))
        missing[lastInput(id)].push_back(id);
    for (const auto &[position, ids] : missing)
      compute(position, ids);
    SmallVector<Value> tensors;
    for (Id id : body.neededIds())
      tensors.push_back(tensorOf(id));
    body.rebuild(rewriter, tensors);
  }

private:
  /// Returns the tensor of a coefficient; null if it has none yet.
  Value tensorOf(Id id) const {
    Value tensor = coefficients.tensorOf(id);
    return tensor ? tensor : computed.lookup(id);
  }

  /// Returns the operation after which all tensors of a coefficient exist.
  Operation *lastInput(Id id) const {
    Operation *last = nullptr;
    for (Value tensor : tensorsOf(id))
      if (Operation *op = tensor.getDefiningOp();
          !last || last->isBeforeInBlock(op))
        last = op;
    return last;
  }

  SmallVector<Value> tensorsOf(Id id) const {
    SmallVector<Value> tensors;
    coefficients.collectTensors(id, tensors);
    return tensors;
  }

  /// Creates a nest after `position` that computes coefficients.
  void compute(Operation *position, ArrayRef<Id> ids) {
    llvm::SetVector<Value> inputs;
    for (Id id : ids)
      inputs.insert_range(tensorsOf(id));
    rewriter.setInsertionPointAfter(position);
    const auto type = cast<RankedTensorType>(inputs.front().getType());
    Operation *source = nullptr;
    for (Value input : inputs)
      if (auto nest = input.getDefiningOp<linalg::GenericOp>();
          nest && (!source || source->isBeforeInBlock(nest)))
        source = nest;
    if (!source)
      source = position;
    const Location loc = source->getLoc();
    SmallVector<Value> inits(
        ids.size(), tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                            type.getElementType()));
    SmallVector<AffineMap> maps(inputs.size() + ids.size(),
                                rewriter.getMultiDimIdentityMap(1));
    auto nest = linalg::GenericOp::create(
        rewriter, loc, SmallVector<Type>(ids.size(), type),
        inputs.getArrayRef(), inits, maps,
        ArrayRef(utils::IteratorType::parallel),
        [&](OpBuilder &b, Location, ValueRange values) {
          llvm::DenseMap<Value, Value> elements;
          for (auto [input, value] : llvm::zip(inputs, values))
            elements[input] = value;
          SmallVector<Value> results;
          for (Id id : ids)
            results.push_back(coefficients.build(b, loc, type.getElementType(),
                                                 id, elements));
          linalg::YieldOp::create(b, loc, results);
        });
    DominanceInfo dominance(nest);
    eliminateCommonSubExpressions(rewriter, dominance, nest);
    Origin::of(source).mark(nest);
    for (auto [id, result] : llvm::zip(ids, nest->getResults()))
      computed[id] = result;
  }

  IRRewriter rewriter;
  Coefficients coefficients;
  llvm::DenseMap<Id, Value> computed;
};

struct FoldCoefficients
    : brew::passes::impl::FoldCoefficientsBase<FoldCoefficients> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (!brew::dialects::target::isForGpu(program))
      return;
    CoefficientFolder folder(&getContext());
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (linalg::GenericOp nest : nests)
      folder.fold(nest);
  }
};

} // namespace
