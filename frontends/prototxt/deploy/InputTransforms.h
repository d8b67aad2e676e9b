//===- InputTransforms.h - Recorded transforms of images --------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/data/DataShapes.h"
#include "plan/plan.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns how `layer`, which delivers `shapes`, makes a row of its first top
/// from an image in phase TEST, and the names of the classes, if a file
/// labels.txt beside its database, or its folder of classes, has them. Returns
/// nullopt if its values are not made from images. Looks files up in `folders`.
/// Throws Error(3) if the mean file is missing, Error(1) if it does not fit.
std::optional<plan::InputTransform>
inputTransformOf(const caffe::LayerParameter &layer, const DataShapes &shapes,
                 const std::vector<std::string> &folders);

/// Returns a line about a transform, for people.
std::string describeTransform(const plan::InputTransform &transform);

} // namespace brew::prototxt
