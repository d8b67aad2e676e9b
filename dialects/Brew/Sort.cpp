//===- Sort.cpp - Sorting by loop nests -----------------------------------===//
#include "dialects/Brew/Sort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

Value smaller(ScalarBuilder &s, Value x, Value y) {
  return arith::MinSIOp::create(s.b, s.loc, x, y);
}
Value larger(ScalarBuilder &s, Value x, Value y) {
  return arith::MaxSIOp::create(s.b, s.loc, x, y);
}

/// Merges neighbouring sorted runs of `run` elements to runs of `merged`
/// elements, fewer if only the first ones of two runs are needed. `places`, the
/// original positions, is null while no element has moved.
std::pair<Value, Value> buildMerge(OpBuilder &b, Location loc, Value keys,
                                   Value places, int64_t run, int64_t merged) {
  SmallVector<int64_t> shape(shapeOf(keys));
  int64_t last = shape.size() - 1, extent = shape[last];
  // The last pair may be shorter, or a single run.
  int64_t others = llvm::divideCeil(extent, 2 * run) - 1;
  shape[last] = others * merged + std::min(merged, extent - others * 2 * run);
  NestBuilder nest(b, loc, shape);
  for (Type element : {elementTypeOf(keys), Type(b.getI32Type())})
    nest.output(RankedTensorType::get(shape, element), iota(shape.size()));
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        auto at = [&](Value tensor, Value position) {
          SmallVector<Value> indices;
          for (int64_t dim = 0; dim < last; ++dim)
            indices.push_back(body.loop(dim));
          indices.push_back(s.clamp(position, extent));
          return body.read(tensor, indices);
        };
        Value zero = s.index(0), one = s.index(1);
        Value position = body.loop(last);
        Value pair = s.divi(position, merged);
        Value base = s.muli(pair, 2 * run);
        Value second = s.addi(base, s.index(run));
        Value rank = s.subi(position, s.muli(pair, merged));
        Value left = s.subi(s.index(extent), base);
        Value firstLength = smaller(s, left, s.index(run));
        Value secondLength = smaller(
            s, larger(s, s.subi(left, s.index(run)), zero), s.index(run));
        // Whether element i of the first run comes before j of the second.
        auto precedes = [&](Value i, Value j) -> Value {
          Value x = at(keys, s.addi(base, i)), y = at(keys, s.addi(second, j));
          // y is not NaN, and it is larger or x is NaN.
          Value later = s.both(
              s.equal(y, y), arith::CmpFOp::create(
                                 s.b, s.loc, arith::CmpFPredicate::UGT, y, x));
          return s.select(later, s.constant(s.b.getI1Type(), 0),
                          s.constant(s.b.getI1Type(), 1));
        };
        // The number of elements of the first run among the `rank` elements
        // before this one.
        Value low = larger(s, s.subi(rank, secondLength), zero);
        Value high = smaller(s, rank, firstLength);
        for (int64_t width = run; width > 0; width /= 2) {
          Value middle = s.divi(s.addi(low, high), 2);
          Value open = s.less(low, high);
          Value before = precedes(middle, s.subi(s.subi(rank, one), middle));
          Value next = s.select(s.both(open, before), s.addi(middle, one), low);
          high = s.select(open, s.select(before, high, middle), high);
          low = next;
        }
        Value other = s.subi(rank, low);
        Value fromFirst = s.both(
            s.less(low, firstLength),
            arith::OrIOp::create(s.b, s.loc, s.atLeast(other, secondLength),
                                 precedes(low, other)));
        Value source =
            s.select(fromFirst, s.addi(base, low), s.addi(second, other));
        Value place = places ? at(places, source)
                             : Value(arith::IndexCastOp::create(
                                   s.b, s.loc, s.b.getI32Type(), source));
        return {at(keys, source), place};
      });
  return {results[0], results[1]};
}

} // namespace

std::pair<Value, Value> brew::dialects::buildSortDescending(OpBuilder &b,
                                                            Location loc,
                                                            Value keys,
                                                            int64_t most) {
  Value places;
  // A single element still needs its position.
  for (int64_t run = 1; run < shapeOf(keys).back() || !places;) {
    int64_t merged = std::min(2 * run, std::max<int64_t>(most, 1));
    std::tie(keys, places) = buildMerge(b, loc, keys, places, run, merged);
    run = merged;
  }
  return {keys, places};
}
