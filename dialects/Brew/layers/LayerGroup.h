//===- LayerGroup.h - Registration of groups of layers ----------*- C++ -*-===//
//
// The group NAME consists of layers/FOLDER/NAME.td, which defines its
// operations, and of the sources in that folder that implement them. One of the
// sources defines registerNAMELayers. CMakeLists.txt lists the groups.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::dialects {
#define GROUP(name) void register##name##Layers(BrewDialect &dialect);
#include "dialects/Brew/layers/Groups.inc"
#undef GROUP
} // namespace brew::dialects
