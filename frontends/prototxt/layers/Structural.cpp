//===- Structural.cpp - Split and Silence ---------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

namespace {

void checkSplit(LayerChecker &c) {
  if (c.layer.bottom_size() != 1)
    return;
  for (int i = 0; i < c.layer.top_size(); ++i)
    if (c.layer.top(i) == c.layer.bottom(0))
      c.error(c.layer, "top", "a Split layer cannot be in-place", i);
}

void buildSplit(LayerBuilder &l) { l.layerOp("split"); }

void buildSilence(LayerBuilder &l) { l.layerOp("silence"); }

} // namespace

LayerRows structuralLayers() {
  return {
      LayerKind{"Silence", 1, -1, 0, 0}.builtBy(buildSilence),
      LayerKind{"Split", 1, 1, 1, -1}.checkedBy(checkSplit).builtBy(buildSplit),
  };
}

} // namespace brew::prototxt
