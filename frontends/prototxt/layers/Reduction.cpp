//===- Reduction.cpp - Reduction and softmax ------------------------------===//

#include "frontends/prototxt/check/LayerKinds.h"

namespace brew::prototxt {

LayerRows reductionLayers() {
  return {
      plainKind("Reduction", "reduction_param"),
      plainKind("Softmax", "softmax_param").inPlace(),
  };
}

} // namespace brew::prototxt
