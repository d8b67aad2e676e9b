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
  SmallVector<Value> fixed;   ///< factors without reduction loops
  SmallVector<Value> varying; ///< the other factors, in body order
};

class Sharing {
public:
  Sharing(RewriterBase &rewriter, linalg::GenericOp nest)
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
    bool any = false;
    for (unsigned i = 0; i < products.size(); ++i) {
      unsigned first = 0;
      while (first < i && (products[i].varying.empty() ||
                           products[first].varying != products[i].varying ||
                           !hasSameType(first, i)))
        ++first;
      base.push_back(first);
      any |= first != i;
    }
    return any ? rebuild(products, base) : nest;
  }

private:
  Value termOf(unsigned number) {
    auto add = nest.getBody()
                   ->getTerminator()
                   ->getOperand(number)
                   .getDefiningOp<arith::AddFOp>();
    Value sum = nest.getRegionOutputArgs()[number];
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
    SmallVector<Value> left = {term};
    while (!left.empty()) {
      Value value = left.pop_back_val();
      auto mul = value.getDefiningOp<arith::MulFOp>();
      if (mul && mul->getBlock() == nest.getBody() &&
          arith::bitEnumContainsAll(mul.getFastmath(),
                                    arith::FastMathFlags::contract)) {
        left.push_back(mul.getRhs());
        left.push_back(mul.getLhs());
      } else if (isFixed(value)) {
        product.fixed.push_back(value);
      } else {
        product.varying.push_back(value);
      }
    }
    llvm::sort(product.varying, [this](Value a, Value b) {
      auto place = [](Value value) {
        auto argument = dyn_cast<BlockArgument>(value);
        return argument ? std::pair(0u, argument.getArgNumber())
                        : std::pair(1u, 0u);
      };
      if (place(a) != place(b) || isa<BlockArgument>(a) || a == b)
        return place(a) < place(b);
      Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
      if (one->getBlock() !=
          other->getBlock()) // defined in the body, or outside
        return one->getBlock() != nest.getBody();
      return one->isBeforeInBlock(other);
    });
    return product;
  }

  /// Creates the nest of the remaining reductions, and a nest for each product.
  linalg::GenericOp rebuild(ArrayRef<Product> products,
                            ArrayRef<unsigned> base) {
    rewriter.setInsertionPoint(nest);
    SmallVector<unsigned> left;
    SmallVector<Value> inits;
    SmallVector<Type> types;
    SmallVector<AffineMap> maps = nest.getIndexingMapsArray();
    maps.truncate(nest.getNumDpsInputs());
    for (unsigned i = 0; i < base.size(); ++i)
      if (base[i] == i) {
        OpOperand *init = nest.getDpsInitOperand(i);
        left.push_back(i);
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
          for (auto [at, number] : llvm::enumerate(left))
            map.map(nest.getRegionOutputArgs()[number], values[inputs + at]);
          for (Operation &op : nest.getBody()->without_terminator())
            if (llvm::none_of(op.getOperands(), [&](Value operand) {
                  auto argument = dyn_cast<BlockArgument>(operand);
                  return argument && argument.getOwner() == nest.getBody() &&
                         argument.getArgNumber() >= inputs;
                }))
              b.clone(op, map);
          SmallVector<Value> sums;
          for (auto [at, number] : llvm::enumerate(left))
            sums.push_back(arith::AddFOp::create(
                b, loc, values[inputs + at],
                termFor(b, loc, map, number, products, base),
                arith::FastMathFlags::reassoc |
                    arith::FastMathFlags::contract));
          linalg::YieldOp::create(b, loc, sums);
        });
    origin.mark(shared);
    SmallVector<Value> results(base.size());
    for (unsigned i = 0; i < base.size(); ++i) {
      Value sum = shared->getResult(llvm::find(left, base[i]) - left.begin());
      results[i] = isShared(base, base[i])
                       ? multiple(sum, products[i].fixed, i, origin)
                       : sum;
    }
    rewriter.replaceOp(nest, results);
    return shared;
  }

  static bool isShared(ArrayRef<unsigned> base, unsigned number) {
    return llvm::count(base, number) > 1;
  }

  /// Returns the term to reduce for result `number`: the original one unless
  /// several results share the reduction.
  Value termFor(OpBuilder &b, Location loc, IRMapping &map, unsigned number,
                ArrayRef<Product> products, ArrayRef<unsigned> base) {
    if (!isShared(base, number))
      return map.lookupOrDefault(termOf(number));
    Value term;
    for (Value factor : products[number].varying) {
      Value value = map.lookupOrDefault(factor);
      term = term ? arith::MulFOp::create(b, loc, term, value,
                                          arith::FastMathFlags::contract)
                        .getResult()
                  : value;
    }
    return term;
  }

  /// Multiplies `sum` by `factors`, which are arguments of the old nest.
  Value multiple(Value sum, ArrayRef<Value> factors, unsigned number,
                 const Origin &origin) {
    if (factors.empty())
      return sum;
    AffineMap written =
        nest.getMatchingIndexingMap(nest.getDpsInitOperand(number));
    auto type = tensorTypeOf(sum);
    // Maps loops of the old nest to dimensions of the result.
    DenseMap<unsigned, unsigned> loops;
    for (auto [dim, place] : llvm::enumerate(written.getResults()))
      loops[cast<AffineDimExpr>(place).getPosition()] = dim;
    SmallVector<Value> inputs = {sum};
    SmallVector<AffineMap> maps = {
        rewriter.getMultiDimIdentityMap(type.getRank())};
    for (Value factor : factors) {
      OpOperand *input =
          nest.getDpsInputOperand(cast<BlockArgument>(factor).getArgNumber());
      SmallVector<AffineExpr> places;
      for (AffineExpr place : nest.getMatchingIndexingMap(input).getResults())
        places.push_back(rewriter.getAffineDimExpr(
            loops.lookup(cast<AffineDimExpr>(place).getPosition())));
      inputs.push_back(input->get());
      maps.push_back(
          AffineMap::get(type.getRank(), 0, places, rewriter.getContext()));
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
  return Sharing(rewriter, nest).run();
}
