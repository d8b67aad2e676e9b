//===- DataLayers.h - Common functions of data layers -----------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

/// Checks data_param and transform_param.
void checkDatabase(LayerChecker &c);
/// Builds a data input whose results are the layer's tops.
void buildDataInput(LayerBuilder &l);

} // namespace brew::prototxt
