//===- Unsupported.cpp - Layer types without code so far ------------------===//
//
// Known, so that the rest of a net that uses them can be checked.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/LayerKinds.h"

namespace brew::prototxt {

LayerRows unsupportedLayers() {
  return {
      {"HDF5Output", 2, 2, 0, 0, "hdf5_output_param"},
      sourceKind("ImageData", 2, 2, "image_data_param transform_param"),
      sourceKind("WindowData", 2, 2, "window_data_param transform_param"),
  };
}

} // namespace brew::prototxt
