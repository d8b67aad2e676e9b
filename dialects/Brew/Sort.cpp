//===- Sort.cpp - Sorting by loop nests -----------------------------------===//
#include "dialects/Brew/Sort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

Value buildMin(ScalarBuilder &s, Value x, Value y) {
  return arith::MinSIOp::create(s.b, s.loc, x, y);
}
Value buildMax(ScalarBuilder &s, Value x, Value y) {
  return arith::MaxSIOp::create(s.b, s.loc, x, y);
}

/// Merges pairs of neighbouring sorted runs of `runLength` elements and returns
/// the first `mergedLength` elements of each result, with their original
/// positions. `positions` are the original positions of `keys`, or null
/// before the first merge.
std::pair<Value, Value> buildMerge(OpBuilder &b, Location loc, Value keys,
                                   Value positions, int64_t runLength,
                                   int64_t mergedLength) {
  SmallVector<int64_t> shape(shapeOf(keys));
  int64_t last = shape.size() - 1, extent = shape[last];
  // The last pair may be shorter, or a single run.
  int64_t fullPairs = llvm::divideCeil(extent, 2 * runLength) - 1;
  shape[last] = fullPairs * mergedLength +
                std::min(mergedLength, extent - fullPairs * 2 * runLength);
  NestBuilder nest(b, loc, shape);
  for (Type element : {elementTypeOf(keys), Type(b.getI32Type())})
    nest.output(RankedTensorType::get(shape, element), iota(shape.size()));
  SmallVector<Value> results = nest.build([&](NestBuilder::Body &body)
                                              -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    auto readAt = [&](Value tensor, Value position) {
      SmallVector<Value> indices;
      for (int64_t dim = 0; dim < last; ++dim)
        indices.push_back(body.loop(dim));
      indices.push_back(s.clamp(position, extent));
      return body.read(tensor, indices);
    };
    Value zero = s.index(0), one = s.index(1);
    Value position = body.loop(last);
    Value pair = s.divi(position, mergedLength);
    Value base = s.muli(pair, 2 * runLength);
    Value secondBase = s.addi(base, s.index(runLength));
    Value rank = s.subi(position, s.muli(pair, mergedLength));
    Value remaining = s.subi(s.index(extent), base);
    Value firstLength = buildMin(s, remaining, s.index(runLength));
    Value secondLength =
        buildMin(s, buildMax(s, s.subi(remaining, s.index(runLength)), zero),
                 s.index(runLength));
    // Returns whether element i of the first run comes before element j of the
    // second run.
    auto precedes = [&](Value i, Value j) -> Value {
      Value x = readAt(keys, s.addi(base, i)),
            y = readAt(keys, s.addi(secondBase, j));
      // y is not NaN, and y is larger or x is NaN.
      Value secondIsFirst = s.both(
          s.equal(y, y),
          arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UGT, y, x));
      return s.select(secondIsFirst, s.constant(s.b.getI1Type(), 0),
                      s.constant(s.b.getI1Type(), 1));
    };
    // A binary search for the number of elements of the first run among the
    // `rank` elements before this one.
    Value low = buildMax(s, s.subi(rank, secondLength), zero);
    Value high = buildMin(s, rank, firstLength);
    for (int64_t width = runLength; width > 0; width /= 2) {
      Value middle = s.divi(s.addi(low, high), 2);
      Value isUnfinished = s.less(low, high);
      Value comesBefore = precedes(middle, s.subi(s.subi(rank, one), middle));
      Value next =
          s.select(s.both(isUnfinished, comesBefore), s.addi(middle, one), low);
      high = s.select(isUnfinished, s.select(comesBefore, high, middle), high);
      low = next;
    }
    Value secondLow = s.subi(rank, low);
    Value fromFirst = s.both(
        s.less(low, firstLength),
        arith::OrIOp::create(s.b, s.loc, s.atLeast(secondLow, secondLength),
                             precedes(low, secondLow)));
    Value source =
        s.select(fromFirst, s.addi(base, low), s.addi(secondBase, secondLow));
    Value originalPosition =
        positions ? readAt(positions, source)
                  : Value(arith::IndexCastOp::create(s.b, s.loc,
                                                     s.b.getI32Type(), source));
    return {readAt(keys, source), originalPosition};
  });
  return {results[0], results[1]};
}

} // namespace

std::pair<Value, Value> brew::dialects::buildSortDescending(OpBuilder &b,
                                                            Location loc,
                                                            Value keys,
                                                            int64_t count) {
  Value positions;
  // A single element still needs its position.
  for (int64_t runLength = 1; runLength < shapeOf(keys).back() || !positions;) {
    int64_t mergedLength = std::min(2 * runLength, std::max<int64_t>(count, 1));
    std::tie(keys, positions) =
        buildMerge(b, loc, keys, positions, runLength, mergedLength);
    runLength = mergedLength;
  }
  return {keys, positions};
}
