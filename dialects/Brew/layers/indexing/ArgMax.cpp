//===- ArgMax.cpp - Places of the largest elements ------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/indexing/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace brew::ir;

/// Places need not be numbers of 16 bits.
bool ArgMaxOp::isWide(unsigned) { return true; }

LogicalResult ArgMaxOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t rank = x.size(), most, k = getTopK();
  SmallVector<int64_t> &y = tops.emplace_back();
  if (getAxis()) {
    FailureOr<int64_t> axis =
        canonicalAxis(*this, static_cast<int64_t>(*getAxis()), rank);
    if (failed(axis))
      return failure();
    setAxis(*axis);
    most = x[*axis];
    y.assign(x.begin(), x.end());
    y[*axis] = k;
  } else {
    if (rank == 0)
      return layerError(*this) << "the bottom has no dimensions";
    most = countOf(x.drop_front());
    y.assign(std::max<int64_t>(rank, 3), 1);
    y[0] = x[0];
    y[1] = getMaxValues() ? 2 : 1;
    y[2] = k;
  }
  if (k > most)
    return layerError(*this) << "top_k is " << k << ", but there are only "
                             << most << " elements to choose from";
  return success();
}

LogicalResult ArgMaxOp::buildGradients(OpBuilder &, ArrayRef<Value>,
                                       ArrayRef<bool>, MutableArrayRef<Value>) {
  return layerError(*this) << "ArgMax has no gradient, but a loss depends on "
                              "it; give it propagate_down: false";
}

namespace {
/// The elements of one rank: value and place of the r-th largest.
struct Ranked {
  Value value, place;
};
} // namespace

/// The largest element along the loops `first`... `last`-1 of x that comes
/// behind `before` (if any), by value, then by place.
static Ranked buildNextLargest(OpBuilder &b, Location loc, Value x,
                               int64_t first, int64_t last,
                               std::optional<Ranked> before) {
  auto type = tensorOf(x);
  SmallVector<int64_t> others, kept;
  SmallVector<bool> reduction(type.getRank(), false);
  for (int64_t dim : iota(type.getRank())) {
    reduction[dim] = dim >= first && dim < last;
    if (!reduction[dim]) {
      others.push_back(dim);
      kept.push_back(type.getDimSize(dim));
    }
  }
  NestBuilder nest(b, loc, type.getShape(), reduction);
  nest.input(x, iota(type.getRank()));
  if (before) {
    nest.input(before->value, others);
    nest.input(before->place, others);
  }
  Type integer = b.getI32Type();
  nest.output(RankedTensorType::get(kept, type.getElementType()), others,
              -std::numeric_limits<double>::infinity());
  nest.output(RankedTensorType::get(kept, integer), others, -1);
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        Scalars &s = body.s;
        Value position = s.index(0);
        for (int64_t dim = first; dim < last; ++dim)
          position =
              s.addi(s.muli(position, type.getDimSize(dim)), body.loop(dim));
        Value place = arith::IndexCastOp::create(s.b, s.loc, integer, position);
        // Whether (x, i) is larger than (y, j).
        auto larger = [&](Value x, Value i, Value y, Value j) -> Value {
          Value later = s.both(s.equal(x, y), s.less(j, i));
          return arith::OrIOp::create(s.b, s.loc, s.greater(x, y), later);
        };
        Value better = larger(body.in[0], place, body.out[0], body.out[1]);
        if (before)
          better =
              s.both(better, larger(body.in[1], body.in[2], body.in[0], place));
        return {s.select(better, body.in[0], body.out[0]),
                s.select(better, place, body.out[1])};
      });
  return {results[0], results[1]};
}

SmallVector<Value> ArgMaxOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  int64_t rank = tensorOf(getX()).getRank();
  int64_t first = getAxis() ? *getAxis() : 1,
          last = getAxis() ? first + 1 : rank;
  SmallVector<Ranked> ranked;
  for (uint64_t k = 0; k < getTopK(); ++k)
    ranked.push_back(buildNextLargest(
        b, loc, getX(), first, last,
        ranked.empty() ? std::nullopt : std::optional(ranked.back())));

  // Rank k stands at position k of the axis; without one, at position k of
  // dimension 2.
  auto type = tensorOf(getY());
  SmallVector<int64_t> others;
  if (getAxis()) {
    for (int64_t dim : iota(rank))
      if (dim != first)
        others.push_back(dim);
  } else {
    others = {0};
  }
  bool places = !getAxis() || !getMaxValues(), values = getMaxValues();
  NestBuilder nest(b, loc, type.getShape());
  for (const Ranked &each : ranked) {
    if (places)
      nest.input(each.place, others);
    if (values)
      nest.input(each.value, others);
  }
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value position = body.loop(getAxis() ? first : 2), result;
    unsigned next = 0;
    for (size_t k = 0; k < ranked.size(); ++k) {
      Value element;
      if (places)
        element = arith::SIToFPOp::create(s.b, s.loc, type.getElementType(),
                                          body.in[next++]);
      if (values) {
        Value value = body.in[next++];
        element = element ? s.select(s.equali(body.loop(1), s.index(0)),
                                     element, value)
                          : value;
      }
      result = result
                   ? s.select(s.atLeast(position, s.index(k)), element, result)
                   : element;
    }
    return {result};
  });
}
