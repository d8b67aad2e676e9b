//===- PackSignMasks.cpp - Packed sign bits for the backward pass ---------===//
//
// The backward pass can derive the mask of a ReLU after the sum of a residual
// block only from the large sum. The nest that computes the sum also stores one
// bit per element, and nests that only test whether the value is positive read
// the bits: a sixteenth of the bytes or less.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"
#include "dialects/SubviewType.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {
#define GEN_PASS_DEF_PACKSIGNMASKS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Bits that a thread writes at once.
constexpr int64_t kBitsPerWrite = 8;
/// Minimal number of elements for which an additional tensor pays off.
constexpr int64_t kMinElements = 4096;

/// Returns the comparisons with zero that use an input, if it has no other
/// uses; otherwise an empty list.
SmallVector<arith::CmpFOp> signComparisonsOf(Value input) {
  SmallVector<arith::CmpFOp> compares;
  SmallVector<Value> values = {input};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (auto wide = dyn_cast<arith::ExtFOp>(user)) {
        values.push_back(wide);
        continue;
      }
      auto compare = dyn_cast<arith::CmpFOp>(user);
      if (!compare || compare.getPredicate() != arith::CmpFPredicate::OGT ||
          !matchPattern(compare.getRhs(), m_AnyZeroFloat()))
        return {};
      compares.push_back(compare);
    }
  return compares;
}

/// Returns the elementwise nest that produces `value`, if the innermost
/// dimension fills full bytes of bits; otherwise null.
linalg::GenericOp producerOf(Value value) {
  auto nest = value.getDefiningOp<linalg::GenericOp>();
  RankedTensorType type = tensorTypeOf(value);
  if (!nest || nest.getNumReductionLoops() > 0 || isSubview(type) ||
      !isa<FloatType>(type.getElementType()) ||
      !nest.getMatchingIndexingMap(
               nest.getDpsInitOperand(cast<OpResult>(value).getResultNumber()))
           .isPermutation())
    return {};
  SmallVector<int64_t> order = memoryOrder(type);
  return !order.empty() && type.getDimSize(order.back()) % kBitsPerWrite == 0
             ? nest
             : linalg::GenericOp();
}

class SignWriter {
public:
  explicit SignWriter(MLIRContext *context) : rewriter(context) {}

  /// Lets `uses`, which only test signs, read bits. Returns the nest that
  /// produces value and bits.
  Operation *packSigns(OpResult value, ArrayRef<OpOperand *> uses) {
    Value bits = addBits(value);
    for (OpOperand *use : uses)
      readBits(*use, bits);
    return bits.getDefiningOp();
  }

private:
  /// Replaces the producer of `value` by a nest that also returns its signs, as
  /// the last result. Returns the signs.
  Value addBits(OpResult value) {
    auto nest = cast<linalg::GenericOp>(value.getOwner());
    const unsigned resultNumber = value.getResultNumber();
    auto type = tensorTypeOf(value);
    rewriter.setInsertionPoint(nest);
    auto bitsType = RankedTensorType::get(type.getShape(), rewriter.getI1Type(),
                                          type.getEncoding());
    SmallVector<Value> inits(nest.getDpsInits());
    inits.push_back(
        tensor::EmptyOp::create(rewriter, nest.getLoc(), type.getShape(),
                                rewriter.getI1Type(), type.getEncoding()));
    SmallVector<Type> types(nest->getResultTypes());
    types.push_back(bitsType);
    SmallVector<AffineMap> maps = nest.getIndexingMapsArray();
    maps.push_back(
        nest.getMatchingIndexingMap(nest.getDpsInitOperand(resultNumber)));
    auto withBits = linalg::GenericOp::create(rewriter, nest.getLoc(), types,
                                              nest.getInputs(), inits, maps,
                                              nest.getIteratorTypesArray());
    IRMapping map;
    nest.getRegion().cloneInto(&withBits.getRegion(), map);
    Block *body = withBits.getBody();
    body->addArgument(rewriter.getI1Type(), nest.getLoc());
    Operation *yield = body->getTerminator();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(yield);
    // Take the sign of the stored, rounded value.
    Value stored = yield->getOperand(resultNumber);
    if (!stored.getType().isF32() && !stored.getType().isF64())
      stored = arith::ExtFOp::create(rewriter, nest.getLoc(),
                                     rewriter.getF32Type(), stored);
    Value zero = arith::ConstantOp::create(
        rewriter, nest.getLoc(), rewriter.getFloatAttr(stored.getType(), 0));
    Value sign = arith::CmpFOp::create(rewriter, nest.getLoc(),
                                       arith::CmpFPredicate::OGT, stored, zero);
    yield->insertOperands(yield->getNumOperands(), sign);
    Origin::of(nest).mark(withBits);
    rewriter.replaceOp(nest, withBits->getResults().drop_back());
    return withBits->getResults().back();
  }

  void readBits(OpOperand &use, Value bits) {
    auto nest = cast<linalg::GenericOp>(use.getOwner());
    BlockArgument input = nest.getMatchingBlockArgument(&use);
    for (arith::CmpFOp compare : signComparisonsOf(input))
      rewriter.replaceOp(compare, input);
    SmallVector<Operation *> casts(input.getUsers());
    for (Operation *cast : casts)
      if (isa<arith::ExtFOp>(cast) && cast->use_empty())
        rewriter.eraseOp(cast);
    input.setType(rewriter.getI1Type());
    rewriter.modifyOpInPlace(nest, [&] { use.set(bits); });
  }

  IRRewriter rewriter;
};

struct PackSignMasks : brew::passes::impl::PackSignMasksBase<PackSignMasks> {
  void runOnOperation() override {
    if (!brew::dialects::target::isForGpu(getOperation()))
      return;
    SignWriter writer(&getContext());
    ProgramOp program = getOperation();
    // Iterate over the block, because nests are replaced.
    Block &block = program.getBody().front();
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;
         op = op->getNextNode())
      for (unsigned resultNumber = 0; resultNumber < op->getNumResults();
           ++resultNumber) {
        OpResult value = op->getResult(resultNumber);
        if (!isa<linalg::GenericOp>(op) ||
            tensorTypeOf(value).getNumElements() < kMinElements ||
            !producerOf(value))
          continue;
        SmallVector<OpOperand *> uses = usesOfSigns(value);
        if (uses.empty())
          continue;
        op = writer.packSigns(value, uses);
      }
  }

private:
  /// Returns the uses that read only the signs of `value`, from memory.
  static SmallVector<OpOperand *> usesOfSigns(OpResult value) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses()) {
      auto nest = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (nest && nest.isDpsInput(&use) &&
          !signComparisonsOf(nest.getMatchingBlockArgument(&use)).empty() &&
          // Nests of the same pass may share a kernel with the producer.
          Origin::of(nest).isBackward !=
              Origin::of(value.getOwner()).isBackward)
        uses.push_back(&use);
    }
    return uses;
  }
};

} // namespace
