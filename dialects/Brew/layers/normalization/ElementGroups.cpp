//===- ElementGroups.cpp - Statistics of groups of elements ---------------===//
#include "dialects/Brew/layers/normalization/ElementGroups.h"

using namespace mlir;
using namespace brew::dialects;

ElementGroups::ElementGroups(OpBuilder &b, Location loc,
                             RankedTensorType tensor, ArrayRef<int64_t> kept)
    : b(b), loc(loc), kept(kept), dims(tensor.getRank()) {
  SmallVector<int64_t> order(kept);
  for (int64_t dim : iota(tensor.getRank()))
    if (!llvm::is_contained(kept, dim))
      order.push_back(dim);
  for (auto [loop, dim] : llvm::enumerate(order)) {
    dims[dim] = loop;
    extents.push_back(tensor.getDimSize(dim));
    reduction.push_back(loop >= kept.size());
  }
  ArrayRef<int64_t> shape = ArrayRef(extents).take_front(kept.size());
  perGroup = RankedTensorType::get(shape, tensor.getElementType());
  elements = countOf(tensor.getShape()) / countOf(shape);
}

SmallVector<Value> ElementGroups::sum(ValueRange tensors,
                                      ValueRange perGroupValues,
                                      unsigned results,
                                      const Body &terms) const {
  NestBuilder nest(b, loc, extents, reduction);
  for (Value tensor : tensors)
    nest.input(tensor, dims);
  for (Value value : perGroupValues)
    nest.input(value, iota(tensorTypeOf(value).getRank()));
  for (unsigned i = 0; i < results; ++i)
    nest.output(perGroup, iota(kept.size()), 0.0);
  return nest.build([&](NestBuilder::Body &body) {
    SmallVector<Value> values = terms(body);
    for (auto [value, out] : llvm::zip_equal(values, body.out))
      value = body.s.accumulate(out, value);
    return values;
  });
}

SmallVector<Value> ElementGroups::moments(Value x, Value shift,
                                          ValueRange scalars,
                                          const Term &term) const {
  SmallVector<Value> perGroupValues = {shift};
  llvm::append_range(perGroupValues, scalars);
  return sum(x, perGroupValues, 2,
             [&](NestBuilder::Body &body) -> SmallVector<Value> {
               Value difference = body.s.sub(body.in[0], body.in[1]);
               if (term)
                 difference = term(body, difference);
               return {difference, body.s.mul(difference, difference)};
             });
}

Value ElementGroups::medianSample(Value x, bool first) const {
  ArrayRef<int64_t> shape = shapeOf(x);
  return map({}, 1, [&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    // Samples at a quarter, half and three quarters of each dimension, since
    // padding of convolutions changes the edges.
    SmallVector<Value> samples;
    for (int64_t quarter : {1, 2, 3}) {
      SmallVector<Value> indices;
      for (auto [dim, extent] : llvm::enumerate(shape)) {
        auto *keptDim = llvm::find(kept, static_cast<int64_t>(dim));
        indices.push_back(
            keptDim != kept.end()
                ? body.loop(static_cast<unsigned>(keptDim - kept.begin()))
                : s.index(dim == 0 && first ? 0 : extent * quarter / 4));
      }
      samples.push_back(body.read(x, indices));
    }
    Value low =
        s.select(s.greater(samples[0], samples[1]), samples[1], samples[0]);
    Value high =
        s.select(s.greater(samples[0], samples[1]), samples[0], samples[1]);
    Value upper = s.select(s.greater(high, samples[2]), samples[2], high);
    return {s.select(s.greater(low, upper), low, upper)};
  })[0];
}

SmallVector<Value> ElementGroups::map(ValueRange perGroupValues,
                                      unsigned results,
                                      const Body &body) const {
  NestBuilder nest(b, loc, perGroup.getShape());
  for (Value value : perGroupValues)
    nest.input(value, iota(tensorTypeOf(value).getRank()));
  for (unsigned i = 0; i < results; ++i)
    nest.output(perGroup, iota(kept.size()));
  return nest.build(body);
}

Value ElementGroups::apply(RankedTensorType result, ValueRange tensors,
                           ValueRange perGroupValues, const Body &body,
                           ValueRange along, int64_t dimension) const {
  NestBuilder nest(b, loc, result.getShape());
  for (Value tensor : tensors)
    nest.input(tensor, iota(result.getRank()));
  for (Value value : perGroupValues)
    nest.input(value, tensorTypeOf(value).getRank() ? ArrayRef(kept)
                                                    : ArrayRef<int64_t>());
  for (Value value : along)
    nest.input(value, tensorTypeOf(value).getRank() ? ArrayRef(dimension)
                                                    : ArrayRef<int64_t>());
  nest.output(result, iota(result.getRank()));
  return nest.build(body)[0];
}
