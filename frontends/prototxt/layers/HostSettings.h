//===- HostSettings.h - Settings of host layers -----------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

/// Sets type, settings and param_str of a brew.host_layer. Types that the
/// runtime computes get the folder of the prototxt as `paramStr`, for the
/// lookup of files.
void addHostSettings(OperationSpec &op, const LayerBuilder &l,
                     const std::string &type, const std::string &paramStr);

} // namespace brew::prototxt
