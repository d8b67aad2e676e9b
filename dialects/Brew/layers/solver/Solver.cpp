//===- Solver.cpp - Solver updates ----------------------------------------===//
#include "dialects/Brew/layers/solver/Solver.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/solver/LocalRate.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The operands of a rule, for one element.
struct Element {
  ScalarBuilder &s;
  ArrayRef<SolverScalar> scalarNames;
  ValueRange scalarValues;
  Value g;           ///< scaled gradient with weight decay
  Value rate;        ///< learning rate of this parameter
  ValueRange states; ///< before the update

  Value scalar(SolverScalar name) const {
    return scalarValues[llvm::find(scalarNames, name) - scalarNames.begin()];
  }
  Value one() const { return s.constant(g.getType(), 1); }
  Value sqrt(Value x) const { return math::SqrtOp::create(s.b, s.loc, x); }
  /// Builds decay * mean + (1 - decay) * x.
  Value movingMean(Value decay, Value mean, Value x) const {
    return s.add(s.mul(s.sub(one(), decay), x), s.mul(decay, mean));
  }
};

/// The results of a rule, for one element.
struct RuleResult {
  SmallVector<Value> states; ///< after the update
  Value update;
};

/// Builds the derivative of the penalty, without its factor.
Value penaltySlope(ScalarBuilder &s, Value w, Regularization kind) {
  if (kind == Regularization::L2)
    return w;
  Type element = w.getType();
  Value zero = s.constant(element, 0);
  return s.select(s.greater(w, zero), s.constant(element, 1),
                  s.select(s.greater(zero, w), s.constant(element, -1), zero));
}

/// Builds the nest of an update from its `rule`. A `localRate`, a scalar
/// tensor, replaces the learning rate and its multiplier.
template <typename Op>
SmallVector<Value> buildUpdate(Op op, OpBuilder &b,
                               function_ref<RuleResult(const Element &)> rule,
                               Value localRate = Value()) {
  constexpr unsigned tensors = 2 + Op::stateCount;
  auto type = tensorTypeOf(op.getW());
  SmallVector<int64_t> allDims = iota(type.getRank());
  NestBuilder nest(b, op.getLoc(), type.getShape());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i < tensors)
      nest.input(operand, allDims);
    else
      nest.input(operand, ArrayRef<int64_t>{});
  if (localRate)
    nest.input(localRate, ArrayRef<int64_t>{});
  // Few programs read the update, and writing it costs memory traffic.
  bool needsUpdate = !op.getUpdate().use_empty();
  for (unsigned i = 0; i < op->getNumResults() - !needsUpdate; ++i)
    nest.output(type, allDims);

  SmallVector<Value> results = nest.build([&](NestBuilder::Body &body) {
    ScalarBuilder &s = body.s;
    auto constant = [&](const APFloat &value) {
      return s.constant(type.getElementType(), value.convertToFloat());
    };
    Element e{s,
              Op::scalarOperands(),
              body.in.drop_front(tensors),
              Value(),
              Value(),
              body.in.slice(2, Op::stateCount)};
    Value w = body.in[0];
    e.g = s.mul(body.in[1], e.scalar(SolverScalar::GradientScale));
    if (!op.getDecayMult().isZero())
      e.g = s.add(e.g, s.mul(s.mul(e.scalar(SolverScalar::WeightDecay),
                                   constant(op.getDecayMult())),
                             penaltySlope(s, w, op.getRegularization())));
    e.rate = localRate ? body.in.back()
                       : s.mul(e.scalar(SolverScalar::LearningRate),
                               constant(op.getLrMult()));
    RuleResult result = rule(e);
    SmallVector<Value> values = {s.sub(w, result.update)};
    values.append(result.states);
    if (needsUpdate)
      values.push_back(result.update);
    return values;
  });
  results.resize(op->getNumResults());
  return results;
}

} // namespace

SmallVector<Value> SGDUpdateOp::buildNests(OpBuilder &b) {
  // The forks do not apply it to parameters without a positive lr_mult.
  const bool hasLocalRate = getLocalRate() && getLrMult().convertToFloat() > 0;
  return buildUpdate(
      *this, b,
      [](const Element &e) -> RuleResult {
        Value history =
            e.s.add(e.s.mul(e.scalar(SolverScalar::Momentum), e.states[0]),
                    e.s.mul(e.rate, e.g));
        return {{history}, history};
      },
      hasLocalRate ? buildLocalRate(*this, b) : Value());
}

LogicalResult SGDUpdateOp::verify() {
  if (getLocalRate().has_value() != getLocalFactor().has_value())
    return emitOpError("local_rate and local_factor need each other");
  return success();
}

SmallVector<Value> NesterovUpdateOp::buildNests(OpBuilder &b) {
  return buildUpdate(*this, b, [](const Element &e) -> RuleResult {
    Value momentum = e.scalar(SolverScalar::Momentum);
    Value back = e.s.mul(momentum, e.states[0]);
    Value history = e.s.add(back, e.s.mul(e.rate, e.g));
    return {{history},
            e.s.sub(e.s.mul(e.s.add(e.one(), momentum), history), back)};
  });
}

/// Builds rate * g / (sqrt(history) + delta).
static Value buildScaledByHistory(const Element &e, Value history) {
  Value denominator = e.s.add(e.sqrt(history), e.scalar(SolverScalar::Delta));
  return e.s.mul(e.rate, e.s.div(e.g, denominator));
}

SmallVector<Value> AdaGradUpdateOp::buildNests(OpBuilder &b) {
  return buildUpdate(*this, b, [](const Element &e) -> RuleResult {
    Value history = e.s.add(e.s.mul(e.g, e.g), e.states[0]);
    return {{history}, buildScaledByHistory(e, history)};
  });
}

SmallVector<Value> RMSPropUpdateOp::buildNests(OpBuilder &b) {
  return buildUpdate(*this, b, [](const Element &e) -> RuleResult {
    Value history = e.movingMean(e.scalar(SolverScalar::RmsDecay), e.states[0],
                                 e.s.mul(e.g, e.g));
    return {{history}, buildScaledByHistory(e, history)};
  });
}

SmallVector<Value> AdaDeltaUpdateOp::buildNests(OpBuilder &b) {
  return buildUpdate(*this, b, [](const Element &e) -> RuleResult {
    Value momentum = e.scalar(SolverScalar::Momentum);
    Value delta = e.scalar(SolverScalar::Delta);
    Value gradients = e.movingMean(momentum, e.states[0], e.s.mul(e.g, e.g));
    Value ratio =
        e.s.div(e.s.add(delta, e.states[1]), e.s.add(delta, gradients));
    Value update = e.s.mul(e.g, e.sqrt(ratio));
    Value updates =
        e.movingMean(momentum, e.states[1], e.s.mul(update, update));
    return {{gradients, updates}, e.s.mul(e.rate, update)};
  });
}

SmallVector<Value> AdamUpdateOp::buildNests(OpBuilder &b) {
  return buildUpdate(*this, b, [](const Element &e) -> RuleResult {
    Value mean =
        e.movingMean(e.scalar(SolverScalar::Momentum), e.states[0], e.g);
    Value variance = e.movingMean(e.scalar(SolverScalar::Momentum2),
                                  e.states[1], e.s.mul(e.g, e.g));
    Value denominator =
        e.s.add(e.sqrt(variance), e.scalar(SolverScalar::Delta));
    Value rate = e.s.mul(e.rate, e.scalar(SolverScalar::BiasCorrection));
    return {{mean, variance}, e.s.mul(rate, e.s.div(mean, denominator))};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/solver/Solver.cpp.inc"

void brew::dialects::registerSolverLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/solver/Solver.cpp.inc"
      >();
}
