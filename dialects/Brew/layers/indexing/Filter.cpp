//===- Filter.cpp - Selection of items ------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/indexing/Items.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

/// A selector close to 0 must not be rounded to 0.
bool FilterOp::mustStayExact(unsigned operand) {
  return operand == getSelectorMutable().getOperandNumber();
}

/// The tops are in the order of the bottoms.
bool FilterOp::copiesElements(unsigned operand, unsigned result) {
  return operand == result && operand < getXs().size();
}

LogicalResult FilterOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> selector = shapeOf(getSelector());
  if (selector.empty() || countOf(selector) != selector[0])
    return layerError(*this)
           << "the selector has shape " << dimsText(selector)
           << "; it needs one element for each item: all its dimensions but "
              "the first must be 1";
  for (auto [i, x] : llvm::enumerate(getXs())) {
    ArrayRef<int64_t> shape = shapeOf(x);
    if (shape.empty() || shape[0] != selector[0])
      return layerError(*this)
             << "bottom " << i << " has shape " << dimsText(shape)
             << ", but the selector has " << selector[0] << " items";
    tops.emplace_back(shape);
  }
  tops.push_back({});
  tops.push_back({selector[0]});
  return success();
}

/// Padding items of a selector with an item count select nothing.
LogicalResult FilterOp::propagateItemCounts(ItemCounts &counts) {
  FailureOr<Value> count = counts.commonCount(*this);
  if (failed(count))
    return failure();
  Value selectedCount = counts.countForSelector(getSelector(), getCount());
  if (*count)
    counts.maskPadding(getSelectorMutable(), *count);
  for (Value y : getYs())
    counts.set(y, selectedCount);
  return success();
}

LogicalResult
FilterOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool> needed,
                         MutableArrayRef<Value> operandGradients) {
  if (needed[getXs().size()])
    return layerError(*this) << "cannot backpropagate to its selector";
  for (auto [i, x] : llvm::enumerate(getXs()))
    if (needed[i] && resultGradients[i])
      operandGradients[i] =
          FilterBackwardOp::create(b, getLoc(), x.getType(), resultGradients[i],
                                   getPosition(), getLayerAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

namespace {

Value asIndex(ScalarBuilder &s, Value i32) {
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), i32);
}
Value asI32(ScalarBuilder &s, Value index) {
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), index);
}
/// Builds whether an item is selected. Every value but zero selects, even NaN.
Value isSelected(ScalarBuilder &s, Value selector) {
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNE, selector,
                               s.constant(selector.getType(), 0));
}
Value oneIf(ScalarBuilder &s, Value condition) {
  Type i32 = s.b.getI32Type();
  return s.select(condition, s.constant(i32, 1), s.constant(i32, 0));
}
/// Appends the loops over an item's elements to `indices`.
void addElements(NestBuilder::Body &body, RankedTensorType type,
                 SmallVector<Value> &indices) {
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    indices.push_back(body.loop(dim));
}

} // namespace

SmallVector<Value> FilterOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  int64_t items = shapeOf(getSelector())[0];
  auto selectorType =
      RankedTensorType::get({items}, elementTypeOf(getSelector()));
  Value selector = getSelector();
  if (selector.getType() != selectorType)
    selector = ReinterpretOp::create(b, loc, selectorType, selector);
  auto perItem = RankedTensorType::get({items}, b.getI32Type());
  const ArrayRef<int64_t> scalar;

  // Counts the selected items before each item, and in total.
  NestBuilder counts(b, loc, {items, items}, {false, true});
  counts.input(selector, {1});
  counts.output(perItem, {0}, 0);
  Value selectedBefore =
      counts.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value isCounted = s.both(isSelected(s, body.in[0]),
                                 s.less(body.loop(1), body.loop(0)));
        return {s.addi(body.out[0], oneIf(s, isCounted))};
      })[0];
  NestBuilder positions(b, loc, {items});
  positions.input(selector, {0});
  positions.input(selectedBefore, {0});
  positions.output(perItem, {0});
  Value position =
      positions.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        return {s.select(isSelected(s, body.in[0]), body.in[1],
                         s.constant(s.b.getI32Type(), -1))};
      })[0];
  NestBuilder total(b, loc, {items}, {true});
  total.input(selector, {0});
  total.output(tensorTypeOf(getCount()), scalar, 0);
  Value count = total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.addi(body.out[0], oneIf(s, isSelected(s, body.in[0])))};
  })[0];

  // Finds the source of each item of the tops; padding repeats the last one.
  NestBuilder sources(b, loc, {items, items}, {false, true});
  sources.input(position, {1});
  sources.input(count, scalar);
  sources.output(perItem, {0}, 0);
  Value source =
      sources.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value last = s.subi(body.in[1], s.constant(s.b.getI32Type(), 1));
        Value wantedPosition =
            arith::MinSIOp::create(s.b, s.loc, asI32(s, body.loop(0)), last);
        return {s.select(s.equali(body.in[0], wantedPosition),
                         asI32(s, body.loop(1)), body.out[0])};
      })[0];

  SmallVector<Value> results;
  for (unsigned i = 0; i < getXs().size(); ++i) {
    Value x = getXs()[i];
    auto type = tensorTypeOf(getYs()[i]);
    NestBuilder nest(b, loc, type.getShape());
    nest.input(source, {0});
    nest.input(count, scalar);
    nest.output(type, iota(type.getRank()));
    results.push_back(
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          SmallVector<Value> indices = {asIndex(s, body.in[0])};
          addElements(body, type, indices);
          Value anySelected =
              s.less(s.constant(s.b.getI32Type(), 0), body.in[1]);
          return {s.select(anySelected, body.read(x, indices),
                           s.constant(type.getElementType(), 0))};
        })[0]);
  }
  results.push_back(count);
  results.push_back(position);
  return results;
}

SmallVector<Value> FilterBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  Value dy = getDy();
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getPosition(), {0});
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value zero = s.constant(s.b.getI32Type(), 0);
    Value selected = s.atLeast(body.in[0], zero);
    SmallVector<Value> indices = {
        asIndex(s, s.select(selected, body.in[0], zero))};
    addElements(body, type, indices);
    return {s.select(selected, body.read(dy, indices),
                     s.constant(type.getElementType(), 0))};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/indexing/Items.cpp.inc"

void brew::dialects::registerItemsLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/indexing/Items.cpp.inc"
      >();
}
