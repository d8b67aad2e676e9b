//===- ForkFields.h - Fields and types of Caffe's forks ---------*- C++ -*-===//
//
// Finds the forks of Caffe that have a field, enum value or layer type, if BVLC
// Caffe 1.0 does not have it, for diagnostics.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew::prototxt {

// Each function returns the names of all known forks, such as "SegNet" or
// "MyCaffe and Intel Caffe", or "" if there are none.

/// Returns the forks that have `field` in the message type `message` (such as
/// "ConvolutionParameter").
std::string forksWithField(const std::string &message,
                           const std::string &field);

/// Returns the forks that have `value` in the enum type `enumType` (such as
/// "Engine").
std::string forksWithValue(const std::string &enumType,
                           const std::string &value);

/// Returns the forks that have the layer type `type` (as in `type:
/// "PriorBox"`).
std::string forksWithLayerType(const std::string &type);

/// Returns the forks that have the filler type `type` (as in `type: "gabor"`).
std::string forksWithFiller(const std::string &type);

/// Returns "; it belongs to FORKS, not to BVLC Caffe 1.0", or "" if `forks` is
/// empty.
std::string forkHint(const std::string &forks);

} // namespace brew::prototxt
