//===- Communication.cpp - Collective operations of ranks -----------------===//
#include "dialects/Brew/layers/communication/Communication.h"

#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Plan/PlanDialect.h"

using namespace mlir;
using namespace brew::dialects;

#define GET_OP_CLASSES
#include "dialects/Brew/layers/communication/Communication.cpp.inc"

void brew::dialects::registerCommunicationLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/communication/Communication.cpp.inc"
      >();
}

using BufferOf = llvm::function_ref<Value(Value)>;

Operation *AllReduceStartOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  SmallVector<Value> sources = llvm::map_to_vector(getXs(), buffer),
                     targets = llvm::map_to_vector(getYs(), buffer);
  return dialects::plan::AllReduceStartOp::create(
      b, getLoc(), getBucketAttr(), sources, targets, getStatisticAttr(),
      getTransferTypeAttr(), nullptr, nullptr, nullptr, nullptr);
}

Operation *AllReduceWaitOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  SmallVector<Value> sums = llvm::map_to_vector(getYs(), buffer);
  return dialects::plan::AllReduceWaitOp::create(
      b, getLoc(), getBucketAttr(), sums, getStatisticAttr(), nullptr, nullptr,
      nullptr, nullptr);
}

LogicalResult AllReduceWaitOp::verify() {
  for (auto [i, value] : llvm::enumerate(getXs())) {
    auto start = value.getDefiningOp<AllReduceStartOp>();
    if (!start || start.getBucket() != getBucket())
      return emitOpError("waits for operand ")
             << i
             << ", which is not a result of a brew.all_reduce_start of bucket "
             << getBucket();
    if (!value.hasOneUse())
      return emitOpError("waits for operand ")
             << i << ", which has another use";
  }
  return success();
}
