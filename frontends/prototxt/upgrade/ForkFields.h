//===- ForkFields.h - What only forks of Caffe have -------------*- C++ -*-===//
//
// Tells which fork of Caffe a field, enum value or layer type comes from that
// BVLC Caffe 1.0 does not have, so that a diagnostic can say so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew::prototxt {

/// The fork that has `field` in the message type `message` (such as
/// "ConvolutionParameter"), or null.
const char *forkOwningField(const std::string &message,
                            const std::string &field);

/// The fork that has `value` in the enum type `enumType` (such as "Engine").
const char *forkOwningValue(const std::string &enumType,
                            const std::string &value);

/// The fork that has the layer type `type` (as in `type: "PriorBox"`), or null.
const char *forkOwningLayerType(const std::string &type);

/// The fork that has the filler type `type` (as in `type: "gabor"`), or null.
const char *forkOwningFiller(const std::string &type);

} // namespace brew::prototxt
