//===- Reduction.cpp - Reduction and softmax ------------------------------===//

#include "dialects/Brew/layers/reduction/Reduction.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;

namespace brew::prototxt {

namespace {

void buildReduction(LayerBuilder &l) {
  const caffe::ReductionParameter &settings = l.layer.reduction_param();
  auto op = l.layerOp<ReductionOp>();
  op.setKind(static_cast<ReductionKind>(settings.operation()));
  op.setAxis(settings.axis());
  op.setCoeff(llvm::APFloat(settings.coeff()));
}

void buildSoftmax(LayerBuilder &l) {
  l.layerOp<SoftmaxOp>().setAxis(l.layer.softmax_param().axis());
}

} // namespace

BuildFunctions reductionFunctions() {
  return {{"Reduction", buildReduction}, {"Softmax", buildSoftmax}};
}

} // namespace brew::prototxt
