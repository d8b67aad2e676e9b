//===- LowerConvLstm.cpp - Lowering of ConvLSTM ---------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "passes/graph/RecurrentLowering.h"

using namespace mlir;
using namespace brew::dialects;
using namespace brew::passes;

namespace {

/// Builds the operations of the time steps of one layer.
class ConvLstmSteps {
public:
  explicit ConvLstmSteps(ConvLSTMOp op);
  void lower();

private:
  Type typeOf(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, elementTypeOf(h));
  }
  /// Returns [1, N, factor D, H, W].
  Type stateType(int64_t factor) const {
    SmallVector<int64_t> shape(state);
    shape[2] *= factor;
    return typeOf(shape);
  }
  /// Returns the slices of x [T, ...] at each time step.
  SmallVector<Value> slice(Value x);
  /// Returns the contribution of the hidden state to the inputs of the gates.
  Value convolveHidden(Value cont);
  /// Returns the contribution of the cell state to the inputs of the gates.
  Value peepholes();
  /// Computes one time step, with the contribution of the sequence, if any.
  void step(Value fromSequence, Value cont);

  OpBuilder b;
  ConvLSTMOp op;
  LayerCreator l;
  const int64_t steps;
  SmallVector<int64_t> state; ///< its shape, [1, N, D, H, W]
  Value gates;                ///< null: the sequence contributes nothing
  Value cont, h, c;
  bool differentiatesState; ///< h and c; not if they persist from the last run
  SmallVector<Value> initial;         ///< h and c before the first step
  Value weights, bias;                ///< of the hidden state
  SmallVector<Value> peepholeWeights; ///< of i, f and o, or none
};

} // namespace

ConvLstmSteps::ConvLstmSteps(ConvLSTMOp op)
    : b(op), op(op), l(b, op), steps(shapeOf(op.getOutputs()[0])[0]),
      state(shapeOf(op.getOutputs()[0])),
      differentiatesState(op.getExposeHidden()) {
  state[0] = 1;
  auto next = op.getInputs().begin() + 1;
  cont = *next++;
  Type type = RankedTensorType::get(state, elementTypeOf(op.getOutputs()[0]));
  for (int64_t i = 0; i < 2; ++i) {
    if (!op.getExposeHidden()) {
      initial.push_back(persistentState(op, b, i, type));
      continue;
    }
    Operation *split = splitExposed(l, *next++, "bottom " + Twine(i + 3), true);
    if (!propagatesTo(op, i + 2))
      split->setAttr("propagate_down", b.getDenseBoolArrayAttr({false}));
    initial.push_back(split->getResult(0));
  }
  h = initial[0];
  c = initial[1];
  next += 2; // placeholders
  weights = *next++;
  bias = *next++;
  if (op.getPeepholeAxis())
    peepholeWeights.assign(next, next + 3);
  if (!op.getIgnoreX())
    gates = op.getInputs().back();
}

SmallVector<Value> ConvLstmSteps::slice(Value x) {
  if (steps == 1)
    return {x};
  SmallVector<int64_t> shape(shapeOf(x));
  shape[0] = 1;
  SmallVector<Type> types(steps, typeOf(shape));
  const auto points = llvm::to_vector(llvm::seq<int64_t>(1, steps));
  Operation *slices =
      l.create("slice", x, types,
               {l.integerAttr("axis", 0), l.integersAttr("points", points)});
  return llvm::to_vector_of<Value>(slices->getResults());
}

Value ConvLstmSteps::convolveHidden(Value contNow) {
  Value masked =
      l.create("scale", {h, contNow}, h.getType(),
               {l.integerAttr("axis", 0), l.integerAttr("num_axes", 2),
                l.propagateDownAttr({differentiatesState, false})})
          ->getResult(0);
  return l
      .create("convolution", {masked, weights, bias}, stateType(4),
              {l.integerAttr("num_output", 4 * state[2]),
               l.integerAttr("group", op.getGroup()),
               l.integersAttr("kernel", op.getKernel()),
               l.integersAttr("stride", op.getStride()),
               l.integersAttr("pad", op.getPad()),
               l.integersAttr("dilation", op.getDilation()),
               l.integerAttr("axis", 2)})
      ->getResult(0);
}

Value ConvLstmSteps::peepholes() {
  SmallVector<Value> products;
  for (Value weight : peepholeWeights)
    products.push_back(
        l.create("scale", {c, weight}, c.getType(),
                 {l.integerAttr("axis", *op.getPeepholeAxis()),
                  l.integerAttr("num_axes", *op.getPeepholeAxes())})
            ->getResult(0));
  // The cell's input g has no peephole.
  products.push_back(
      FillOp::create(b, op.getLoc(), c.getType(), b.getF64FloatAttr(0)));
  return l.create("concat", products, stateType(4), {l.integerAttr("axis", 2)})
      ->getResult(0);
}

void ConvLstmSteps::step(Value fromSequence, Value contNow) {
  SmallVector<Value> terms = {convolveHidden(contNow)};
  if (fromSequence)
    terms.push_back(fromSequence);
  if (!peepholeWeights.empty())
    terms.push_back(peepholes());
  const int64_t width = state[2] * state[3] * state[4];
  const SmallVector<int64_t> flat = {1, state[1], width};
  Value inputs = terms.size() > 1 ? l.sum(terms) : terms[0];
  SmallVector<Type> types(7, typeOf(flat));
  ResultRange unit =
      l.create("lstm_unit",
               {l.reshape(c, flat), l.reshape(inputs, {1, state[1], 4 * width}),
                contNow},
               types, l.propagateDownAttr({differentiatesState, true, false}))
          ->getResults();
  c = l.reshape(unit[0], state);
  h = l.reshape(unit[1], state);
}

void ConvLstmSteps::lower() {
  SmallVector<Value> fromSequence(steps), hidden;
  if (gates)
    fromSequence = slice(gates);
  for (auto [x, contNow] : llvm::zip_equal(fromSequence, slice(cont))) {
    step(x, contNow);
    hidden.push_back(h);
    differentiatesState = true;
  }
  SmallVector<NamedAttribute> attributes = l.firstTop();
  attributes.push_back(l.integerAttr("axis", 0));
  Value y = l.create("concat", hidden, op.getOutputs()[0].getType(), attributes)
                ->getResult(0);
  replaceRecurrent(op, l, initial, y, {h, c}, /*exactGradients=*/true);
}

void brew::passes::lowerConvLstm(ConvLSTMOp op) { ConvLstmSteps(op).lower(); }
