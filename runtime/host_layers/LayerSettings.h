//===- LayerSettings.h - Settings of a built-in host layer ------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/host_layers/HostLayers.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

namespace brew::runtime {

/// Returns the error of settings that do not fit bottoms and tops.
inline Error damagedSettings(const HostLayerSetup &setup) {
  return badInput("damaged plan: not the settings of a layer of type " +
                  setup.type);
}

/// Returns the layer as in the prototxt. Throws Error (1) if the plan is
/// damaged.
inline caffe::LayerParameter layerSettings(const HostLayerSetup &setup) {
  caffe::LayerParameter layer;
  if (!google::protobuf::TextFormat::ParseFromString(setup.settings, &layer))
    throw damagedSettings(setup);
  return layer;
}

} // namespace brew::runtime
