//===- DeepSkeleton.cpp - DeepSkeleton's layers ---------------------------===//
//
// These layers convert the scale of each pixel of a skeleton to labels. Other
// forks have other layers named Quantize, all of which have settings.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

namespace {

/// Adds an operation that computes top `number` from the first bottom by a
/// formula (docs/expressions.md).
void buildFromFormula(LayerBuilder &l, int number, const std::string &formula) {
  l.lastOp("expression", number)
      .setOperands({LayerBuilder::bottom(0)})
      .text("expr", formula)
      .add("names", std::vector<std::string>{l.layer.bottom(0)})
      .integers("axes", {});
}

/// Maps pixels without a skeleton to 0 and other pixels to one of four classes
/// of scales.
void buildQuantize(LayerBuilder &l) {
  buildFromFormula(
      l, 0,
      "bottom(0) < 1 || bottom(0) >= 200 ? 0 : bottom(0) < 12 ? 1 : "
      "bottom(0) < 36 ? 2 : bottom(0) < 80 ? 3 : 4");
}

void checkRescale(LayerChecker &c) { c.count(c.layer.rescale_param(), "rf"); }

/// Maps scales below the receptive field to numbers from -1 to 1. The optional
/// second top is 1 for such scales.
void buildRescale(LayerBuilder &l) {
  const std::string receptiveField =
      std::to_string(l.layer.rescale_param().rf());
  const std::string zeroOutside =
      "bottom(0) >= " + receptiveField + " || abs(bottom(0)) <= 1e-4 ? 0 : ";
  buildFromFormula(l, 0,
                   zeroOutside + "2 * bottom(0) / " + receptiveField + " - 1");
  if (l.tops() > 1)
    buildFromFormula(l, 1, zeroOutside + "1");
}

} // namespace

LayerRows deepSkeletonLayers() {
  return {
      plainKind("Quantize").builtBy(buildQuantize),
      LayerKind{"Rescale", 1, 1, 1, 2, "rescale_param"}
          .checkedBy(checkRescale)
          .builtBy(buildRescale),
  };
}

} // namespace brew::prototxt
