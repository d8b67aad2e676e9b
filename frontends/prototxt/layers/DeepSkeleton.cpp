//===- DeepSkeleton.cpp - Labels of skeletons ---------------------------------===//
//
// DeepSkeleton's layers, which turn the scale of each place of a skeleton into
// labels. Other forks have other layers by the name of Quantize, all of which
// have settings.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

namespace {

/// A formula (docs/expressions.md) over the first bottom as top `number`.
void buildFromFormula(LayerBuilder &l, int number, const std::string &formula) {
  l.lastOp("expression", number)
      .setOperands({LayerBuilder::bottom(0)})
      .text("expr", formula)
      .add("names", std::vector<std::string>{l.layer.bottom(0)})
      .integers("axes", {});
}

/// Places without a skeleton are 0; scales fall into four classes.
void buildQuantize(LayerBuilder &l) {
  buildFromFormula(l, 0,
              "bottom(0) < 1 || bottom(0) >= 200 ? 0 : bottom(0) < 12 ? 1 : "
              "bottom(0) < 36 ? 2 : bottom(0) < 80 ? 3 : 4");
}

void checkRescale(LayerChecker &c) { c.count(c.layer.rescale_param(), "rf"); }

/// Scales below the receptive field as numbers from -1 to 1, and whether there
/// is one.
void buildRescale(LayerBuilder &l) {
  const std::string field = std::to_string(l.layer.rescale_param().rf());
  const std::string none =
      "bottom(0) >= " + field + " || abs(bottom(0)) <= 1e-4 ? 0 : ";
  buildFromFormula(l, 0, none + "2 * bottom(0) / " + field + " - 1");
  if (l.tops() > 1)
    buildFromFormula(l, 1, none + "1");
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
