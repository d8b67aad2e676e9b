//===- Recurrent.cpp - LSTM, RNN and the LSTM cell ------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// LSTM, RNN
//===----------------------------------------------------------------------===//

namespace {

std::string textOf(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + ")";
}

LogicalResult checkIndicators(Operation *layer, ArrayRef<int64_t> x,
                              Value indicators) {
  ArrayRef<int64_t> cont = shapeOf(indicators);
  if (cont == x.take_front(2))
    return success();
  return layerError(layer) << "the sequence indicators must have the time "
                              "steps and streams of the first bottom, "
                           << textOf(x.take_front(2)) << ", not "
                           << textOf(cont);
}

/// Checks the `states` hidden bottoms from input `next` on, if there are any.
/// Infers the shapes of the tops from the shape of a state.
template <typename Op>
LogicalResult inferStates(Op op, int64_t states, ArrayRef<int64_t> state,
                          unsigned next, Shapes &tops) {
  tops.emplace_back(state)[0] = shapeOf(op.getInputs()[0])[0];
  if (!op.getExposeHidden())
    return success();
  for (int64_t i = 0; i < states; ++i) {
    ArrayRef<int64_t> hidden = shapeOf(op.getInputs()[next + i]);
    if (hidden != state)
      return layerError(op) << "a hidden state must be " << textOf(state)
                            << ", not " << textOf(hidden);
    tops.emplace_back(state);
  }
  return success();
}

/// Checks the bottoms of a layer with `states` hidden blobs. Infers the shapes
/// of its tops and of the parameters that multiply the bottoms: weights and
/// bias of `gates` rows per output, and static weights.
template <typename Op>
LogicalResult inferRecurrent(Op op, int64_t states, int64_t gates, Shapes &tops,
                             Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(op.getInputs()[0]);
  if (x.size() < 2)
    return layerError(op) << "needs a bottom of at least 2 dimensions (time "
                             "steps, streams, ...), not "
                          << x.size();
  if (op.getCompleteSequences() && x.size() < 3)
    return layerError(op)
           << "without batch_size, needs a bottom of at least 3 dimensions "
              "(time steps, sequences, ...), as in caffe_ocr; with batch_size, "
              "dimension 0 has all time steps, as in caffe-lstm";
  unsigned next = 1;
  if (!op.getCompleteSequences() &&
      failed(checkIndicators(op, x, op.getInputs()[next++])))
    return failure();
  int64_t outputs = op.getNumOutput(), rows = gates * outputs;
  params.push_back({rows, countOf(x.drop_front(2))});
  params.push_back({rows});
  if (op.getHasStatic()) {
    ArrayRef<int64_t> input = shapeOf(op.getInputs()[next++]);
    if (input.empty() || input[0] != x[1])
      return layerError(op)
             << "the static input must have one item per "
                "stream: "
             << x[1] << ", not " << (input.empty() ? 1 : input[0]);
    params.push_back({rows, countOf(input.drop_front(1))});
  }
  SmallVector<int64_t> state = {1, x[1], outputs};
  if (failed(inferStates(op, states, state, next, tops)))
    return failure();
  params.push_back({rows, outputs});
  return success();
}

/// Rejects item counts: the loop over the time steps has a fixed number of
/// iterations, and Caffe aborts if the number of steps changes.
LogicalResult rejectItemCounts(Operation *layer, const ItemCounts &counts) {
  for (auto [i, operand] : llvm::enumerate(layer->getOperands()))
    if (counts.of(operand))
      return counts.reject(layer, operand,
                           "needs all " + Twine(shapeOf(operand)[0]) +
                               (i < 2 ? " time steps" : " items") +
                               " of its bottom in every batch");
  return success();
}

} // namespace

LogicalResult LSTMOp::propagateItemCounts(ItemCounts &counts) {
  return rejectItemCounts(*this, counts);
}

LogicalResult RNNOp::propagateItemCounts(ItemCounts &counts) {
  return rejectItemCounts(*this, counts);
}

LogicalResult LSTMOp::inferShapes(Shapes &tops, Shapes &params) {
  return inferRecurrent(*this, /*states=*/2, /*gates=*/4, tops, params);
}

LogicalResult RNNOp::inferShapes(Shapes &tops, Shapes &params) {
  int64_t outputs = getNumOutput();
  if (failed(inferRecurrent(*this, /*states=*/1, /*gates=*/1, tops, params)))
    return failure();
  params.push_back({outputs, outputs}); // hidden state to output
  params.push_back({outputs});
  return success();
}

//===----------------------------------------------------------------------===//
// ConvLSTM
//===----------------------------------------------------------------------===//

LogicalResult ConvLSTMOp::propagateItemCounts(ItemCounts &counts) {
  return rejectItemCounts(*this, counts);
}

/// Returns the extent of a convolution's result in spatial dimension `i`.
static int64_t convolvedExtent(ConvLSTMOp op, int64_t extent, unsigned i) {
  const int64_t window = op.getDilation()[i] * (op.getKernel()[i] - 1) + 1;
  return (extent + 2 * op.getPad()[i] - window) / op.getStride()[i] + 1;
}

/// Infers the shapes of the parameters for a state of shape `state`.
static LogicalResult inferConvLstmParams(ConvLSTMOp op, ArrayRef<int64_t> state,
                                         Shapes &params) {
  const int64_t outputs = op.getNumOutput();
  params.assign(2, {1});
  params.push_back({4 * outputs, outputs / static_cast<int64_t>(op.getGroup()),
                    op.getKernel()[0], op.getKernel()[1]});
  params.push_back({4 * outputs});
  if (op.getPeepholeAxis()) {
    const uint64_t rank = state.size(), first = *op.getPeepholeAxis(),
                   axes = *op.getPeepholeAxes();
    if (first >= rank || axes > rank - first)
      return layerError(op)
             << "axis_hadamard " << first << " and num_axes_hadamard " << axes
             << " exceed the " << rank << " dimensions of the cell state";
    params.append(3, SmallVector<int64_t>(state.slice(first, axes)));
  }
  params.append(2, {1});
  return success();
}

LogicalResult ConvLSTMOp::inferShapes(Shapes &tops, Shapes &params) {
  constexpr int64_t kMaxSteps = 1024; // each becomes several operations
  ArrayRef<int64_t> x = shapeOf(getInputs()[0]);
  if (x.size() != 5)
    return layerError(*this)
           << "needs a bottom of 5 dimensions (time steps, streams, channels, "
              "height, width), not "
           << x.size();
  if (x[0] > kMaxSteps)
    return layerError(*this) << "has " << x[0] << " time steps; at most "
                             << kMaxSteps << " are supported";
  const int64_t outputs = getNumOutput();
  if (!getIgnoreX()) {
    ArrayRef<int64_t> gates = shapeOf(getInputs().back());
    if (gates.drop_front(3) != x.drop_front(3))
      return layerError(*this)
             << "the convolution of the first bottom must keep its height and "
                "width, "
             << textOf(x.drop_front(3)) << ", but returns "
             << textOf(gates.drop_front(3));
  }
  if (failed(checkIndicators(*this, x, getInputs()[1])))
    return failure();
  const SmallVector<int64_t> state = {1, x[1], outputs, x[3], x[4]};
  const SmallVector<int64_t> convolved = {convolvedExtent(*this, x[3], 0),
                                          convolvedExtent(*this, x[4], 1)};
  if (x.drop_front(3) != ArrayRef(convolved))
    return layerError(*this)
           << "the convolution of the hidden state must keep its height and "
              "width, "
           << textOf(x.drop_front(3)) << ", but returns " << textOf(convolved);
  if (failed(inferStates(*this, /*states=*/2, state, /*next=*/2, tops)))
    return failure();
  return inferConvLstmParams(*this, state, params);
}

//===----------------------------------------------------------------------===//
// Mean field, run count
//===----------------------------------------------------------------------===//

LogicalResult MeanFieldOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> unary = shapeOf(getUnary()), start = shapeOf(getStart()),
                    image = shapeOf(getImage());
  if (unary.size() != 4)
    return layerError(*this)
           << "takes unary terms of shape (N, C, H, W), not " << textOf(unary);
  if (start != unary)
    return layerError(*this)
           << "the second bottom must have the shape of the unary terms, "
           << textOf(unary) << ", not " << textOf(start);
  const SmallVector<int64_t> expected = {unary[0], 3, unary[2], unary[3]};
  if (image != ArrayRef(expected))
    return layerError(*this) << "takes images of shape " << textOf(expected)
                             << ", as the unary terms have shape "
                             << textOf(unary) << ", not " << textOf(image);
  const int64_t classes = unary[1];
  if (getClasses() && static_cast<int64_t>(*getClasses()) != classes)
    return layerError(*this)
           << "has initial weights for " << *getClasses()
           << " classes, but the unary terms have " << classes;
  tops.emplace_back(unary);
  params.assign(3, {1, 1, classes, classes});
  return success();
}

LogicalResult RunCountOp::inferShapes(Shapes &tops, Shapes &) {
  tops.push_back({1});
  return success();
}

//===----------------------------------------------------------------------===//
// LSTMUnit
//===----------------------------------------------------------------------===//

bool LSTMUnitOp::mustStayExact(unsigned operand) {
  return operand == getContMutable().getOperandNumber();
}

/// The cell state is a sum over all time steps.
bool LSTMUnitOp::staysF32(unsigned result) { return result == 0; }

LogicalResult LSTMUnitOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> c = shapeOf(getCPrev()), x = shapeOf(getX()),
                    cont = shapeOf(getCont());
  if (c.size() != 3 || c[0] != 1)
    return layerError(*this)
           << "the cell state must have shape (1, N, D), not " << textOf(c);
  if (x != ArrayRef<int64_t>{1, c[1], 4 * c[2]})
    return layerError(*this)
           << "the gates' inputs must have shape "
           << textOf({1, c[1], 4 * c[2]}) << ", not " << textOf(x);
  if (cont != ArrayRef<int64_t>{1, c[1]})
    return layerError(*this) << "the sequence indicators must have shape "
                             << textOf({1, c[1]}) << ", not " << textOf(cont);
  tops.assign(7, SmallVector<int64_t>(c));
  return success();
}

SmallVector<Value> LSTMUnitOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getC());
  int64_t width = type.getDimSize(2);
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getCPrev(), iota(3));
  nest.input(getCont(), iota(2));
  for (int i = 0; i < 7; ++i)
    nest.output(type, iota(3));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    auto gateInput = [&](int64_t gate) {
      Value column = s.addi(body.loop(2), s.index(gate * width));
      return body.read(x, {body.loop(0), body.loop(1), column});
    };
    Value i = s.sigmoid(gateInput(0)),
          f = s.mul(body.in[1], s.sigmoid(gateInput(1))),
          o = s.sigmoid(gateInput(2)),
          g = math::TanhOp::create(s.b, s.loc, gateInput(3));
    // At the start of a sequence, the old state must not contribute, even if it
    // is not finite.
    Value zero = s.constant(type.getElementType(), 0);
    Value carried =
        s.select(s.equal(body.in[1], zero), zero, s.mul(f, body.in[0]));
    Value c = s.add(carried, s.mul(i, g));
    Value tanhC = math::TanhOp::create(s.b, s.loc, c);
    return {c, s.mul(o, tanhC), i, f, o, g, tanhC};
  });
}

LogicalResult
LSTMUnitOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                           ArrayRef<bool> needed,
                           MutableArrayRef<Value> operandGradients) {
  if (needed[2])
    return layerError(*this) << "cannot backpropagate to sequence indicators";
  auto type = RankedTensorType::get(shapeOf(getC()), elementTypeOf(getC()));
  int64_t width = type.getDimSize(2);
  Value dc = resultGradients[0], dh = resultGradients[1];
  // Builds the gradient of c, including the gradient through h.
  NestBuilder total(b, getLoc(), type.getShape());
  for (Value value : {getO(), getTanhC()})
    total.input(value, iota(3));
  if (dh)
    total.input(dh, iota(3));
  if (dc)
    total.input(dc, iota(3));
  total.output(type, iota(3));
  Value dcTotal =
      total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value sum;
        if (dh) {
          Value one = s.constant(type.getElementType(), 1);
          Value slope = s.sub(one, s.mul(body.in[1], body.in[1]));
          sum = s.mul(s.mul(body.in[2], body.in[0]), slope);
        }
        if (dc)
          sum = sum ? s.add(sum, body.in.back()) : body.in.back();
        return {sum};
      })[0];
  if (needed[0]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    nest.input(dcTotal, iota(3));
    nest.input(getF(), iota(3));
    nest.output(type, iota(3));
    operandGradients[0] =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.s.mul(body.in[0], body.in[1])};
        })[0];
  }
  if (!needed[1])
    return success();
  // The gates are concatenated along the last dimension.
  auto xType = RankedTensorType::get(shapeOf(getX()), elementTypeOf(getX()));
  NestBuilder nest(b, getLoc(), xType.getShape());
  nest.output(xType, iota(3));
  Value cPrev = getCPrev(), i = getI(), f = getF(), o = getO(), g = getG(),
        tanhC = getTanhC();
  operandGradients[1] =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value gate = s.divi(body.loop(2), width);
        SmallVector<Value> indices = {body.loop(0), body.loop(1),
                                      s.remi(body.loop(2), width)};
        auto read = [&](Value tensor) { return body.read(tensor, indices); };
        auto isGate = [&](int64_t gateIndex) {
          return s.equali(gate, s.index(gateIndex));
        };
        Value one = s.constant(xType.getElementType(), 1);
        // A gate's derivative is y (1 - y), except for the cell's tanh.
        Value y = s.select(isGate(0), read(i),
                           s.select(isGate(1), read(f),
                                    s.select(isGate(2), read(o), read(g))));
        Value slope = s.select(isGate(3), s.sub(one, s.mul(y, y)),
                               s.mul(y, s.sub(one, y)));
        Value dcHere = read(dcTotal);
        Value outer = dh ? s.mul(read(dh), read(tanhC))
                         : s.constant(xType.getElementType(), 0);
        Value factor = s.select(
            isGate(0), s.mul(dcHere, read(g)),
            s.select(isGate(1), s.mul(dcHere, read(cPrev)),
                     s.select(isGate(2), outer, s.mul(dcHere, read(i)))));
        return {s.mul(factor, slope)};
      })[0];
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/recurrent/Recurrent.cpp.inc"

void brew::dialects::registerRecurrentLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/recurrent/Recurrent.cpp.inc"
      >();
}
