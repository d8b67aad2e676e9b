//===- LowerRecurrent.cpp - Lowering of recurrent layers ------------------===//
//
// As in Caffe's LSTM and RNN layers, one product computes the contribution of
// the sequence to the gates of all time steps. Then one operation computes the
// time steps: each adds the contribution of the hidden state and computes the
// cell.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "passes/Passes.h"
#include "passes/graph/RecurrentLowering.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_LOWERRECURRENT
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using namespace brew::passes;

namespace {

/// The bottoms and parameters of one recurrent layer. `propagates` and
/// `propagatesStatic` are the propagate_down of `x` and `staticInput`.
struct Inputs {
  Value x, cont, staticInput;
  SmallVector<Value> states; ///< before the first step
  SmallVector<Value> params; ///< in Caffe's order
  bool propagates = true, propagatesStatic = true;
};

struct LowerRecurrent : brew::passes::impl::LowerRecurrentBase<LowerRecurrent> {
  using LowerRecurrentBase::LowerRecurrentBase;

  /// Returns indicators of a sequence that starts at the first step of the
  /// batch: 0 there, and 1 in all other steps.
  static Value startIndicators(Operation *op, OpBuilder &b, Value x) {
    const auto layer = op->getAttrOfType<StringAttr>("layer");
    ArrayRef<int64_t> dims = shapeOf(x).take_front(2);
    const auto type = RankedTensorType::get(dims, elementTypeOf(x));
    SmallVector<Attribute> values(countOf(dims),
                                  b.getFloatAttr(type.getElementType(), 1));
    std::fill_n(values.begin(), dims[1],
                b.getFloatAttr(type.getElementType(), 0));
    return ConstantOp::create(b, op->getLoc(), type, layer,
                              b.getStringAttr(layer.getValue() + " indicators"),
                              DenseElementsAttr::get(type, values));
  }

  /// Returns the inputs of a layer. Creates the initial states, or splits of
  /// them if they are bottoms.
  template <typename Op>
  Inputs prepareInputs(Op op, OpBuilder &b, int64_t stateCount) {
    Inputs inputs;
    auto next = op.getInputs().begin();
    inputs.propagates = propagatesTo(op, 0);
    inputs.x = *next++;
    inputs.cont = op.getCompleteSequences() ? startIndicators(op, b, inputs.x)
                                            : Value(*next++);
    if (op.getHasStatic()) {
      inputs.propagatesStatic = propagatesTo(op, 2);
      inputs.staticInput = *next++;
    }
    Type type = RankedTensorType::get(
        {1, shapeOf(inputs.x)[1], static_cast<int64_t>(op.getNumOutput())},
        elementTypeOf(inputs.x));
    LayerCreator l(b, op);
    for (int64_t i = 0; i < stateCount; ++i) {
      if (!op.getExposeHidden()) {
        inputs.states.push_back(persistentState(op, b, i, type));
        continue;
      }
      const auto bottom = next - op.getInputs().begin() + 1;
      Operation *split = splitExposed(l, *next++, "bottom " + Twine(bottom),
                                      exactHiddenGradients);
      inputs.states.push_back(split->getResult(0));
    }
    inputs.params.assign(next, op.getInputs().end());
    return inputs;
  }

  /// Returns the contributions of the sequence and of the static input to the
  /// gates of all time steps.
  Value gateInputs(LayerCreator &l, const Inputs &in) {
    Value product =
        l.product(in.x, ArrayRef(in.params).take_front(2), 2, in.propagates);
    if (!in.staticInput)
      return product;
    return l.addToEachStep(product, l.product(in.staticInput, in.params[2], 1,
                                              in.propagatesStatic));
  }

  void lower(LSTMOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    Inputs in = prepareInputs(op, b, /*stateCount=*/2);
    Value gates = gateInputs(l, in), h = in.states[0], c = in.states[1];
    auto y = cast<RankedTensorType>(op.getOutputs()[0].getType());
    SmallVector<Type> types(10, y);
    types[1] = types[2] = h.getType();
    SmallVector<NamedAttribute> attributes = l.firstTop();
    attributes.push_back(l.propagateDownAttr({true, false, true, true, true}));
    if (FloatAttr limit = op.getGradientLimitAttr())
      attributes.push_back(b.getNamedAttr("gradient_limit", limit));
    auto steps =
        l.create("lstm_steps", {gates, in.cont, h, c, in.params.back()}, types,
                 attributes)
            ->getResults();
    replaceRecurrent(op, l, in.states, steps[0], {steps[1], steps[2]},
                     exactHiddenGradients);
  }

  void lower(RNNOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    Inputs in = prepareInputs(op, b, /*stateCount=*/1);
    ArrayRef<Value> params = ArrayRef(in.params).take_back(3);
    Value x = gateInputs(l, in), h = in.states[0];
    auto steps = l.create("rnn_steps", {x, in.cont, h, params[0]},
                          {x.getType(), h.getType(), x.getType()},
                          l.propagateDownAttr({true, false, true, true}))
                     ->getResults();
    Operation *y =
        l.create("tanh", l.product(steps[0], params.drop_front(), 2, true),
                 op.getOutputs()[0].getType(), l.firstTop());
    replaceRecurrent(op, l, in.states, y->getResult(0), steps[1],
                     exactHiddenGradients);
  }

  void lower(RunCountOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    const Type type = op.getCount().getType();
    Value runs = persistentState(op, b, 0, type);
    auto add = [&](double number) {
      auto setting = [&](StringRef name, double value) {
        return b.getNamedAttr(name, b.getF32FloatAttr(value));
      };
      return l
          .create("power", runs, type,
                  {setting("power", 1), setting("scale", 1),
                   setting("shift", number)})
          ->getResult(0);
    };
    StoreParamOp::create(b, op.getLoc(), add(1),
                         runs.getDefiningOp<ParamValueOp>().getParamAttr());
    op.getCount().replaceAllUsesWith(add(op.getFirst()));
    op.erase();
  }

  void runOnOperation() override {
    SmallVector<Operation *> layers;
    getOperation().walk([&](Operation *op) {
      if (isa<ConvLSTMOp, LSTMOp, MeanFieldOp, RNNOp, RunCountOp>(op))
        layers.push_back(op);
    });
    for (Operation *op : layers) {
      if (auto lstm = dyn_cast<LSTMOp>(op))
        lower(lstm);
      else if (auto convLstm = dyn_cast<ConvLSTMOp>(op))
        lowerConvLstm(convLstm);
      else if (auto meanField = dyn_cast<MeanFieldOp>(op))
        lowerMeanField(meanField);
      else if (auto count = dyn_cast<RunCountOp>(op))
        lower(count);
      else
        lower(cast<RNNOp>(op));
    }
  }
};

} // namespace
