//===- DeepSkeleton.cpp - DeepSkeleton's layers ---------------------------===//
//
// These layers convert the scale of each pixel of a skeleton to labels. Other
// forks have other layers named Quantize, all of which have settings.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

void checkRescale(LayerChecker &c) { c.count(c.layer.rescale_param(), "rf"); }

} // namespace

LayerRows deepSkeletonLayers() {
  return {
      plainKind("Quantize"),
      LayerKind{"Rescale", 1, 1, 1, 2, "rescale_param"}.checkedBy(checkRescale),
  };
}

} // namespace brew::prototxt
