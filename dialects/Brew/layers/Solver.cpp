//===- Solver.cpp - Solver updates
//-----------------------------------------===//
#include "dialects/Brew/layers/Solver.h"
#include "dialects/Brew/Nest.h"
#include "dialects/Brew/layers/LayerGroup.h"

using namespace mlir;
using namespace brew::ir;

SmallVector<Value> SGDUpdateOp::buildGeneric(OpBuilder &b) {
  auto type = tensorOf(getW());
  SmallVector<int64_t> all = iota(type.getRank());
  Nest nest(b, getLoc(), type.getShape());
  for (Value operand : {getW(), getGradient(), getHistory()})
    nest.input(operand, all);
  for (Value operand :
       {getRate(), getMomentum(), getWeightDecay(), getGradientScale()})
    nest.input(operand, ArrayRef<int64_t>{});
  nest.output(type, all);
  nest.output(type, all);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Type element = type.getElementType();
    auto constant = [&](const APFloat &value) {
      return s.constant(element, value.convertToFloat());
    };
    Value w = body.in[0];
    Value g = s.mul(body.in[1], body.in[6]);
    if (!getDecayMult().isZero()) {
      Value penalty = w;
      if (getRegularization() == Regularization::L1) {
        Value zero = s.constant(element, 0);
        penalty = s.select(
            s.greater(w, zero), s.constant(element, 1),
            s.select(s.greater(zero, w), s.constant(element, -1), zero));
      }
      g = s.add(g, s.mul(s.mul(body.in[5], constant(getDecayMult())), penalty));
    }
    Value rate = s.mul(body.in[3], constant(getLrMult()));
    Value history = s.add(s.mul(body.in[4], body.in[2]), s.mul(rate, g));
    return {s.sub(w, history), history};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Solver.cpp.inc"

void brew::ir::registerSolverLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/Solver.cpp.inc"
      >();
}
