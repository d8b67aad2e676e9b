//===- LossScale.cpp - Dynamic loss scaling -------------------------------===//
#include "passes/graph/LossScale.h"

#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "passes/analysis/ParameterOffsets.h"
#include "plan/Contract.h"

using namespace mlir;
using namespace brew::dialects;

using brew::plan::loss_scale::kGoodIterations;
using brew::plan::loss_scale::kNonFiniteGradients;
using brew::plan::loss_scale::kValue;

static constexpr StringLiteral kLayer = "loss_scale";

static ModuleOp moduleOf(OpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

static FlatSymbolRefAttr getOrCreateState(OpBuilder &b, Location loc,
                                          StringRef name) {
  ModuleOp module = moduleOf(b);
  if (!SymbolTable::lookupSymbolIn(module, name)) {
    auto start = OpBuilder::atBlockBegin(module.getBody());
    auto param = ParamOp::create(
        start, loc, b.getStringAttr(name),
        TypeAttr::get(RankedTensorType::get({}, b.getF32Type())),
        b.getStringAttr(kLayer), b.getI64IntegerAttr(0), DenseI64ArrayAttr(),
        brew::dialects::plan::FillerAttr(), b.getF32FloatAttr(0),
        b.getF32FloatAttr(0), StringAttr(), ArrayAttr(), UnitAttr(), UnitAttr(),
        b.getStringAttr(""));
    param->setAttr(brew::passes::kPersistentAttr, b.getUnitAttr());
  }
  return FlatSymbolRefAttr::get(b.getContext(), name);
}

static RankedTensorType scalarType(OpBuilder &b) {
  return RankedTensorType::get({}, b.getF32Type());
}

static Value readState(OpBuilder &b, Location loc, StringRef name) {
  return ParamValueOp::create(b, loc, scalarType(b),
                              getOrCreateState(b, loc, name));
}

static void storeState(OpBuilder &b, Location loc, Value value,
                       StringRef name) {
  StoreParamOp::create(b, loc, value, getOrCreateState(b, loc, name));
}

Value brew::passes::buildLossScale(OpBuilder &b, Location loc, double initial) {
  return LossScaleOp::create(b, loc, scalarType(b), readState(b, loc, kValue),
                             kLayer, APFloat(initial));
}

Value brew::passes::buildScaledLossGradient(OpBuilder &b, Location loc,
                                            Type type, Value scale,
                                            StringAttr layer, float weight) {
  return LossGradientOp::create(b, loc, type, scale, layer,
                                b.getF64FloatAttr(weight));
}

Value brew::passes::buildScaledGradient(OpBuilder &b, Location loc,
                                        Value gradient, Value scale,
                                        StringAttr layer) {
  auto op = ScaleGradientOp::create(b, loc, gradient.getType(), gradient, scale,
                                    layer);
  Origin{layer, /*isBackward=*/true}.mark(op);
  return op;
}

Value brew::passes::buildUnscaledGradient(OpBuilder &b, Location loc,
                                          Value gradient, Value scale,
                                          StringAttr layer) {
  // A constant gradient is zero: nothing to divide.
  if (gradient.getDefiningOp<FillOp>())
    return gradient;
  auto op =
      UnscaleOp::create(b, loc, gradient.getType(), gradient, scale, layer);
  Origin{layer, /*isBackward=*/true}.mark(op);
  return op;
}

void brew::passes::countNonFiniteGradients(ProgramOp program) {
  SmallVector<Value> gradients;
  program.walk([&](StoreGradientOp op) { gradients.push_back(op.getValue()); });
  if (gradients.empty())
    return;
  auto b = OpBuilder::atBlockEnd(&program.getBody().front());
  Location loc = program.getLoc();
  auto count = CountNonFiniteOp::create(b, loc, scalarType(b),
                                        readState(b, loc, kNonFiniteGradients),
                                        gradients, b.getStringAttr(kLayer));
  Origin{{}, /*isBackward=*/true}.mark(count);
  storeState(b, loc, count, kNonFiniteGradients);
}

Value brew::passes::buildNonFiniteCount(OpBuilder &b, Location loc) {
  return readState(b, loc, kNonFiniteGradients);
}

Value brew::passes::buildSelectIfFinite(OpBuilder &b, Location loc, Value count,
                                        Value updated, Value previous,
                                        StringAttr layer) {
  return SelectIfZeroOp::create(b, loc, updated.getType(), count, updated,
                                previous, layer);
}

void brew::passes::buildScaleUpdate(OpBuilder &b, Location loc, double initial,
                                    int64_t window) {
  Value scale = buildLossScale(b, loc, initial);
  auto update = UpdateLossScaleOp::create(
      b, loc, TypeRange{scalarType(b), scalarType(b), scalarType(b)}, scale,
      readState(b, loc, kGoodIterations),
      readState(b, loc, kNonFiniteGradients), b.getStringAttr(kLayer),
      b.getI64IntegerAttr(window));
  storeState(b, loc, update.getNewScale(), kValue);
  storeState(b, loc, update.getNewGoodIterations(), kGoodIterations);
  storeState(b, loc, update.getZeroCount(), kNonFiniteGradients);
}
