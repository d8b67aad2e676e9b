//===- HostSettings.h - What host layers know of their layer ----*- C++ -*-===//
#pragma once

#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

/// Gives a brew.host_layer its type, settings and param_str. Types that the
/// runtime computes itself get the folder of the prototxt as `paramStr`, where
/// their files may lie.
void addHostSettings(OperationSpec &op, const LayerBuilder &l,
                     const std::string &type, const std::string &paramStr);

} // namespace brew::prototxt
