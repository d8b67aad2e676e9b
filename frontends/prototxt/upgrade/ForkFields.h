//===- ForkFields.h - Fields and types of Caffe's forks ---------*- C++ -*-===//
//
// Finds the fork of Caffe that a field, enum value or layer type comes from, if
// BVLC Caffe 1.0 does not have it, for diagnostics.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew::prototxt {

/// Returns the fork that has `field` in the message type `message` (such as
/// "ConvolutionParameter"), or null.
const char *forkOwningField(const std::string &message,
                            const std::string &field);

/// Returns the fork that has `value` in the enum type `enumType` (such as
/// "Engine"), or null.
const char *forkOwningValue(const std::string &enumType,
                            const std::string &value);

/// Returns the fork that has the layer type `type` (as in `type: "PriorBox"`),
/// or null.
const char *forkOwningLayerType(const std::string &type);

/// Returns the fork that has the filler type `type` (as in `type: "gabor"`), or
/// null.
const char *forkOwningFiller(const std::string &type);

} // namespace brew::prototxt
