//===- DataLayers.h - What rows of data layers share ------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

/// Checks data_param and transform_param.
void checkDatabase(LayerChecker &c);
/// Builds a input that gives all tops.
void buildDataInput(LayerBuilder &l);

} // namespace brew::prototxt
