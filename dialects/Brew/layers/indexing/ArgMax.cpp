//===- ArgMax.cpp - Positions of the largest elements ---------------------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/indexing/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace brew::dialects;

/// Positions may exceed the integers that 16-bit types represent.
bool ArgMaxOp::staysF32(unsigned) { return true; }

LogicalResult ArgMaxOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t rank = x.size(), candidates, k = getTopK();
  SmallVector<int64_t> &y = tops.emplace_back();
  if (getAxis()) {
    FailureOr<int64_t> axis =
        canonicalAxis(*this, static_cast<int64_t>(*getAxis()), rank);
    if (failed(axis))
      return failure();
    setAxis(*axis);
    candidates = x[*axis];
    y.assign(x.begin(), x.end());
    y[*axis] = k;
  } else {
    if (rank == 0)
      return layerError(*this) << "the bottom has no dimensions";
    candidates = countOf(x.drop_front());
    y.assign(std::max<int64_t>(rank, 3), 1);
    y[0] = x[0];
    y[1] = getMaxValues() ? 2 : 1;
    y[2] = k;
  }
  if (k > candidates)
    return layerError(*this) << "top_k is " << k << ", but there are only "
                             << candidates << " elements to choose from";
  return success();
}

LogicalResult ArgMaxOp::buildGradients(OpBuilder &, ArrayRef<Value>,
                                       ArrayRef<bool>, MutableArrayRef<Value>) {
  return layerError(*this) << "ArgMax has no gradient, but a loss depends on "
                              "it; give it propagate_down: false";
}

/// Up to this many largest elements are found one after the other, each by a
/// nest over all elements; more are found by sorting. The code grows with the
/// number of nests. Nests are faster than sorting for up to about 10 elements
/// per row if there are few rows, and for up to 60 if there are sixteen rows,
/// which vectorise.
constexpr int64_t kMaxPasses = 32;

namespace {

/// Values and positions of elements: of one rank, or of all ranks along a last
/// dimension.
struct Ranked {
  Value value, position;
};

/// The elements that ArgMax compares: those along the dimensions `first`...
/// `last`-1 of x, for each index of the others.
struct Choice {
  explicit Choice(ArgMaxOp op)
      : x(op.getX()), type(tensorTypeOf(x)), first(op.getAxis().value_or(1)),
        last(op.getAxis() ? first + 1 : type.getRank()) {
    for (int64_t dim : iota(type.getRank()))
      if (!isCompared(dim))
        others.push_back(dim);
  }

  bool isCompared(int64_t dim) const { return dim >= first && dim < last; }
  /// Returns the extents of the other dimensions.
  SmallVector<int64_t> otherExtents() const {
    return llvm::map_to_vector(
        others, [&](int64_t dim) { return type.getDimSize(dim); });
  }
  int64_t count() const {
    return countOf(type.getShape().slice(first, last - first));
  }

  Value x;
  RankedTensorType type;
  int64_t first, last;
  SmallVector<int64_t> others;
};

} // namespace

constexpr double kNoValue = -std::numeric_limits<double>::infinity();

/// Builds the largest element after `before` (if not null), ordered by value,
/// then by position.
static Ranked buildNextLargest(OpBuilder &b, Location loc, const Choice &choice,
                               std::optional<Ranked> before) {
  auto type = choice.type;
  SmallVector<bool> reduction;
  for (int64_t dim : iota(type.getRank()))
    reduction.push_back(choice.isCompared(dim));
  NestBuilder nest(b, loc, type.getShape(), reduction);
  nest.input(choice.x, iota(type.getRank()));
  if (before) {
    nest.input(before->value, choice.others);
    nest.input(before->position, choice.others);
  }
  Type integer = b.getI32Type();
  nest.output(
      RankedTensorType::get(choice.otherExtents(), type.getElementType()),
      choice.others, kNoValue);
  nest.output(RankedTensorType::get(choice.otherExtents(), integer),
              choice.others, -1);
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value linearIndex = s.index(0);
        for (int64_t dim = choice.first; dim < choice.last; ++dim)
          linearIndex =
              s.addi(s.muli(linearIndex, type.getDimSize(dim)), body.loop(dim));
        Value position =
            arith::IndexCastOp::create(s.b, s.loc, integer, linearIndex);
        // Returns whether (x, i) is larger than (y, j).
        auto larger = [&](Value x, Value i, Value y, Value j) -> Value {
          Value isLaterEqual = s.both(s.equal(x, y), s.less(j, i));
          return arith::OrIOp::create(s.b, s.loc, s.greater(x, y),
                                      isLaterEqual);
        };
        Value isBetter = larger(body.in[0], position, body.out[0], body.out[1]);
        if (before)
          isBetter = s.both(
              isBetter, larger(body.in[1], body.in[2], body.in[0], position));
        return {s.select(isBetter, body.in[0], body.out[0]),
                s.select(isBetter, position, body.out[1])};
      });
  return {results[0], results[1]};
}

/// Builds the `count` largest elements, in order. If only NaN remain, the
/// value is -infinity at position -1.
static Ranked buildLargest(OpBuilder &b, Location loc, const Choice &choice,
                           int64_t count) {
  const int64_t total = choice.count();
  SmallVector<int64_t> shape = choice.otherExtents();
  const int64_t last = shape.size();
  shape.push_back(total);
  // Sorts in reverse order, since of equal elements the last comes first.
  auto type = RankedTensorType::get(shape, choice.type.getElementType());
  NestBuilder reverse(b, loc, shape);
  reverse.output(type, iota(last + 1));
  Value keys =
      reverse.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value remaining = s.subi(s.index(total - 1), body.loop(last));
        SmallVector<Value> indices(choice.type.getRank());
        for (auto [loop, dim] : llvm::enumerate(choice.others))
          indices[dim] = body.loop(loop);
        for (int64_t dim = choice.last - 1; dim > choice.first; --dim) {
          indices[dim] = s.remi(remaining, choice.type.getDimSize(dim));
          remaining = s.divi(remaining, choice.type.getDimSize(dim));
        }
        indices[choice.first] = remaining;
        return {body.read(choice.x, indices)};
      })[0];
  auto [values, positions] = buildSortDescending(b, loc, keys, count);

  shape.back() = count;
  NestBuilder nest(b, loc, shape);
  for (Value tensor : {values, positions})
    nest.input(tensor, iota(last + 1));
  for (Value tensor : {values, positions})
    nest.output(RankedTensorType::get(shape, elementTypeOf(tensor)),
                iota(last + 1));
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value value = body.in[0];
        Type integer = body.in[1].getType();
        Value position = arith::SubIOp::create(
            s.b, s.loc, s.constant(integer, total - 1), body.in[1]);
        Value isNumber = s.equal(value, value);
        return {
            s.select(isNumber, value, s.constant(value.getType(), kNoValue)),
            s.select(isNumber, position, s.constant(integer, -1))};
      });
  return {results[0], results[1]};
}

SmallVector<Value> ArgMaxOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  const Choice choice(*this);
  const bool isSorted = getTopK() > kMaxPasses;
  SmallVector<Ranked> ranked;
  if (isSorted)
    ranked.push_back(buildLargest(b, loc, choice, getTopK()));
  else
    for (uint64_t k = 0; k < getTopK(); ++k)
      ranked.push_back(buildNextLargest(
          b, loc, choice,
          ranked.empty() ? std::nullopt : std::optional(ranked.back())));

  // Rank k is at position k of the axis or, without an axis, at position k of
  // dimension 2.
  auto type = tensorTypeOf(getY());
  const int64_t rankDim = getAxis() ? choice.first : 2;
  SmallVector<int64_t> dims =
      getAxis() ? choice.others : SmallVector<int64_t>{0};
  if (isSorted)
    dims.push_back(rankDim);
  bool hasPositions = !getAxis() || !getMaxValues(), hasValues = getMaxValues();
  NestBuilder nest(b, loc, type.getShape());
  for (const Ranked &tensors : ranked) {
    if (hasPositions)
      nest.input(tensors.position, dims);
    if (hasValues)
      nest.input(tensors.value, dims);
  }
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value rank = body.loop(rankDim), result;
    unsigned next = 0;
    for (size_t k = 0; k < ranked.size(); ++k) {
      Value element;
      if (hasPositions)
        element = arith::SIToFPOp::create(s.b, s.loc, type.getElementType(),
                                          body.in[next++]);
      if (hasValues) {
        Value value = body.in[next++];
        element = element ? s.select(s.equali(body.loop(1), s.index(0)),
                                     element, value)
                          : value;
      }
      result = result ? s.select(s.atLeast(rank, s.index(k)), element, result)
                      : element;
    }
    return {result};
  });
}
