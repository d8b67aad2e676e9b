//===- Items.cpp - Item counts of blobs -----------------------------------===//
#include "dialects/Brew/layers/indexing/Items.h"
#include "dialects/Brew/NestBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

#include "dialects/Brew/ItemCountInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// Bottoms
//===----------------------------------------------------------------------===//

/// Follows views and splits back to the value that `value` stands for.
static Value sourceOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReinterpretOp, SplitOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isBottom(Value operand) {
  return !sourceOf(operand).getDefiningOp<ParamValueOp>() &&
         isa<FloatType>(elementTypeOf(operand));
}

/// Returns the blob's name in the prototxt.
static StringRef nameOf(Value blob) {
  auto result = dyn_cast<OpResult>(blob);
  auto tops = result ? result.getOwner()->getAttrOfType<ArrayAttr>("tops")
                     : ArrayAttr();
  if (!tops || result.getResultNumber() >= tops.size())
    return "";
  return cast<StringAttr>(tops[result.getResultNumber()]).getValue();
}

static StringRef layerOf(Value count) {
  auto name = count.getDefiningOp()->getAttrOfType<StringAttr>("layer");
  return name ? name.getValue() : "";
}

LogicalResult ItemCounts::reject(Operation *layer, Value bottom,
                                 const Twine &why) const {
  Value count = of(bottom);
  auto diagnostic = layerError(layer) << why;
  diagnostic.attachNote(count.getLoc())
      << "layer '" << layerOf(count)
      << "' decides at run time how many items of '" << nameOf(bottom)
      << "' there are";
  return diagnostic;
}

LogicalResult ItemCounts::requireAllItems(Operation *layer,
                                          Value bottom) const {
  if (!of(bottom))
    return success();
  return reject(layer, bottom,
                "does not accept a bottom whose number of items is only known "
                "at run time");
}

LogicalResult ItemCounts::requireStaticExtents(Operation *layer, Value bottom,
                                               int64_t first) const {
  Value count = of(bottom);
  if (!count || tensorTypeOf(count).getRank() < first)
    return success();
  return reject(layer, bottom,
                "needs dimension " + Twine(tensorTypeOf(count).getRank()) +
                    " of bottom '" + nameOf(bottom) +
                    "', which is only known at run time");
}

Value ItemCounts::countForSelector(Value selector, Value count) {
  return bySelector.try_emplace(sourceOf(selector), count).first->second;
}

FailureOr<Value>
ItemCounts::commonCount(Operation *layer,
                        std::optional<ValueRange> bottoms) const {
  Value countedBottom, fullBottom;
  for (Value operand : bottoms.value_or(layer->getOperands())) {
    if (!isBottom(operand))
      continue;
    Value count = of(operand);
    if (!count) {
      fullBottom = operand;
      continue;
    }
    if (tensorTypeOf(count).getRank() != 0)
      return reject(layer, operand,
                    "does not accept bottom '" + nameOf(operand) +
                        "', whose dimension " +
                        Twine(tensorTypeOf(count).getRank()) +
                        " is only known at run time");
    if (countedBottom && of(countedBottom) != count) {
      (void)reject(layer, operand,
                   "bottoms '" + nameOf(countedBottom) + "' and '" +
                       nameOf(operand) +
                       "' may have different numbers of items: layers '" +
                       layerOf(of(countedBottom)) + "' and '" + layerOf(count) +
                       "' select them");
      return failure();
    }
    countedBottom = operand;
  }
  if (!countedBottom)
    return Value();
  if (fullBottom) {
    (void)reject(layer, countedBottom,
                 "bottom '" + nameOf(fullBottom) +
                     "' always has all its items, '" + nameOf(countedBottom) +
                     "' only those that layer '" + layerOf(of(countedBottom)) +
                     "' lets through");
    return failure();
  }
  return of(countedBottom);
}

//===----------------------------------------------------------------------===//
// Layers that work item by item
//===----------------------------------------------------------------------===//

LogicalResult ItemCounts::propagate(Operation *layer,
                                    std::optional<ValueRange> bottoms) {
  FailureOr<Value> count = commonCount(layer, bottoms);
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  Value bottom = *llvm::find_if(bottoms.value_or(layer->getOperands()),
                                [&](Value operand) { return of(operand); });
  if (auto axis = layer->getAttrOfType<IntegerAttr>("axis"))
    if (axis.getInt() == 0 || axis.getInt() == -tensorTypeOf(bottom).getRank())
      return reject(layer, bottom,
                    "axis 0 of bottom '" + nameOf(bottom) +
                        "' is the item dimension, and not all items are valid");
  // Sets the counts of all results, because tops inside a layer of several
  // operations have no names. Item counts of results that are not tops are not
  // read.
  for (Value result : layer->getResults())
    set(result, *count);
  return success();
}

LogicalResult ItemCounts::propagateElementwise(ScalarBodyInterface layer) {
  Value countedBottom, fullBottom;
  for (auto [i, operand] : llvm::enumerate(layer->getOperands())) {
    bool alongItems =
        tensorTypeOf(operand).getRank() > 0 && layer.operandAxis(i) == 0;
    Value count = of(operand);
    if (count && (!alongItems || tensorTypeOf(count).getRank() != 0))
      return reject(layer, operand,
                    "does not accept bottom '" + nameOf(operand) +
                        "', whose number of items is only known at run time");
    if (count && countedBottom && of(countedBottom) != count)
      return commonCount(layer); // emits the error
    if (count)
      countedBottom = operand;
    else if (alongItems)
      fullBottom = operand;
  }
  if (!countedBottom)
    return success();
  if (fullBottom)
    return reject(layer, countedBottom,
                  "'" + nameOf(fullBottom) + "' always has all its items, '" +
                      nameOf(countedBottom) + "' only those that layer '" +
                      layerOf(of(countedBottom)) + "' lets through");
  set(layer->getResult(0), of(countedBottom));
  return success();
}

//===----------------------------------------------------------------------===//
// Layers that combine items
//===----------------------------------------------------------------------===//

void ItemCounts::maskPadding(OpOperand &bottom, Value count, double fill) {
  Operation *layer = bottom.getOwner();
  OpBuilder b(layer);
  bottom.set(MaskItemsOp::create(
      b, layer->getLoc(), bottom.get().getType(), bottom.get(), count,
      layer->getAttrOfType<StringAttr>("layer"), b.getF64FloatAttr(fill)));
}

void ItemCounts::rescaleMean(Operation *layer, Value count) {
  OpBuilder b(layer->getContext());
  b.setInsertionPointAfter(layer);
  Value sum = layer->getResult(0);
  auto tops = llvm::to_vector(layer->getAttrOfType<ArrayAttr>("tops"));
  DenseF32ArrayAttr weight;
  if (auto weights = layer->getAttrOfType<DenseF32ArrayAttr>("loss_weights")) {
    SmallVector<float> topWeights(weights.asArrayRef());
    weight = b.getDenseF32ArrayAttr(topWeights[0]);
    topWeights[0] = 0;
    layer->setAttr("loss_weights", b.getDenseF32ArrayAttr(topWeights));
  }
  Value bottom = layer->getOperand(0);
  auto mean = AverageItemsOp::create(
      b, layer->getLoc(), sum.getType(), sum, count,
      layer->getAttrOfType<StringAttr>("layer"), b.getArrayAttr(tops[0]),
      weight, b.getI64IntegerAttr(shapeOf(bottom)[0]));
  tops[0] = b.getStringAttr("");
  layer->setAttr("tops", b.getArrayAttr(tops));
  sum.replaceAllUsesExcept(mean, mean);
}

//===----------------------------------------------------------------------===//
// MaskItems, AverageItems
//===----------------------------------------------------------------------===//

Value brew::dialects::isValidItem(ScalarBuilder &s, Value item, Value count) {
  Value number = arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), item);
  return s.less(number, count);
}

/// Builds y from the elements of x and the item count.
template <typename Op, typename Body>
static SmallVector<Value> buildWithCount(Op op, OpBuilder &b, Body element) {
  auto type = tensorTypeOf(op.getY());
  NestBuilder nest(b, op.getLoc(), type.getShape());
  nest.input(op.getX(), iota(type.getRank()));
  nest.input(op.getCount(), iota(tensorTypeOf(op.getCount()).getRank()));
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {element(body, body.in[0], body.in[1])};
  });
}

bool MaskItemsOp::copiesElements(unsigned operand, unsigned) {
  return operand == getXMutable().getOperandNumber();
}

LogicalResult
MaskItemsOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool>,
                            MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] =
        MaskItemsOp::create(b, getLoc(), getX().getType(), dy, getCount(),
                            getLayerAttr(), b.getF64FloatAttr(0));
  return success();
}

SmallVector<Value> MaskItemsOp::buildNests(OpBuilder &b) {
  return buildWithCount(
      *this, b, [&](NestBuilder::Body &body, Value x, Value count) -> Value {
        ScalarBuilder &s = body.s;
        const int64_t itemDim = tensorTypeOf(getCount()).getRank();
        return s.select(isValidItem(s, body.loop(itemDim), count), x,
                        s.constant(x.getType(), getFill().convertToDouble()));
      });
}

LogicalResult
AverageItemsOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool>,
                               MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = AverageItemsOp::create(
        b, getLoc(), getX().getType(), dy, getCount(), getLayerAttr(),
        b.getArrayAttr({}), nullptr, getItemsAttr());
  return success();
}

SmallVector<Value> AverageItemsOp::buildNests(OpBuilder &b) {
  return buildWithCount(
      *this, b, [&](NestBuilder::Body &body, Value x, Value count) -> Value {
        ScalarBuilder &s = body.s;
        Type element = x.getType();
        Value number = arith::SIToFPOp::create(s.b, s.loc, element, count);
        Value zero = s.constant(element, 0);
        Value factor = s.div(s.constant(element, getItems()),
                             s.maximum(number, s.constant(element, 1)));
        return s.select(s.greater(number, zero), s.mul(x, factor), zero);
      });
}
