//===- DataLayers.h - What rows of data layers share ------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerCheck.h"
#include "frontends/prototxt/import/LayerBuild.h"

namespace brew::prototxt {

/// Checks data_param and transform_param.
void checkDatabase(LayerCheck &c);
/// Builds a feed that gives all tops.
void buildFeed(LayerBuild &l);

} // namespace brew::prototxt
