//===- FuseWeightGradients.cpp - Gradients of shared weights --------------===//
//
// The gradient of weights that several inner products share is a sum of
// products, each of the size of the weights. It equals one product of the
// concatenated operands:
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

/// Returns the terms of the sum `nest` in the order in which they are added, or
/// an empty list if one of them is no product. A term with another user is not
/// decomposed further. Looks at the terms that are added last first: the time
/// for a long chain of other sums is then not quadratic.
SmallVector<Product> termsOf(linalg::GenericOp nest) {
  SmallVector<Product> products;
  SmallVector<Value> pending(nest.getInputs());
  while (!pending.empty()) {
    const Value value = pending.pop_back_val();
    if (!value.hasOneUse())
      return {};
    if (auto product = value.getDefiningOp<Product>()) {
      products.push_back(product);
      continue;
    }
    auto sum = value.getDefiningOp<linalg::GenericOp>();
    if (!sum || !brew::passes::isElementwiseAdd(sum))
      return {};
    pending.append(sum.getInputs().begin(), sum.getInputs().end());
  }
  std::reverse(products.begin(), products.end());
  return products;
}

/// Returns the products whose sum `nest` computes, if they can be fused and one
/// product moves less memory; otherwise returns an empty list.
SmallVector<Product> productsOf(linalg::GenericOp nest) {
  const SmallVector<Product> products = termsOf(nest);
  if (products.empty())
    return {};
  Product first = products.front();
  int64_t operandElements = 0;
  for (Product product : products) {
    if (product.getDb() || product.getAxis() == 0)
      return {};
    if (product != first) {
      auto shapeWithoutBatch = [](Value x) { return shapeOf(x).drop_front(); };
      if (product.getAxis() != first.getAxis() ||
          product.getTranspose() != first.getTranspose() ||
          shapeWithoutBatch(product.getX()) !=
              shapeWithoutBatch(first.getX()) ||
          shapeWithoutBatch(product.getDy()) !=
              shapeWithoutBatch(first.getDy()))
        return {};
    }
    operandElements += tensorTypeOf(product.getX()).getNumElements() +
                       tensorTypeOf(product.getDy()).getNumElements();
  }
  // In the worst case all operands are copied. Each addition reads two tensors
  // of the weights' size and writes one.
  const int64_t weights = tensorTypeOf(nest->getResult(0)).getNumElements();
  const auto additions = static_cast<int64_t>(products.size()) - 1;
  return 2 * operandElements <= 3 * weights * additions
             ? products
             : SmallVector<Product>();
}

Value concatenate(OpBuilder &b, Product product, ArrayRef<Value> operands) {
  auto type = tensorTypeOf(operands.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 0;
  for (Value operand : operands)
    shape[0] += shapeOf(operand)[0];
  auto concat = ConcatViewOp::create(
      b, product.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      operands, product.getLayerAttr(), b.getI64IntegerAttr(0));
  Origin::of(product).mark(concat);
  return concat;
}

struct FuseWeightGradients
    : brew::passes::impl::FuseWeightGradientsBase<FuseWeightGradients> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    // Visit the nests in reverse order: the last sum contains all terms.
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (linalg::GenericOp nest : llvm::reverse(nests))
      if (!erased.contains(nest) && brew::passes::isElementwiseAdd(nest))
        if (auto products = productsOf(nest); !products.empty())
          fuseProducts(nest, products, erased);
  }

private:
  static void fuseProducts(linalg::GenericOp nest,
                           MutableArrayRef<Product> products,
                           llvm::SmallPtrSetImpl<Operation *> &erased) {
    // Restore the order of the forward pass: if it concatenates the same
    // operands (the gates of all steps), CSE then finds identical operations.
    llvm::sort(products,
               [](Product a, Product b) { return b->isBeforeInBlock(a); });
    SmallVector<Value> xs, dys;
    for (Product product : products) {
      xs.push_back(product.getX());
      dys.push_back(product.getDy());
    }
    OpBuilder b(nest);
    Product first = products.front();
    auto fused = Product::create(
        b, first.getLoc(), first.getDw().getType(), Type(),
        concatenate(b, first, xs), concatenate(b, first, dys),
        first.getLayerAttr(), first.getAxisAttr(), first.getTransposeAttr());
    Origin::of(first).mark(fused);
    nest->getResult(0).replaceAllUsesWith(fused.getDw());
    eraseSum(nest, erased);
  }

  /// Erases a sum and the sums and products that it alone reads.
  static void eraseSum(Operation *op,
                       llvm::SmallPtrSetImpl<Operation *> &erased) {
    SmallVector<Value> inputs;
    if (auto nest = dyn_cast<linalg::GenericOp>(op))
      inputs = nest.getInputs();
    erased.insert(op);
    op->erase();
    for (Value input : inputs)
      eraseSum(input.getDefiningOp(), erased);
  }
};

} // namespace
