//===- FuseWeightGradients.cpp - A weight's gradients as one product ------------===//
//
// The gradient of weights that several inner products share, as those of the
// time steps of an LSTM do, is a sum of products, each as large as the weights.
// It is also one product of the operands one below the other:
//
//   sum_t dy_t^T x_t  =  [dy_1; dy_2; ...]^T [x_1; x_2; ...]
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"
#include "passes/analysis/ElementwiseAdd.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEWEIGHTGRADIENTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

using Product = InnerProductBackwardWeightsOp;

/// Appends the terms of the sum `value` that nothing else reads, in the order
/// in which they are added.
void collectTerms(Value value, SmallVectorImpl<Value> &terms) {
  auto nest = value.getDefiningOp<linalg::GenericOp>();
  if (!nest || !value.hasOneUse() || !brew::passes::isElementwiseAdd(nest)) {
    terms.push_back(value);
    return;
  }
  for (Value input : nest.getInputs())
    collectTerms(input, terms);
}

/// The products that `nest` is the sum of, if it is one of nothing else, they
/// are alike, and one product is less work for memory; else none.
SmallVector<Product> productsOf(linalg::GenericOp nest) {
  SmallVector<Value> terms;
  for (Value input : nest.getInputs())
    collectTerms(input, terms);
  SmallVector<Product> products;
  int64_t moved = 0;
  for (Value term : terms) {
    auto product = term.getDefiningOp<Product>();
    if (!product || !term.hasOneUse() || product.getDb() ||
        product.getAxis() == 0)
      return {};
    if (!products.empty()) {
      Product first = products.front();
      auto restOf = [](Value x) { return shapeOf(x).drop_front(); };
      if (product.getAxis() != first.getAxis() ||
          product.getTranspose() != first.getTranspose() ||
          restOf(product.getX()) != restOf(first.getX()) ||
          restOf(product.getDy()) != restOf(first.getDy()))
        return {};
    }
    products.push_back(product);
    moved += tensorTypeOf(product.getX()).getNumElements() +
             tensorTypeOf(product.getDy()).getNumElements();
  }
  // At worst all operands are copied; each sum reads two tensors of the
  // weights' size and writes one.
  const int64_t weights = tensorTypeOf(nest->getResult(0)).getNumElements();
  const auto sums = static_cast<int64_t>(products.size()) - 1;
  return 2 * moved <= 3 * weights * sums ? products : SmallVector<Product>();
}

Value join(OpBuilder &b, Product of, ArrayRef<Value> parts) {
  auto type = tensorTypeOf(parts.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 0;
  for (Value part : parts)
    shape[0] += shapeOf(part)[0];
  auto joined = ConcatViewOp::create(
      b, of.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      parts, of.getLayerAttr(), b.getI64IntegerAttr(0));
  Origin::of(of).mark(joined);
  return joined;
}

struct FuseWeightGradients : brew::passes::impl::FuseWeightGradientsBase<FuseWeightGradients> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      // The last sum first: it has all terms.
      SmallVector<linalg::GenericOp> nests(
          program.getBody().front().getOps<linalg::GenericOp>());
      llvm::SmallPtrSet<Operation *, 16> gone;
      for (linalg::GenericOp nest : llvm::reverse(nests))
        if (!gone.contains(nest) && brew::passes::isElementwiseAdd(nest))
          if (auto products = productsOf(nest); !products.empty())
            replace(nest, products, gone);
    }
  }

private:
  static void replace(linalg::GenericOp nest, MutableArrayRef<Product> products,
                      llvm::SmallPtrSetImpl<Operation *> &gone) {
    // The forward pass made them in the other order, and joins what it cuts
    // (the gates of all steps) in its own: that is then the same operation.
    llvm::sort(products,
               [](Product a, Product b) { return b->isBeforeInBlock(a); });
    SmallVector<Value> xs, dys;
    for (Product product : products) {
      xs.push_back(product.getX());
      dys.push_back(product.getDy());
    }
    OpBuilder b(nest);
    Product first = products.front();
    auto whole = Product::create(b, first.getLoc(), first.getDw().getType(),
                                 Type(), join(b, first, xs),
                                 join(b, first, dys), first.getLayerAttr(),
                                 first.getAxisAttr(), first.getTransposeAttr());
    Origin::of(first).mark(whole);
    nest->getResult(0).replaceAllUsesWith(whole.getDw());
    eraseSum(nest, gone);
  }

  /// Erases a sum and the sums and products that only it has read.
  static void eraseSum(Operation *op,
                       llvm::SmallPtrSetImpl<Operation *> &gone) {
    SmallVector<Value> inputs;
    if (auto nest = dyn_cast<linalg::GenericOp>(op))
      inputs = nest.getInputs();
    gone.insert(op);
    op->erase();
    for (Value input : inputs)
      eraseSum(input.getDefiningOp(), gone);
  }
};

} // namespace
