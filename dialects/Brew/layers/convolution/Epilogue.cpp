//===- Epilogue.cpp - Bias, sum and ReLU after a product ------------------===//
#include "dialects/Brew/layers/convolution/Epilogue.h"

#include <algorithm>

using namespace mlir;
using namespace brew::dialects;

Value brew::dialects::buildEpilogue(OpBuilder &b, Location loc, Value sum,
                                    Value bias, int64_t output,
                                    std::optional<APFloat> relu,
                                    RankedTensorType type, Value residual) {
  if (!bias && !relu && !residual)
    return sum;
  SmallVector<int64_t> allDims = iota(shapeOf(sum).size());
  NestBuilder nest(b, loc, shapeOf(sum));
  nest.input(sum, allDims);
  if (bias)
    nest.input(bias, {output});
  if (residual)
    nest.input(residual, allDims);
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value y = body.in[0];
    if (bias)
      y = s.add(y, body.in[1]);
    if (residual)
      y = s.add(y, body.in[bias ? 2 : 1]);
    if (relu)
      y = s.select(s.greater(y, s.constant(y.getType(), 0)), y,
                   s.mul(y, s.constant(y.getType(), relu->convertToFloat())));
    return {y};
  })[0];
}

Value brew::dialects::buildBiasGradient(OpBuilder &b, Location loc, Value dy,
                                        int64_t output, RankedTensorType type) {
  // The loop over outputs is the outermost one, or the innermost one if the
  // outputs are innermost in memory.
  ArrayRef<int64_t> shape = shapeOf(dy);
  const int64_t rank = shape.size(),
                outputLoop = output + 1 < rank ? 0 : output;
  SmallVector<int64_t> extents(shape), loops = iota(rank);
  std::rotate(extents.begin() + outputLoop, extents.begin() + output,
              extents.begin() + output + 1);
  for (int64_t dim = 0; dim < rank; ++dim)
    loops[dim] =
        dim == output ? outputLoop : dim + (dim >= outputLoop && dim < output);
  SmallVector<bool> reduction(rank, true);
  reduction[outputLoop] = false;
  NestBuilder nest(b, loc, extents, reduction);
  nest.input(dy, loops);
  nest.output(type, {outputLoop}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
}
