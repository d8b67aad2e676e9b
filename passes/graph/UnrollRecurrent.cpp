//===- UnrollRecurrent.cpp - Unrolling of recurrent layers ----------------===//
//
// Builds the same layers as Caffe's LSTM and RNN layers: one product computes
// the contribution of the sequence to the gates of all time steps; then each
// step adds the contribution of the hidden state and computes the cell. The
// copies are ordinary layers, differentiated and fused like any other.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "passes/Passes.h"
#include "passes/analysis/ParameterOffsets.h"
#include "passes/graph/NoGradient.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_UNROLLRECURRENT
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
    state.addAttribute("tops", b.getStrArrayAttr({}));
    state.addAttributes(attributes);
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

  Value sum(ArrayRef<Value> terms) {
    if (terms.size() == 1)
      return terms[0];
    return create(
               "eltwise", terms, terms[0].getType(),
               {b.getNamedAttr("kind", EltwiseKindAttr::get(b.getContext(),
                                                            EltwiseKind::Sum)),
                b.getNamedAttr("coeff", b.getDenseF32ArrayAttr({}))})
        ->getResult(0);
  }

  /// Slices `x` into time steps, each with a leading dimension of 1.
  SmallVector<Value> sliceSteps(Value x, bool propagates) {
    SmallVector<int64_t> shape(shapeOf(x));
    int64_t count = shape[0];
    if (count == 1)
      return {x};
    shape[0] = 1;
    SmallVector<Type> types(count,
                            RankedTensorType::get(shape, elementTypeOf(x)));
    return create(
               "slice", x, types,
               {integerAttr("axis", 0),
                b.getNamedAttr("points", b.getDenseI64ArrayAttr(llvm::to_vector(
                                             llvm::seq<int64_t>(1, count)))),
                propagateDownAttr(propagates)})
        ->getResults();
  }

  /// Multiplies x by cont, which has x's leading dimensions and no gradient.
  Value maskByCont(Value x, Value cont) {
    return create("scale", {x, cont}, x.getType(),
                  {integerAttr("axis", 0), integerAttr("num_axes", 2),
                   propagateDownAttr({true, false})})
        ->getResult(0);
  }

  Value tanh(Value x) {
    return create("tanh", x, x.getType(), {})->getResult(0);
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

struct UnrollRecurrent
    : brew::passes::impl::UnrollRecurrentBase<UnrollRecurrent> {
  using UnrollRecurrentBase::UnrollRecurrentBase;

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
    inputs.cont = *next++;
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

  /// Returns the contributions of the sequence and the static input to the
  /// gates: one list of terms per time step.
  SmallVector<SmallVector<Value>> gateTerms(LayerCreator &l, const Inputs &in) {
    Value product =
        l.product(in.x, ArrayRef(in.params).take_front(2), 2, in.propagates);
    SmallVector<SmallVector<Value>> terms;
    for (Value step : l.sliceSteps(product, true))
      terms.push_back({step});
    if (!in.staticInput)
      return terms;
    Value flat =
        l.product(in.staticInput, in.params[2], 1, in.propagatesStatic);
    auto type = cast<RankedTensorType>(terms[0][0].getType());
    Value row = ReinterpretOp::create(l.b, l.layer->getLoc(), type, flat);
    for (SmallVector<Value> &step : terms)
      step.push_back(row);
    return terms;
  }

  /// Concatenates the steps' results and replaces the layer. `states` are the
  /// states after the last step.
  template <typename Op>
  void finish(Op op, LayerCreator &l, const Inputs &in, ArrayRef<Value> results,
              ArrayRef<Value> states) {
    Value y = results[0];
    SmallVector<NamedAttribute> attributes = {l.integerAttr("axis", 0)};
    Operation *concat =
        l.create("concat", results, op.getOutputs()[0].getType(), attributes);
    concat->setAttr("tops", l.b.getStrArrayAttr(
                                cast<StringAttr>(op.getTops()[0]).getValue()));
    if (auto weights = op.getLossWeights())
      concat->setAttr("loss_weights",
                      l.b.getDenseF32ArrayAttr(weights->take_front(1)));
    y = concat->getResult(0);
    op.getOutputs()[0].replaceAllUsesWith(y);
    if (op.getExposeHidden()) {
      for (auto [i, state] : llvm::enumerate(states)) {
        // Create a separate top, which has its own name and loss weight.
        auto name = cast<StringAttr>(op.getTops()[i + 1]).getValue();
        Operation *top = splitExposed(l, state, "top '" + name + "'");
        top->setAttr("tops",
                     l.b.getStrArrayAttr(
                         cast<StringAttr>(op.getTops()[i + 1]).getValue()));
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

  void unroll(LSTMOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    Inputs in = prepareInputs(op, b, /*stateCount=*/2);
    SmallVector<SmallVector<Value>> terms = gateTerms(l, in);
    SmallVector<Value> cont = l.sliceSteps(in.cont, false), results;
    Value weights = in.params.back(), h = in.states[0], c = in.states[1];
    for (auto [step, stepCont] : llvm::zip(terms, cont)) {
      Value hidden = l.product(l.maskByCont(h, stepCont), weights, 2, true);
      SmallVector<Value> gates = {hidden};
      gates.append(step);
      SmallVector<Type> types(7, c.getType());
      Operation *unit =
          l.create("lstm_unit", {c, l.sum(gates), stepCont}, types,
                   l.propagateDownAttr({true, true, false}));
      c = unit->getResult(0);
      h = unit->getResult(1);
      results.push_back(h);
    }
    finish(op, l, in, results, {h, c});
  }

  void unroll(RNNOp op) {
    OpBuilder b(op);
    LayerCreator l(b, op);
    Inputs in = prepareInputs(op, b, /*stateCount=*/1);
    SmallVector<SmallVector<Value>> terms = gateTerms(l, in);
    SmallVector<Value> cont = l.sliceSteps(in.cont, false), results;
    ArrayRef<Value> hiddenAndOutputParams = ArrayRef(in.params).take_back(3);
    Value h = in.states[0];
    for (auto [step, stepCont] : llvm::zip(terms, cont)) {
      SmallVector<Value> sum = {l.product(l.maskByCont(h, stepCont),
                                          hiddenAndOutputParams[0], 2, true)};
      sum.append(step);
      h = l.tanh(l.sum(sum));
      results.push_back(
          l.tanh(l.product(h, hiddenAndOutputParams.drop_front(), 2, true)));
    }
    finish(op, l, in, results, h);
  }

  void runOnOperation() override {
    SmallVector<Operation *> layers;
    getOperation().walk([&](Operation *op) {
      if (isa<LSTMOp, RNNOp>(op))
        layers.push_back(op);
    });
    for (Operation *op : layers) {
      if (auto lstm = dyn_cast<LSTMOp>(op))
        unroll(lstm);
      else
        unroll(cast<RNNOp>(op));
    }
  }
};

} // namespace
