//===- Gather.cpp - BatchReindex, Embed -----------------------------------===//
//
// Backward passes gather too: every element of a gradient sums its terms in a
// fixed order, so that the result has the same bits with any number of threads.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/indexing/Gather.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/loss/Labels.h"

using namespace mlir;
using namespace brew::dialects;

/// Builds the nest that sums, for each item of the result, the items of dy
/// whose index is that item. The leading dimensions of dy are those of
/// `indices`.
static Value buildSumByIndex(OpBuilder &b, Location loc, Value dy,
                             Value indices, RankedTensorType type) {
  ArrayRef<int64_t> indexShape = shapeOf(indices);
  int64_t rank = type.getRank();
  SmallVector<int64_t> extents(type.getShape()), indexLoops, dyLoops;
  extents.append(indexShape.begin(), indexShape.end());
  SmallVector<bool> reduction(rank, false);
  reduction.append(indexShape.size(), true);
  for (size_t i = 0; i < indexShape.size(); ++i)
    indexLoops.push_back(rank + i);
  dyLoops = indexLoops;
  for (int64_t dim = 1; dim < rank; ++dim)
    dyLoops.push_back(dim);
  NestBuilder nest(b, loc, extents, reduction);
  nest.input(indices, indexLoops);
  nest.input(dy, dyLoops);
  nest.output(type, iota(rank), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label item(s, body.in[0], type.getDimSize(0), std::nullopt);
    Value isThisItem = s.both(item.inRange, s.equali(item.index, body.loop(0)));
    Value zero = s.constant(type.getElementType(), 0);
    return {s.accumulate(body.out[0], s.select(isThisItem, body.in[1], zero))};
  })[0];
}

//===----------------------------------------------------------------------===//
// BatchReindex
//===----------------------------------------------------------------------===//

bool BatchReindexOp::mustStayExact(unsigned operand) {
  return operand == getIndexMutable().getOperandNumber();
}

bool BatchReindexOp::copiesElements(unsigned operand, unsigned result) {
  return operand == getXMutable().getOperandNumber() && result == 0;
}

LogicalResult BatchReindexOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX()), index = shapeOf(getIndex());
  if (index.size() != 1)
    return layerError(*this) << "the index has shape " << dimsText(index)
                             << "; it must have one dimension";
  if (x.empty())
    return layerError(*this) << "the bottom has no dimension to choose from";
  SmallVector<int64_t> y(x);
  y[0] = index[0];
  tops.assign({y, {}});
  return success();
}

/// The indices may have an item count. Their values are not checked against an
/// item count of x.
LogicalResult BatchReindexOp::propagateItemCounts(ItemCounts &counts) {
  if (failed(counts.requireAllItems(*this, getX())))
    return failure();
  return counts.propagate(*this, getIndex());
}

int64_t BatchReindexOp::labelLimit() { return shapeOf(getX())[0]; }

LogicalResult
BatchReindexOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to its index";
  operandGradients[0] = BatchReindexBackwardOp::create(
      b, getLoc(), getX().getType(), resultGradients[0], getIndex(),
      getLayerAttr());
  return success();
}

SmallVector<Value> BatchReindexOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getIndex(), {0});
  nest.output(type, iota(type.getRank()));
  Value x = getX();
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Label item(body.s, body.in[0], shapeOf(x)[0], std::nullopt);
    SmallVector<Value> indices = {item.index};
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      indices.push_back(body.loop(dim));
    return {body.read(x, indices)};
  })[0];
  return {y, buildStatus(b, getLoc(), getIndex(), labelLimit(), std::nullopt,
                         tensorTypeOf(getStatus()))};
}

SmallVector<Value> BatchReindexBackwardOp::buildNests(OpBuilder &b) {
  return {
      buildSumByIndex(b, getLoc(), getDy(), getIndex(), tensorTypeOf(getDx()))};
}

//===----------------------------------------------------------------------===//
// Embed
//===----------------------------------------------------------------------===//

bool EmbedOp::mustStayExact(unsigned operand) {
  return operand == getXMutable().getOperandNumber();
}

LogicalResult EmbedOp::inferShapes(Shapes &tops, Shapes &params) {
  int64_t inputs = getInputDim(), outputs = getNumOutput();
  SmallVector<int64_t> y(shapeOf(getX()));
  y.push_back(outputs);
  tops.assign({y, {}});
  params.push_back({inputs, outputs});
  if (getB())
    params.push_back({outputs});
  return success();
}

int64_t EmbedOp::labelLimit() { return getInputDim(); }

LogicalResult EmbedOp::buildGradients(OpBuilder &b,
                                      ArrayRef<Value> resultGradients,
                                      ArrayRef<bool> needed,
                                      MutableArrayRef<Value> operandGradients) {
  if (needed[0])
    return layerError(*this) << "cannot backpropagate to its input, which are "
                                "indices";
  Value dy = resultGradients[0];
  if (needed[1])
    operandGradients[1] = EmbedBackwardOp::create(b, getLoc(), getW().getType(),
                                                  dy, getX(), getLayerAttr());
  if (getB() && needed[2]) {
    // Loops: outputs, then rows.
    ArrayRef<int64_t> y = shapeOf(dy);
    int64_t rows = y.size() - 1;
    SmallVector<int64_t> extents = {y.back()}, loops;
    extents.append(y.begin(), y.end() - 1);
    SmallVector<bool> reduction(y.size(), true);
    reduction[0] = false;
    for (int64_t i = 0; i < rows; ++i)
      loops.push_back(i + 1);
    loops.push_back(0);
    NestBuilder nest(b, getLoc(), extents, reduction);
    nest.input(dy, loops);
    nest.output(tensorTypeOf(getB()), {0}, 0.0);
    operandGradients[2] =
        nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.s.accumulate(body.out[0], body.in[0])};
        })[0];
  }
  return success();
}

SmallVector<Value> EmbedOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  int64_t last = type.getRank() - 1;
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(last));
  if (getB())
    nest.input(getB(), {last});
  nest.output(type, iota(type.getRank()));
  Value w = getW();
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Label row(body.s, body.in[0], getInputDim(), std::nullopt);
    Value element = body.read(w, {row.index, body.loop(last)});
    return {getB() ? body.s.add(element, body.in[1]) : element};
  })[0];
  return {y, buildStatus(b, getLoc(), getX(), getInputDim(), std::nullopt,
                         tensorTypeOf(getStatus()))};
}

SmallVector<Value> EmbedBackwardOp::buildNests(OpBuilder &b) {
  return {buildSumByIndex(b, getLoc(), getDy(), getX(), tensorTypeOf(getDw()))};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/indexing/Gather.cpp.inc"

void brew::dialects::registerGatherLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/indexing/Gather.cpp.inc"
      >();
}
