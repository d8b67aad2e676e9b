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
  const caffe::SoftmaxParameter &settings = l.layer.softmax_param();
  const bool isTraining = l.phase == caffe::TRAIN;
  auto op = l.layerOp<SoftmaxOp>();
  op.setAxis(settings.axis());
  op.setLogarithm((isTraining && settings.has_algorithm_train()
                       ? settings.algorithm_train()
                       : settings.algorithm()) == caffe::SoftmaxAlgorithm::LOG);
}

} // namespace

BuildFunctions reductionFunctions() {
  return {{"Reduction", buildReduction}, {"Softmax", buildSoftmax}};
}

} // namespace brew::prototxt
