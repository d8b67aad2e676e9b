//===- RecurrentLowering.cpp - Helpers of brew-lower-recurrent ------------===//
#include "passes/graph/RecurrentLowering.h"

#include "passes/analysis/ParameterOffsets.h"
#include "passes/graph/NoGradient.h"

using namespace mlir;
using namespace brew::dialects;
using brew::passes::LayerCreator;

Operation *LayerCreator::create(StringRef name, ValueRange operands,
                                TypeRange types,
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

Value LayerCreator::product(Value x, ValueRange weights, int64_t axis,
                            bool propagates) {
  int64_t outputs = shapeOf(weights[0])[0];
  SmallVector<int64_t> shape(shapeOf(x).take_front(axis));
  shape.push_back(outputs);
  SmallVector<Value> operands = {x};
  operands.append(weights.begin(), weights.end());
  return create("inner_product", operands,
                RankedTensorType::get(shape, elementTypeOf(x)),
                {integerAttr("num_output", outputs), integerAttr("axis", axis),
                 propagateDownAttr(propagates)})
      ->getResult(0);
}

Value LayerCreator::addToEachStep(Value x, Value row) {
  return create("bias", {x, row}, x.getType(),
                {integerAttr("axis", 1), integerAttr("num_axes", 2)})
      ->getResult(0);
}

Value LayerCreator::sum(ValueRange xs, ArrayRef<float> weights,
                        ArrayRef<NamedAttribute> attributes) {
  SmallVector<NamedAttribute> all(attributes);
  all.push_back(b.getNamedAttr(
      "kind", EltwiseKindAttr::get(b.getContext(), EltwiseKind::Sum)));
  all.push_back(b.getNamedAttr("coeff", b.getDenseF32ArrayAttr(weights)));
  return create("eltwise", xs, xs[0].getType(), all)->getResult(0);
}

Value LayerCreator::reshape(Value x, ArrayRef<int64_t> shape) {
  return create("reshape", x, RankedTensorType::get(shape, elementTypeOf(x)),
                {integersAttr("dims", shape), integerAttr("axis", 0),
                 integerAttr("num_axes", -1)})
      ->getResult(0);
}

SmallVector<NamedAttribute> LayerCreator::firstTop() {
  auto tops = layer->getAttrOfType<ArrayAttr>("tops");
  if (tops.empty())
    return {}; // another operation creates the layer's top
  SmallVector<NamedAttribute> attributes = {b.getNamedAttr(
      "tops", b.getStrArrayAttr(cast<StringAttr>(tops[0]).getValue()))};
  if (auto weights = layer->getAttrOfType<DenseF32ArrayAttr>("loss_weights"))
    attributes.push_back(b.getNamedAttr(
        "loss_weights",
        b.getDenseF32ArrayAttr(weights.asArrayRef().take_front(1))));
  return attributes;
}

bool brew::passes::propagatesTo(Operation *layer, int64_t bottom) {
  auto flags = layer->getAttrOfType<DenseBoolArrayAttr>("propagate_down");
  return !flags || flags[bottom];
}

Value brew::passes::persistentState(Operation *op, OpBuilder &b, int64_t number,
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

Operation *brew::passes::splitExposed(LayerCreator &l, Value state,
                                      const Twine &blob, bool exactGradients) {
  Operation *split = l.create("split", state, state.getType(), {});
  if (!exactGradients) {
    split->setAttr("propagate_down", l.b.getDenseBoolArrayAttr({false}));
    split->setAttr(kNoGradientAttr, l.b.getStringAttr(blob));
  }
  return split;
}
