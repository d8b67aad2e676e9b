//===- LayerGroup.h - Registration of groups of layers ----------*- C++ -*-===//
//
// A group NAME is layers/FOLDER/NAME.td, its operations, and the .cpp files
// beside it that implement them; one of those defines registerNAMELayers.
// CMakeLists.txt lists the groups.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::dialects {
#define GROUP(name) void register##name##Layers(BrewDialect &dialect);
#include "dialects/Brew/layers/Groups.inc"
#undef GROUP
} // namespace brew::dialects
