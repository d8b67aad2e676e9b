//===- HostSettings.h - Settings of host layers -----------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

/// Sets the type, the settings, param_str and the phase of a brew.host_layer.
/// For types that the runtime itself computes, `paramStr` is the folder of the
/// prototxt, in which files are looked up.
void addHostSettings(OperationSpec &op, const LayerBuilder &l,
                     const std::string &type, const std::string &paramStr);

} // namespace brew::prototxt
