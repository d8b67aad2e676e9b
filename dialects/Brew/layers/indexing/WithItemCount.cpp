//===- WithItemCount.cpp - Items whose number is an operand ---------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/indexing/Items.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult WithItemCountOp::inferShapes(Shapes &tops, Shapes &) {
  if (countOf(shapeOf(getNumber())) != 1)
    return layerError(*this) << "the number of its items is not one number";
  for (Value x : getXs())
    tops.emplace_back(shapeOf(x));
  // The rank of a count is the dimension of the items.
  tops.emplace_back(getAxis(), 1);
  getCount().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  return success();
}

LogicalResult WithItemCountOp::propagateItemCounts(ItemCounts &counts) {
  for (Value operand : getOperands())
    if (failed(counts.requireAllItems(*this, operand)))
      return failure();
  for (Value y : getYs())
    counts.set(y, getCount());
  return success();
}

SmallVector<Value> WithItemCountOp::buildNests(OpBuilder &b) {
  SmallVector<Value> results;
  for (auto [x, y] : llvm::zip_equal(getXs(), getYs())) {
    auto type = tensorTypeOf(y);
    NestBuilder copy(b, getLoc(), type.getShape());
    copy.input(x, iota(type.getRank()));
    copy.output(type, iota(type.getRank()));
    results.push_back(
        copy.build([](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.in[0]};
        })[0]);
  }
  auto countType = tensorTypeOf(getCount());
  NestBuilder count(b, getLoc(), countType.getShape());
  count.output(countType, iota(countType.getRank()));
  Value number = getNumber();
  results.push_back(
      count.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        SmallVector<Value> indices(shapeOf(number).size(), s.index(0));
        return {arith::FPToSIOp::create(s.b, s.loc, s.b.getI32Type(),
                                        body.read(number, indices))};
      })[0]);
  return results;
}
