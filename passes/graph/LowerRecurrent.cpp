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
#include "passes/analysis/ParameterOffsets.h"
#include "passes/graph/NoGradient.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_LOWERRECURRENT
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Creates layer operations by name, with the common attributes.
class LayerCreator {
public:
  LayerCreator(OpBuilder &b, Operation *layer) : b(b), layer(layer) {}

  Operation *create(StringRef name, ValueRange operands, ArrayRef<Type> types,
                    ArrayRef<NamedAttribute> attributes) {
    OperationState state(layer->getLoc(), ("brew." + name).str());
    state.addOperands(operands);
    state.addTypes(types);
    state.addAttribute("layer", layer->getAttr("layer"));
    state.addAttributes(attributes);
    if (!state.attributes.get("tops"))
      state.addAttribute("tops", b.getStrArrayAttr({}));
    return b.create(state);
  }
  NamedAttribute integerAttr(StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  NamedAttribute propagateDownAttr(ArrayRef<bool> flags) {
    return b.getNamedAttr("propagate_down", b.getDenseBoolArrayAttr(flags));
  }

  /// Returns x . w^T (+ bias), contracting the dimensions from `axis` on.
  Value product(Value x, ValueRange weights, int64_t axis, bool propagates) {
    int64_t outputs = shapeOf(weights[0])[0];
    SmallVector<int64_t> shape(shapeOf(x).take_front(axis));
    shape.push_back(outputs);
    SmallVector<Value> operands = {x};
    operands.append(weights.begin(), weights.end());
    return create("inner_product", operands,
                  RankedTensorType::get(shape, elementTypeOf(x)),
                  {integerAttr("num_output", outputs),
                   integerAttr("axis", axis), propagateDownAttr(propagates)})
        ->getResult(0);
  }

  /// Adds `row`, which is the same for all time steps: x [T, N, ...], row
  /// [N, ...].
  Value addToEachStep(Value x, Value row) {
    return create("bias", {x, row}, x.getType(),
                  {integerAttr("axis", 1), integerAttr("num_axes", 2)})
        ->getResult(0);
  }

  OpBuilder &b;
  Operation *layer;
};

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

  /// Creates a split of a state that is exposed as a bottom or top of the
  /// layer; `blob` names the bottom or top.
  Operation *splitExposed(LayerCreator &l, Value state, const Twine &blob) {
    Operation *split = l.create("split", state, state.getType(), {});
    if (!exactHiddenGradients) {
      split->setAttr("propagate_down", l.b.getDenseBoolArrayAttr({false}));
      split->setAttr(brew::passes::kNoGradientAttr, l.b.getStringAttr(blob));
    }
    return split;
  }

  /// Returns persistent state, initially zero. Weight files and solvers do not
  /// see it as a parameter.
  Value persistentState(Operation *op, OpBuilder &b, int64_t number,
                        Type type) {
    auto program = op->getParentOfType<ProgramOp>();
    std::string name = (op->getAttrOfType<StringAttr>("layer").getValue() +
                        ".state" + Twine(number) + "." + program.getSymName())
                           .str();
    OpBuilder module(program);
    auto param = ParamOp::create(
        module, op->getLoc(), StringAttr::get(b.getContext(), name),
        TypeAttr::get(type), op->getAttrOfType<StringAttr>("layer"),
        b.getI64IntegerAttr(number), DenseI64ArrayAttr(),
        brew::dialects::plan::FillerAttr(), b.getF32FloatAttr(0),
        b.getF32FloatAttr(0), StringAttr(), ArrayAttr(), UnitAttr(), UnitAttr(),
        b.getStringAttr(""));
    param->setAttr(brew::passes::kPersistentAttr, b.getUnitAttr());
    return ParamValueOp::create(b, op->getLoc(), type,
                                FlatSymbolRefAttr::get(b.getContext(), name));
  }

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
    auto propagateDown =
        op->template getAttrOfType<DenseBoolArrayAttr>("propagate_down");
    auto allowed = [&](int64_t bottom) {
      return !propagateDown || propagateDown[bottom];
    };
    inputs.propagates = allowed(0);
    inputs.x = *next++;
    inputs.cont = op.getCompleteSequences() ? startIndicators(op, b, inputs.x)
                                            : Value(*next++);
    if (op.getHasStatic()) {
      inputs.propagatesStatic = allowed(2);
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
      Operation *split = splitExposed(l, *next++, "bottom " + Twine(bottom));
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

  /// Returns the tops and the loss weights that belong to the first top of a
  /// layer.
  static SmallVector<NamedAttribute> firstTop(LayerCreator &l, Operation *op) {
    if (op->getAttrOfType<ArrayAttr>("tops").empty())
      return {}; // another operation creates the layer's top
    SmallVector<NamedAttribute> attributes = {l.b.getNamedAttr(
        "tops", l.b.getStrArrayAttr(
                    cast<StringAttr>(op->getAttrOfType<ArrayAttr>("tops")[0])
                        .getValue()))};
    if (auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights"))
      attributes.push_back(l.b.getNamedAttr(
          "loss_weights",
          l.b.getDenseF32ArrayAttr(weights.asArrayRef().take_front(1))));
    return attributes;
  }

  /// Replaces the layer by its first top, `y`, and by the states after the last
  /// step.
  template <typename Op>
  void finish(Op op, LayerCreator &l, const Inputs &in, Value y,
              ArrayRef<Value> states) {
    op.getOutputs()[0].replaceAllUsesWith(y);
    if (op.getExposeHidden()) {
      for (auto [i, state] : llvm::enumerate(states)) {
        // Create a separate top, which has its own name and loss weight.
        auto name = cast<StringAttr>(op.getTops()[i + 1]).getValue();
        Operation *top = splitExposed(l, state, "top '" + name + "'");
        top->setAttr("tops", l.b.getStrArrayAttr(name));
        if (auto weights = op.getLossWeights())
          top->setAttr("loss_weights",
                       l.b.getDenseF32ArrayAttr((*weights)[i + 1]));
        op.getOutputs()[i + 1].replaceAllUsesWith(top->getResult(0));
      }
    } else {
      for (auto [before, after] : llvm::zip(in.states, states))
        StoreParamOp::create(
            l.b, op.getLoc(), after,
            before.template getDefiningOp<ParamValueOp>().getParamAttr());
    }
    op.erase();
  }

  void lower(LSTMOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    Inputs in = prepareInputs(op, b, /*stateCount=*/2);
    Value gates = gateInputs(l, in), h = in.states[0], c = in.states[1];
    auto y = cast<RankedTensorType>(op.getOutputs()[0].getType());
    SmallVector<Type> types(10, y);
    types[1] = types[2] = h.getType();
    SmallVector<NamedAttribute> attributes = firstTop(l, op);
    attributes.push_back(l.propagateDownAttr({true, false, true, true, true}));
    if (FloatAttr limit = op.getGradientLimitAttr())
      attributes.push_back(b.getNamedAttr("gradient_limit", limit));
    auto steps =
        l.create("lstm_steps", {gates, in.cont, h, c, in.params.back()}, types,
                 attributes)
            ->getResults();
    finish(op, l, in, steps[0], {steps[1], steps[2]});
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
                 op.getOutputs()[0].getType(), firstTop(l, op));
    finish(op, l, in, y->getResult(0), steps[1]);
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
      if (isa<LSTMOp, RNNOp, RunCountOp>(op))
        layers.push_back(op);
    });
    for (Operation *op : layers) {
      if (auto lstm = dyn_cast<LSTMOp>(op))
        lower(lstm);
      else if (auto count = dyn_cast<RunCountOp>(op))
        lower(count);
      else
        lower(cast<RNNOp>(op));
    }
  }
};

} // namespace
