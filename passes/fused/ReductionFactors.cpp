//===- ReductionFactors.cpp - Sums that differ in factors -----------------===//
#include "passes/fused/ReductionFactors.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// A term of a reduction, factored.
struct Product {
  SmallVector<Value> fixed;   ///< factors that do not depend on reduction loops
  SmallVector<Value> varying; ///< the other factors, in body order
};

class ReductionSharer {
public:
  ReductionSharer(RewriterBase &rewriter, linalg::GenericOp nest)
      : rewriter(rewriter), nest(nest) {}

  linalg::GenericOp run() {
    DominanceInfo dominance(nest);
    eliminateCommonSubExpressions(rewriter, dominance, nest);
    SmallVector<Product> products;
    for (unsigned i = 0; i < nest->getNumResults(); ++i)
      products.push_back(productOf(termOf(i)));
    // For each result, the first result with the same varying factors. The
    // result is a multiple of it.
    SmallVector<unsigned> base;
    bool sharesAny = false;
    for (unsigned i = 0; i < products.size(); ++i) {
      unsigned first = 0;
      while (first < i && (products[i].varying.empty() ||
                           products[first].varying != products[i].varying ||
                           !hasSameType(first, i)))
        ++first;
      base.push_back(first);
      sharesAny |= first != i;
    }
    return sharesAny ? rebuild(products, base) : nest;
  }

private:
  Value termOf(unsigned resultIndex) {
    auto add = nest.getBody()
                   ->getTerminator()
                   ->getOperand(resultIndex)
                   .getDefiningOp<arith::AddFOp>();
    Value sum = nest.getRegionOutputArgs()[resultIndex];
    return add.getLhs() == sum ? add.getRhs() : add.getLhs();
  }

  bool hasSameType(unsigned a, unsigned b) {
    return nest->getResult(a).getType() == nest->getResult(b).getType() &&
           nest.getMatchingIndexingMap(nest.getDpsInitOperand(a)) ==
               nest.getMatchingIndexingMap(nest.getDpsInitOperand(b));
  }

  /// Returns whether `value` is an input that does not depend on the reduction
  /// loops.
  bool isFixed(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != nest.getBody() ||
        argument.getArgNumber() >= nest.getNumDpsInputs())
      return false;
    AffineMap map = nest.getMatchingIndexingMap(
        nest.getDpsInputOperand(argument.getArgNumber()));
    for (auto [loop, kind] : llvm::enumerate(nest.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction && map.isFunctionOfDim(loop))
        return false;
    return map.isProjectedPermutation();
  }

  Product productOf(Value term) {
    Product product;
    SmallVector<Value> pending = {term};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      auto mul = value.getDefiningOp<arith::MulFOp>();
      if (mul && mul->getBlock() == nest.getBody() &&
          arith::bitEnumContainsAll(mul.getFastmath(),
                                    arith::FastMathFlags::contract)) {
        pending.push_back(mul.getRhs());
        pending.push_back(mul.getLhs());
      } else if (isFixed(value)) {
        product.fixed.push_back(value);
      } else {
        product.varying.push_back(value);
      }
    }
    llvm::sort(product.varying, [this](Value a, Value b) {
      auto sortKey = [](Value value) {
        auto argument = dyn_cast<BlockArgument>(value);
        return argument ? std::pair(0u, argument.getArgNumber())
                        : std::pair(1u, 0u);
      };
      if (sortKey(a) != sortKey(b) || isa<BlockArgument>(a) || a == b)
        return sortKey(a) < sortKey(b);
      Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
      if (opA->getBlock() != opB->getBlock()) // defined in the body, or outside
        return opA->getBlock() != nest.getBody();
      return opA->isBeforeInBlock(opB);
    });
    return product;
  }

  /// Creates the nest of the remaining reductions, and a nest for each product.
  linalg::GenericOp rebuild(ArrayRef<Product> products,
                            ArrayRef<unsigned> base) {
    rewriter.setInsertionPoint(nest);
    SmallVector<unsigned> remaining;
    SmallVector<Value> inits;
    SmallVector<Type> types;
    SmallVector<AffineMap> maps = nest.getIndexingMapsArray();
    maps.truncate(nest.getNumDpsInputs());
    for (unsigned i = 0; i < base.size(); ++i)
      if (base[i] == i) {
        OpOperand *init = nest.getDpsInitOperand(i);
        remaining.push_back(i);
        inits.push_back(init->get());
        types.push_back(nest->getResult(i).getType());
        maps.push_back(nest.getMatchingIndexingMap(init));
      }
    const Origin origin = Origin::of(nest);
    auto shared = linalg::GenericOp::create(
        rewriter, nest.getLoc(), types, nest.getDpsInputs(), inits, maps,
        nest.getIteratorTypesArray(),
        [&](OpBuilder &b, Location loc, ValueRange values) {
          IRMapping map;
          unsigned inputs = nest.getNumDpsInputs();
          for (unsigned i = 0; i < inputs; ++i)
            map.map(nest.getBody()->getArgument(i), values[i]);
          for (auto [sharedIndex, resultIndex] : llvm::enumerate(remaining))
            map.map(nest.getRegionOutputArgs()[resultIndex],
                    values[inputs + sharedIndex]);
          for (Operation &op : nest.getBody()->without_terminator())
            if (llvm::none_of(op.getOperands(), [&](Value operand) {
                  auto argument = dyn_cast<BlockArgument>(operand);
                  return argument && argument.getOwner() == nest.getBody() &&
                         argument.getArgNumber() >= inputs;
                }))
              b.clone(op, map);
          SmallVector<Value> sums;
          for (auto [sharedIndex, resultIndex] : llvm::enumerate(remaining))
            sums.push_back(arith::AddFOp::create(
                b, loc, values[inputs + sharedIndex],
                termFor(b, loc, map, resultIndex, products, base),
                arith::FastMathFlags::reassoc |
                    arith::FastMathFlags::contract));
          linalg::YieldOp::create(b, loc, sums);
        });
    origin.mark(shared);
    SmallVector<Value> results(base.size());
    for (unsigned i = 0; i < base.size(); ++i) {
      Value sum =
          shared->getResult(llvm::find(remaining, base[i]) - remaining.begin());
      results[i] = isShared(base, base[i])
                       ? buildMultiple(sum, products[i].fixed, i, origin)
                       : sum;
    }
    rewriter.replaceOp(nest, results);
    return shared;
  }

  static bool isShared(ArrayRef<unsigned> base, unsigned resultIndex) {
    return llvm::count(base, resultIndex) > 1;
  }

  /// Returns the term to reduce for result `resultIndex`: the original one
  /// unless several results share the reduction.
  Value termFor(OpBuilder &b, Location loc, IRMapping &map,
                unsigned resultIndex, ArrayRef<Product> products,
                ArrayRef<unsigned> base) {
    if (!isShared(base, resultIndex))
      return map.lookupOrDefault(termOf(resultIndex));
    Value term;
    for (Value factor : products[resultIndex].varying) {
      Value value = map.lookupOrDefault(factor);
      term = term ? arith::MulFOp::create(b, loc, term, value,
                                          arith::FastMathFlags::contract)
                        .getResult()
                  : value;
    }
    return term;
  }

  /// Multiplies `sum` by `factors`, which are arguments of the old nest.
  Value buildMultiple(Value sum, ArrayRef<Value> factors, unsigned resultIndex,
                      const Origin &origin) {
    if (factors.empty())
      return sum;
    AffineMap resultMap =
        nest.getMatchingIndexingMap(nest.getDpsInitOperand(resultIndex));
    auto type = tensorTypeOf(sum);
    // Maps loops of the old nest to dimensions of the result.
    DenseMap<unsigned, unsigned> loops;
    for (auto [dim, expr] : llvm::enumerate(resultMap.getResults()))
      loops[cast<AffineDimExpr>(expr).getPosition()] = dim;
    SmallVector<Value> inputs = {sum};
    SmallVector<AffineMap> maps = {
        rewriter.getMultiDimIdentityMap(type.getRank())};
    for (Value factor : factors) {
      OpOperand *input =
          nest.getDpsInputOperand(cast<BlockArgument>(factor).getArgNumber());
      SmallVector<AffineExpr> dims;
      for (AffineExpr expr : nest.getMatchingIndexingMap(input).getResults())
        dims.push_back(rewriter.getAffineDimExpr(
            loops.lookup(cast<AffineDimExpr>(expr).getPosition())));
      inputs.push_back(input->get());
      maps.push_back(
          AffineMap::get(type.getRank(), 0, dims, rewriter.getContext()));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(type.getRank()));
    Value empty =
        tensor::EmptyOp::create(rewriter, nest.getLoc(), type.getShape(),
                                type.getElementType(), type.getEncoding());
    SmallVector<utils::IteratorType> kinds(type.getRank(),
                                           utils::IteratorType::parallel);
    auto product = linalg::GenericOp::create(
        rewriter, nest.getLoc(), TypeRange(type), inputs, ValueRange(empty),
        maps, kinds, [&](OpBuilder &b, Location loc, ValueRange values) {
          Value result = values[0];
          for (auto [factor, value] :
               llvm::zip(factors, values.slice(1, factors.size()))) {
            if (value.getType() != result.getType())
              value = arith::ExtFOp::create(b, loc, result.getType(), value);
            result = arith::MulFOp::create(b, loc, result, value,
                                           arith::FastMathFlags::contract);
          }
          linalg::YieldOp::create(b, loc, result);
        });
    origin.mark(product);
    return product->getResult(0);
  }

  RewriterBase &rewriter;
  linalg::GenericOp nest;
};

} // namespace

linalg::GenericOp brew::passes::shareReductions(RewriterBase &rewriter,
                                                linalg::GenericOp nest) {
  return ReductionSharer(rewriter, nest).run();
}
