//===- HostPlugin.h - Host layers from shared objects -----------*- C++ -*-===//
#pragma once

#include <brew/host_layer.hpp>

#include <string>
#include <vector>

namespace brew::tools {

/// What --host-plugin says in --help.
inline constexpr char kHostLayersHelp[] =
    "Shared objects with layers of types that Brew does not have, separated by "
    "commas (brew/host_plugin.h)";

/// The layers of plugins, files separated by commas, which stay loaded until
/// the process ends. Throws api::Error: (3) if one cannot be opened, (1) if it
/// is no plugin or gives no layers.
std::vector<api::HostLayerType> loadHostLayers(const std::string &files);

} // namespace brew::tools
