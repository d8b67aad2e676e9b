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

LogicalResult ItemCounts::rejectDifferentCounts(Operation *layer, Value first,
                                                Value second) const {
  return reject(layer, second,
                "bottoms '" + nameOf(first) + "' and '" + nameOf(second) +
                    "' may have different numbers of items: layers '" +
                    layerOf(of(first)) + "' and '" + layerOf(of(second)) +
                    "' select them");
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
    if (countedBottom && of(countedBottom) != count)
      return rejectDifferentCounts(layer, countedBottom, operand);
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
    Value count = of(operand);
    if (!count)
      continue;
    if (layer.operandAxis(i) != 0)
      return reject(layer, operand,
                    "does not accept bottom '" + nameOf(operand) +
                        "', whose number of items is only known at run time");
    if (countedBottom && of(countedBottom) != count)
      return rejectDifferentCounts(layer, countedBottom, operand);
    countedBottom = operand;
  }
  if (!countedBottom)
    return success();
  const int64_t itemAxis = tensorTypeOf(of(countedBottom)).getRank();
  for (auto [i, operand] : llvm::enumerate(layer->getOperands())) {
    const int64_t first = layer.operandAxis(i);
    if (!of(operand) && first <= itemAxis &&
        itemAxis < first + tensorTypeOf(operand).getRank())
      fullBottom = operand;
  }
  if (fullBottom)
    return reject(layer, countedBottom,
                  (nameOf(fullBottom).empty()
                       ? std::string("its parameter")
                       : "'" + nameOf(fullBottom).str() + "'") +
                      " always has all its items, '" + nameOf(countedBottom) +
                      "' only those that layer '" + layerOf(of(countedBottom)) +
                      "' lets through");
  set(layer->getResult(0), of(countedBottom));
  return success();
}

//===----------------------------------------------------------------------===//
// Views and concatenations
//===----------------------------------------------------------------------===//

/// Returns the type of a count along dimension `axis`.
static RankedTensorType countType(MLIRContext *context, int64_t axis) {
  return RankedTensorType::get(SmallVector<int64_t>(axis, 1),
                               IntegerType::get(context, 32));
}

/// Returns the only dimension in which the shapes differ, if it is twice as
/// large in `two` and all dimensions before it are 1; otherwise nullopt.
static std::optional<int64_t> itemDimension(ArrayRef<int64_t> one,
                                            ArrayRef<int64_t> two) {
  if (one.size() != two.size())
    return std::nullopt;
  auto [difference, other] = std::mismatch(one.begin(), one.end(), two.begin());
  if (difference == one.end() || *other != 2 * *difference ||
      !std::equal(difference + 1, one.end(), other + 1))
    return std::nullopt;
  const int64_t axis = difference - one.begin();
  if (llvm::any_of(one.take_front(axis), [](int64_t dim) { return dim != 1; }))
    return std::nullopt;
  return axis;
}

LogicalResult ItemCounts::propagateView(
    Operation *layer,
    llvm::function_ref<FailureOr<SmallVector<int64_t>>(ArrayRef<int64_t>)>
        shapeOf) {
  Value x = layer->getOperand(0), count = of(x);
  if (!count)
    return success();
  // A view of a view has a multiple of the original items, too.
  const int64_t itemAxis = tensorTypeOf(count).getRank();
  int64_t multiple = 1;
  if (auto scale = count.getDefiningOp<ScaleItemCountOp>()) {
    count = scale.getCount();
    multiple = scale.getFactor();
  }
  // The shapes for one and two items determine the shape for every number.
  SmallVector<int64_t> shape(tensorTypeOf(x).getShape());
  shape[itemAxis] = multiple;
  FailureOr<SmallVector<int64_t>> one = shapeOf(shape);
  shape[itemAxis] = 2 * multiple;
  FailureOr<SmallVector<int64_t>> two = shapeOf(shape);
  std::optional<int64_t> axis;
  if (succeeded(one) && succeeded(two))
    axis = itemDimension(*one, *two);
  if (!axis)
    return reject(layer, x,
                  "dimension " + Twine(itemAxis) + " of bottom '" + nameOf(x) +
                      "' is only known at run time, and the top's shape would "
                      "not fit every number of items");
  const int64_t factor = (*one)[*axis];
  if (factor == 1 && *axis == tensorTypeOf(count).getRank()) {
    set(layer->getResult(0), count);
    return success();
  }
  Value &product = scaled[{count, factor, *axis}];
  if (!product) {
    OpBuilder b(layer);
    product = ScaleItemCountOp::create(
        b, count.getLoc(), countType(b.getContext(), *axis), count,
        cast<StringAttr>(count.getDefiningOp()->getAttr("layer")),
        b.getI64IntegerAttr(factor));
  }
  set(layer->getResult(0), product);
  return success();
}

LogicalResult ItemCounts::packConcatenated(Operation *layer, int64_t axis) {
  SmallVector<Value> partCounts;
  SmallVector<int64_t> extents;
  SmallVector<bool> counted;
  Value countedBottom;
  for (Value x : layer->getOperands()) {
    Value count = of(x);
    if (count && tensorTypeOf(count).getRank() != axis)
      return reject(layer, x,
                    "needs dimension " + Twine(tensorTypeOf(count).getRank()) +
                        " of bottom '" + nameOf(x) +
                        "', which is only known at run time");
    extents.push_back(shapeOf(x)[axis]);
    counted.push_back(count != nullptr);
    if (!count)
      continue;
    partCounts.push_back(count);
    countedBottom = x;
  }
  auto weights = layer->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
  if (weights && llvm::any_of(weights.asArrayRef(),
                              [](float weight) { return weight != 0; }))
    return reject(layer, countedBottom,
                  "a top whose number of items is only known at run time "
                  "cannot have a loss_weight; reduce it first");
  OpBuilder b(layer->getContext());
  b.setInsertionPointAfter(layer);
  Value joined = layer->getResult(0);
  auto packed = PackItemsOp::create(
      b, layer->getLoc(), joined.getType(), countType(b.getContext(), axis),
      joined, partCounts, layer->getAttrOfType<StringAttr>("layer"),
      b.getI64IntegerAttr(axis), b.getDenseI64ArrayAttr(extents),
      b.getDenseBoolArrayAttr(counted),
      layer->getAttrOfType<ArrayAttr>("tops"));
  layer->setAttr("tops", b.getStrArrayAttr({""}));
  joined.replaceAllUsesExcept(packed.getY(), packed);
  set(packed.getY(), packed.getCount());
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

//===----------------------------------------------------------------------===//
// ScaleItemCount, PackItems, UnpackItems
//===----------------------------------------------------------------------===//

SmallVector<Value> ScaleItemCountOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(type.getRank()));
  Value count = getCount();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> first(tensorTypeOf(count).getRank(), s.index(0));
    Value factor = s.constant(s.b.getI32Type(), getFactor());
    return {arith::MulIOp::create(s.b, s.loc, body.read(count, first), factor)};
  });
}

namespace {
/// Builds the positions of the parts of a concatenation without padding.
template <typename Op> class PackedParts {
public:
  PackedParts(Op op, NestBuilder::Body &body) : s(body.s) {
    auto counts = op.getCounts().begin();
    for (auto [extent, isCounted] :
         llvm::zip_equal(op.getExtents(), op.getCounted())) {
      offsets.push_back(offset);
      offset += extent;
      begins.push_back(end);
      Value valid = s.index(extent);
      if (isCounted) {
        Value count = *counts++;
        SmallVector<Value> first(tensorTypeOf(count).getRank(), s.index(0));
        valid = arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(),
                                           body.read(count, first));
      }
      valids.push_back(valid);
      end = end ? s.addi(end, valid) : valid;
    }
    begins[0] = s.index(0);
  }

  /// Returns the number of valid items.
  Value total() const { return end; }
  /// Returns the position in the concatenation of the packed item `item`.
  Value source(Value item) {
    Value position = item;
    for (size_t part = 1; part < begins.size(); ++part)
      position =
          s.select(s.less(item, begins[part]), position,
                   s.addi(s.subi(item, begins[part]), s.index(offsets[part])));
    return position;
  }
  /// Returns the packed position of item `item` of the concatenation, and
  /// whether the item is valid.
  std::pair<Value, Value> target(Value item) {
    Value position, isValid;
    for (size_t part = 0; part < begins.size(); ++part) {
      Value inPart = s.subi(item, s.index(offsets[part]));
      Value partPosition = s.addi(inPart, begins[part]);
      Value isPartValid = s.less(inPart, valids[part]);
      Value isBefore = s.less(item, s.index(offsets[part]));
      position =
          part ? s.select(isBefore, position, partPosition) : partPosition;
      isValid = part ? s.select(isBefore, isValid, isPartValid) : isPartValid;
    }
    return {position, isValid};
  }

private:
  ScalarBuilder &s;
  SmallVector<int64_t> offsets; ///< of the parts in the concatenation
  SmallVector<Value> begins;    ///< of the parts without padding
  SmallVector<Value> valids;    ///< numbers of valid items
  int64_t offset = 0;
  Value end;
};
} // namespace

bool PackItemsOp::copiesElements(unsigned operand, unsigned result) {
  return operand == getXMutable().getOperandNumber() && result == 0;
}

LogicalResult
PackItemsOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool>,
                            MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = UnpackItemsOp::create(
        b, getLoc(), getX().getType(), dy, getCounts(), getLayerAttr(),
        getAxisAttr(), getExtentsAttr(), getCountedAttr());
  return success();
}

SmallVector<Value> PackItemsOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(type.getRank()));
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    PackedParts<PackItemsOp> parts(*this, body);
    SmallVector<Value> indices;
    for (int64_t dim : iota(type.getRank()))
      indices.push_back(body.loop(dim));
    Value item = indices[getAxis()];
    Value last = s.subi(parts.total(), s.index(1));
    item = s.select(s.less(item, parts.total()), item, last);
    indices[getAxis()] =
        s.clamp(parts.source(item), type.getDimSize(getAxis()));
    return {body.read(getX(), indices)};
  })[0];
  auto scalarType = tensorTypeOf(getCount());
  NestBuilder sum(b, getLoc(), scalarType.getShape());
  sum.output(scalarType, iota(scalarType.getRank()));
  Value count = sum.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    PackedParts<PackItemsOp> parts(*this, body);
    return {arith::IndexCastOp::create(body.s.b, body.s.loc,
                                       body.s.b.getI32Type(), parts.total())};
  })[0];
  return {y, count};
}

bool UnpackItemsOp::copiesElements(unsigned operand, unsigned) {
  return operand == getDyMutable().getOperandNumber();
}

SmallVector<Value> UnpackItemsOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    PackedParts<UnpackItemsOp> parts(*this, body);
    SmallVector<Value> indices;
    for (int64_t dim : iota(type.getRank()))
      indices.push_back(body.loop(dim));
    auto [position, isValid] = parts.target(indices[getAxis()]);
    indices[getAxis()] = s.clamp(position, type.getDimSize(getAxis()));
    return {s.select(isValid, body.read(getDy(), indices),
                     s.constant(type.getElementType(), 0))};
  });
}
