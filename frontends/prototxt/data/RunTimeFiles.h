//===- RunTimeFiles.h - Files that data layers read at run time -*- C++ -*-===//
#pragma once

#include "frontends/prototxt/data/DataShapes.h"

#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns a text about each file that `layer` reads only when the plan runs
/// and that does not exist: mean files, boost files, and lists whose shapes are
/// known without them. Lists are skipped if the caller provides the shape of
/// the first top. Looks files up as inferDataShapes() does.
std::vector<std::string>
missingRunTimeFiles(const caffe::LayerParameter &layer,
                    const std::vector<std::string> &folders,
                    const DataShapeOptions &options);

} // namespace brew::prototxt
