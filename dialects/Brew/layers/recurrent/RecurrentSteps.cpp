//===- RecurrentSteps.cpp - The time steps of LSTM and RNN ----------------===//
//
// An iteration of a forward loop is a product with the hidden state's weights
// and one nest, the cell. The nest also masks h for the next step: a loop
// carries hm, which is cont[t] h before step t and h after the last one.
// Backward loops run in reverse order: one nest computes the gradients of the
// gates, and a product computes the gradient of hm. The indicators are never
// rounded, so nests compute in their type.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Loop.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/shape/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// Shapes, precision
//===----------------------------------------------------------------------===//

LogicalResult LSTMStepsOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> sequence(shapeOf(getGates()));
  sequence[2] = shapeOf(getC0())[2];
  const SmallVector<int64_t> state(shapeOf(getC0()));
  tops.assign(getNumResults(), sequence);
  tops[1] = tops[2] = state;
  return success();
}

LogicalResult RNNStepsOp::inferShapes(Shapes &tops, Shapes &) {
  const SmallVector<int64_t> state(shapeOf(getH0()));
  tops.assign(getNumResults(), SmallVector<int64_t>(shapeOf(getX())));
  tops[1] = state;
  return success();
}

/// Only operands of products and values like them may be rounded. The cell
/// state is a sum over all time steps.
bool LSTMStepsOp::mustStayExact(unsigned operand) {
  return operand == getContMutable().getOperandNumber() ||
         operand == getC0Mutable().getOperandNumber();
}
bool LSTMStepsOp::staysF32(unsigned result) {
  Value value = getResult(result);
  return value != getY() && value != getHLast() && value != getHm();
}

bool LSTMStepsBackwardOp::mustStayExact(unsigned operand) {
  Value value = getOperand(operand);
  return value != getDy() && value != getDhLast() && value != getWh();
}
bool LSTMStepsBackwardOp::staysF32(unsigned result) {
  return getResult(result) == getDc0();
}

bool RNNStepsOp::mustStayExact(unsigned operand) {
  return operand == getContMutable().getOperandNumber();
}
/// The derivative of tanh at y is 1 - y^2, which roundings would distort near
/// saturation.
bool RNNStepsOp::staysF32(unsigned result) {
  return getResult(result) == getY();
}

bool RNNStepsBackwardOp::mustStayExact(unsigned operand) {
  return getOperand(operand) == getCont() || getOperand(operand) == getY();
}
bool RNNStepsBackwardOp::staysF32(unsigned) { return false; }

/// Returns the operations of the products of all time steps.
static int64_t flopsOf(Value cont, Value wh) {
  return 2 * countOf(shapeOf(cont)) * countOf(shapeOf(wh));
}
int64_t LSTMStepsOp::countFlops() { return flopsOf(getCont(), getWh()); }
int64_t LSTMStepsBackwardOp::countFlops() {
  return flopsOf(getCont(), getWh());
}
int64_t RNNStepsOp::countFlops() { return flopsOf(getCont(), getWh()); }
int64_t RNNStepsBackwardOp::countFlops() { return flopsOf(getCont(), getWh()); }

//===----------------------------------------------------------------------===//
// Construction of the loops
//===----------------------------------------------------------------------===//

namespace {

/// Builds the loop of one operation and the nests around it.
class StepsBuilder {
public:
  /// `cont` are the indicators [T, N], `state` is the shape of h, [1, N, D].
  StepsBuilder(OpBuilder &b, Operation *op, Value cont, ArrayRef<int64_t> state)
      : b(b), loc(op->getLoc()), layer(op->getAttrOfType<StringAttr>("layer")),
        cont(cont), state(state) {
    if (auto type = op->getAttrOfType<TypeAttr>("rounded"))
      rounded = type.getValue();
  }

  Type wide() const { return elementTypeOf(cont); }
  int64_t timeSteps() const { return shapeOf(cont)[0]; }
  RankedTensorType stateType(Type element) const {
    return RankedTensorType::get(state, element);
  }

  Value widen(Value x) const {
    return x.getType() == wide()
               ? x
               : arith::ExtFOp::create(b, loc, wide(), x).getResult();
  }
  /// Rounds x to the type of products, and returns it as `element`.
  Value round(Value x, Type element) const {
    if (x.getType() != element)
      return arith::TruncFOp::create(b, loc, element, x);
    return rounded ? widen(arith::TruncFOp::create(b, loc, rounded, x)) : x;
  }

  /// Returns the indicators that follow each step, 1 after the last: [T, N].
  Value nextIndicators() const {
    auto type = tensorTypeOf(cont);
    NestBuilder nest(b, loc, type.getShape());
    nest.output(type, iota(2));
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Value next = s.addi(body.loop(0), s.index(1));
      Value read = body.read(cont, {s.clamp(next, timeSteps()), body.loop(1)});
      return {s.select(s.less(next, s.index(timeSteps())), read,
                       s.constant(wide(), 1))};
    })[0];
  }

  /// Returns cont[0] x for a state x.
  Value maskFirst(Value x) const {
    NestBuilder nest(b, loc, state);
    nest.input(x, iota(3));
    nest.output(tensorTypeOf(x), iota(3));
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      Value first = body.read(cont, {body.s.index(0), body.loop(1)});
      return {round(body.s.mul(widen(body.in[0]), first), elementTypeOf(x))};
    })[0];
  }

  /// Returns a copy of a state, or zeros if it is null. A loop overwrites its
  /// initial values, so it needs copies.
  Value copyOf(Value x, Type element) const {
    NestBuilder nest(b, loc, state);
    if (x)
      nest.input(x, iota(3));
    nest.output(stateType(element), iota(3));
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      return {x ? body.in[0] : body.s.constant(element, 0)};
    })[0];
  }

  /// Starts a loop and moves the builder into its body.
  LoopOp start(bool isReverse, const LoopOperands &operands) {
    loop = createLoop(b, loc, layer, timeSteps(), isReverse, operands);
    b.setInsertionPointToStart(&loop.getBody().front());
    return loop;
  }
  Value argument(unsigned number) {
    return loop.getBody().front().getArgument(number);
  }
  void finish(ArrayRef<Value> yielded) {
    YieldOp::create(b, loc, yielded);
    b.setInsertionPointAfter(loop);
  }

  /// Returns x wh^T for a state x.
  Value product(Value x, Value wh) const {
    const int64_t outputs = shapeOf(wh)[0];
    auto type = RankedTensorType::get({1, state[1], outputs}, elementTypeOf(x));
    return InnerProductOp::create(b, loc, type, x, wh, Value(), layer,
                                  b.getStrArrayAttr({}), nullptr, nullptr,
                                  b.getI64IntegerAttr(outputs),
                                  b.getI64IntegerAttr(2), nullptr, nullptr);
  }
  /// Returns dx wh for the gradient of product().
  Value productGradient(Value dx, Value wh) const {
    return InnerProductBackwardDataOp::create(
        b, loc, stateType(elementTypeOf(dx)), dx, wh, layer,
        b.getI64IntegerAttr(2), nullptr);
  }

  /// A nest over a state.
  NestBuilder stateNest() const { return NestBuilder(b, loc, state); }

  OpBuilder &b;
  Location loc;
  StringAttr layer;
  Value cont;
  SmallVector<int64_t> state;
  Type rounded; ///< see LoopInterface::setRounded
  LoopOp loop;
};

/// Adds results that are used to the operands of a loop and to a nest.
class SavedResults {
public:
  explicit SavedResults(ResultRange results) : results(results) {}

  void addTypes(LoopOperands &operands) const {
    for (Value result : results)
      if (!result.use_empty())
        operands.stacked.push_back(result.getType());
  }
  void addOutputs(NestBuilder &nest) const {
    for (Value result : results)
      if (!result.use_empty())
        nest.output(itemTypeOf(result.getType()), iota(3));
  }
  /// Selects the values of used results from one value per result.
  SmallVector<Value> select(ArrayRef<Value> values) const {
    SmallVector<Value> selected;
    for (auto [result, value] : llvm::zip_equal(results, values))
      if (!result.use_empty())
        selected.push_back(value);
    return selected;
  }
  /// Returns one value per result, null for unused ones.
  SmallVector<Value> spread(ValueRange selected) const {
    SmallVector<Value> values;
    for (Value result : results) {
      if (result.use_empty()) {
        values.push_back(Value());
        continue;
      }
      values.push_back(selected.front());
      selected = selected.drop_front();
    }
    return values;
  }

private:
  ResultRange results;
};

} // namespace

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

SmallVector<Value> LSTMStepsOp::buildLoop(OpBuilder &b) {
  StepsBuilder steps(b, *this, getCont(), shapeOf(getC0()));
  const Type wide = steps.wide(), narrow = elementTypeOf(getH0());
  const int64_t width = steps.state[2];
  Value next = steps.nextIndicators();
  const SavedResults saved(getResults().drop_front(3));
  auto gatesItem = RankedTensorType::get({1, steps.state[1], 4 * width},
                                         elementTypeOf(getGates()));
  LoopOperands operands = {
      {getGates(), getCont(), next},
      {getWh()},
      {steps.maskFirst(getH0()), steps.copyOf(getC0(), wide)},
      {getY().getType()},
      {gatesItem}};
  saved.addTypes(operands);
  steps.start(/*isReverse=*/false, operands);
  Value gates = steps.argument(0), cont = steps.argument(1),
        nextCont = steps.argument(2), wh = steps.argument(3),
        hm = steps.argument(4), c = steps.argument(5);
  Value hidden = steps.product(hm, wh);
  NestBuilder nest = steps.stateNest();
  for (Value value : {hm, c})
    nest.input(value, iota(3));
  for (Value value : {cont, nextCont})
    nest.input(value, iota(2));
  nest.output(itemTypeOf(getY().getType()), iota(3));
  saved.addOutputs(nest);
  nest.output(steps.stateType(narrow), iota(3));
  nest.output(steps.stateType(wide), iota(3));
  SmallVector<Value> values = nest.build([&](NestBuilder::Body &body) {
    ScalarBuilder &s = body.s;
    auto gateInput = [&](int64_t gate) {
      Value column = s.addi(body.loop(2), s.index(gate * width));
      auto read = [&](Value x) {
        return steps.widen(body.read(x, {body.loop(0), body.loop(1), column}));
      };
      return s.add(read(hidden), read(gates));
    };
    Value before = body.in[1], indicator = body.in[2];
    Value i = s.sigmoid(gateInput(0)),
          f = s.mul(indicator, s.sigmoid(gateInput(1))),
          o = s.sigmoid(gateInput(2)),
          g = math::TanhOp::create(s.b, s.loc, gateInput(3));
    // At the start of a sequence, the old state must not contribute, even if it
    // is not finite.
    Value zero = s.constant(wide, 0);
    Value carried = s.select(s.equal(indicator, zero), zero, s.mul(f, before));
    Value after = s.add(carried, s.mul(i, g));
    Value tanhC = math::TanhOp::create(s.b, s.loc, after);
    Value h = s.mul(o, tanhC);
    SmallVector<Value> results = {steps.round(h, narrow)};
    llvm::append_range(results,
                       saved.select({body.in[0], before, i, f, o, g, tanhC}));
    results.push_back(steps.round(s.mul(h, body.in[3]), narrow));
    results.push_back(after);
    return results;
  });
  values.push_back(hidden);
  steps.finish(values);
  SmallVector<Value> results = {steps.loop.getStacked()[0],
                                steps.loop.getCarried()[0],
                                steps.loop.getCarried()[1]};
  llvm::append_range(results,
                     saved.spread(steps.loop.getStacked().drop_front()));
  return results;
}

LogicalResult
LSTMStepsOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool> needed,
                            MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to sequence indicators";
  auto backward = LSTMStepsBackwardOp::create(
      b, getLoc(), getGates().getType(), getH0().getType(), getC0().getType(),
      resultGradients[0], resultGradients[1], resultGradients[2], getCont(),
      getWh(), getCBefore(), getI(), getF(), getO(), getG(), getTanhC(),
      getLayerAttr(), getGradientLimitAttr());
  operandGradients[0] = backward.getDgates();
  operandGradients[2] = backward.getDh0();
  operandGradients[3] = backward.getDc0();
  if (needed[4])
    operandGradients[4] = InnerProductBackwardWeightsOp::create(
                              b, getLoc(), getWh().getType(), Type(), getHm(),
                              backward.getDgates(), getLayerAttr(),
                              b.getI64IntegerAttr(2), nullptr)
                              .getDw();
  return success();
}

SmallVector<Value> LSTMStepsBackwardOp::buildLoop(OpBuilder &b) {
  const auto dc0Type = tensorTypeOf(getDc0());
  StepsBuilder steps(b, *this, getCont(), dc0Type.getShape());
  const Type wide = steps.wide(), narrow = elementTypeOf(getDgates());
  const int64_t width = steps.state[2];
  Value next = steps.nextIndicators();
  auto dgatesType =
      RankedTensorType::get({1, steps.state[1], 4 * width}, narrow);
  LoopOperands operands = {
      {next, getI(), getF(), getO(), getG(), getTanhC(), getCBefore()},
      {getWh()},
      {steps.copyOf(getDhLast(), narrow), steps.copyOf(getDcLast(), wide)},
      {getDgates().getType()},
      {dgatesType}};
  if (getDy())
    operands.sequences.push_back(getDy());
  steps.start(/*isReverse=*/true, operands);
  const unsigned sequences = operands.sequences.size();
  Value wh = steps.argument(sequences), dhm = steps.argument(sequences + 1),
        dc = steps.argument(sequences + 2);
  NestBuilder nest = steps.stateNest();
  nest.input(steps.argument(0), iota(2));
  for (unsigned i = 1; i < sequences; ++i)
    nest.input(steps.argument(i), iota(3));
  const unsigned dhmInput = nest.input(dhm, iota(3)),
                 dcInput = nest.input(dc, iota(3));
  // The gradients of the gates, for the product of this iteration and for the
  // sequence.
  const RankedTensorType item = itemTypeOf(getDgates().getType());
  for (RankedTensorType full : {dgatesType, item})
    for (int gate = 0; gate < 4; ++gate)
      nest.output(subviewOf(full, steps.state), iota(3));
  nest.output(dc0Type, iota(3));
  SmallVector<Value> values = nest.build([&](NestBuilder::Body &body) {
    ScalarBuilder &s = body.s;
    auto in = [&](unsigned number) { return steps.widen(body.in[number]); };
    Value i = in(1), f = in(2), o = in(3), g = in(4), tanhC = in(5),
          before = in(6);
    Value dh = s.mul(body.in[0], in(dhmInput));
    if (getDy())
      dh = s.add(in(7), dh);
    Value one = s.constant(wide, 1);
    auto slopeOfSigmoid = [&](Value y) { return s.mul(y, s.sub(one, y)); };
    auto slopeOfTanh = [&](Value y) { return s.sub(one, s.mul(y, y)); };
    Value dcHere = s.add(s.mul(s.mul(dh, o), slopeOfTanh(tanhC)), in(dcInput));
    SmallVector<Value> gates = {s.mul(s.mul(dcHere, g), slopeOfSigmoid(i)),
                                s.mul(s.mul(dcHere, before), slopeOfSigmoid(f)),
                                s.mul(s.mul(dh, tanhC), slopeOfSigmoid(o)),
                                s.mul(s.mul(dcHere, i), slopeOfTanh(g))};
    if (getGradientLimit()) {
      const double limit = getGradientLimit()->convertToFloat();
      Value high = s.constant(wide, limit), low = s.constant(wide, -limit);
      for (Value &gate : gates)
        gate = s.select(s.greater(gate, high), high,
                        s.select(s.greater(low, gate), low, gate));
    }
    SmallVector<Value> results;
    for (int copy = 0; copy < 2; ++copy)
      for (Value gate : gates)
        results.push_back(steps.round(gate, narrow));
    results.push_back(s.mul(dcHere, f));
    return results;
  });
  auto concat = [&](ArrayRef<Value> parts, Type type) -> Value {
    return ConcatViewOp::create(b, getLoc(), type, parts, getLayerAttr(),
                                b.getI64IntegerAttr(2));
  };
  Value dgates = concat(ArrayRef(values).take_front(4), dgatesType);
  Value dgatesItem = concat(ArrayRef(values).slice(4, 4), item);
  Value nextDhm = steps.productGradient(dgates, wh);
  steps.finish({dgatesItem, nextDhm, values.back(), dgates});
  LoopOp loop = steps.loop;
  if (getDh0().use_empty())
    loop.setLastIterationSteps(1);
  return {loop.getStacked()[0],
          getDh0().use_empty() ? Value()
                               : steps.maskFirst(loop.getCarried()[0]),
          loop.getCarried()[1]};
}

//===----------------------------------------------------------------------===//
// RNN
//===----------------------------------------------------------------------===//

SmallVector<Value> RNNStepsOp::buildLoop(OpBuilder &b) {
  StepsBuilder steps(b, *this, getCont(), shapeOf(getH0()));
  const Type narrow = elementTypeOf(getH0());
  const SavedResults saved(getResults().drop_front(2));
  LoopOperands operands = {{getX(), steps.nextIndicators()},
                           {getWh()},
                           {steps.maskFirst(getH0())},
                           {getY().getType()},
                           {steps.stateType(narrow)}};
  saved.addTypes(operands);
  steps.start(/*isReverse=*/false, operands);
  Value x = steps.argument(0), nextCont = steps.argument(1),
        wh = steps.argument(2), hm = steps.argument(3);
  Value hidden = steps.product(hm, wh);
  NestBuilder nest = steps.stateNest();
  for (Value value : {x, hidden, hm})
    nest.input(value, iota(3));
  nest.input(nextCont, iota(2));
  nest.output(itemTypeOf(getY().getType()), iota(3));
  saved.addOutputs(nest);
  nest.output(steps.stateType(narrow), iota(3));
  SmallVector<Value> values = nest.build([&](NestBuilder::Body &body) {
    ScalarBuilder &s = body.s;
    Value h = math::TanhOp::create(
        s.b, s.loc, s.add(steps.widen(body.in[1]), steps.widen(body.in[0])));
    SmallVector<Value> results = {h};
    llvm::append_range(results, saved.select({body.in[2]}));
    results.push_back(steps.round(s.mul(h, body.in[3]), narrow));
    return results;
  });
  values.push_back(hidden);
  steps.finish(values);
  SmallVector<Value> results = {steps.loop.getStacked()[0],
                                steps.loop.getCarried()[0]};
  llvm::append_range(results,
                     saved.spread(steps.loop.getStacked().drop_front()));
  return results;
}

LogicalResult
RNNStepsOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                           ArrayRef<bool> needed,
                           MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to sequence indicators";
  auto backward = RNNStepsBackwardOp::create(
      b, getLoc(), getX().getType(), getH0().getType(), resultGradients[0],
      resultGradients[1], getCont(), getWh(), getY(), getLayerAttr());
  operandGradients[0] = backward.getDx();
  operandGradients[2] = backward.getDh0();
  if (needed[3])
    operandGradients[3] =
        InnerProductBackwardWeightsOp::create(
            b, getLoc(), getWh().getType(), Type(), getHm(), backward.getDx(),
            getLayerAttr(), b.getI64IntegerAttr(2), nullptr)
            .getDw();
  return success();
}

SmallVector<Value> RNNStepsBackwardOp::buildLoop(OpBuilder &b) {
  StepsBuilder steps(b, *this, getCont(), shapeOf(getDh0()));
  const Type wide = steps.wide(), narrow = elementTypeOf(getDx());
  LoopOperands operands = {{steps.nextIndicators(), getY()},
                           {getWh()},
                           {steps.copyOf(getDhLast(), narrow)},
                           {getDx().getType()},
                           {steps.stateType(narrow)}};
  if (getDy())
    operands.sequences.push_back(getDy());
  steps.start(/*isReverse=*/true, operands);
  const unsigned sequences = operands.sequences.size();
  Value wh = steps.argument(sequences), dhm = steps.argument(sequences + 1);
  NestBuilder nest = steps.stateNest();
  nest.input(steps.argument(0), iota(2));
  for (unsigned i = 1; i < sequences; ++i)
    nest.input(steps.argument(i), iota(3));
  const unsigned dhmInput = nest.input(dhm, iota(3));
  nest.output(itemTypeOf(getDx().getType()), iota(3));
  nest.output(steps.stateType(narrow), iota(3));
  SmallVector<Value> values = nest.build([&](NestBuilder::Body &body) {
    ScalarBuilder &s = body.s;
    auto in = [&](unsigned number) { return steps.widen(body.in[number]); };
    Value dh = s.mul(body.in[0], in(dhmInput)), h = in(1);
    if (getDy())
      dh = s.add(in(2), dh);
    Value slope = s.sub(s.constant(wide, 1), s.mul(h, h));
    Value dx = steps.round(s.mul(dh, slope), narrow);
    return SmallVector<Value>{dx, dx};
  });
  Value nextDhm = steps.productGradient(values[1], wh);
  steps.finish({values[0], nextDhm, values[1]});
  LoopOp loop = steps.loop;
  if (getDh0().use_empty())
    loop.setLastIterationSteps(1);
  return {loop.getStacked()[0], getDh0().use_empty()
                                    ? Value()
                                    : steps.maskFirst(loop.getCarried()[0])};
}
