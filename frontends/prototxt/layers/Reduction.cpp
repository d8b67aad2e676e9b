//===- Reduction.cpp - Reduction and softmax ------------------------------===//

#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

namespace {

void buildReduction(LayerBuilder &l) {
  const caffe::ReductionParameter &settings = l.layer.reduction_param();
  const char *kind = "sum";
  switch (settings.operation()) {
  case caffe::ReductionParameter::SUM:
    break;
  case caffe::ReductionParameter::ASUM:
    kind = "asum";
    break;
  case caffe::ReductionParameter::SUMSQ:
    kind = "sumsq";
    break;
  case caffe::ReductionParameter::MEAN:
    kind = "mean";
    break;
  }
  l.layerOp("reduction")
      .enumAttribute("kind", "reduction_kind", kind)
      .integer("axis", settings.axis())
      .real("coeff", settings.coeff());
}

void buildSoftmax(LayerBuilder &l) {
  l.layerOp("softmax").integer("axis", l.layer.softmax_param().axis());
}

} // namespace

LayerRows reductionLayers() {
  return {
      plainKind("Reduction", "reduction_param").builtBy(buildReduction),
      plainKind("Softmax", "softmax_param").inPlace().builtBy(buildSoftmax),
  };
}

} // namespace brew::prototxt
