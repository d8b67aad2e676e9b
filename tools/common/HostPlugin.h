//===- HostPlugin.h - Loading of host-layer plugins -------------*- C++ -*-===//
#pragma once

#include <brew/host_layer.hpp>

#include <string>
#include <vector>

namespace brew::tools {

/// The help text of --host-plugin.
inline constexpr char kHostLayersHelp[] =
    "Shared objects with additional layer types, separated by commas "
    "(brew/host_plugin.h)";

/// Loads plugins, files separated by commas, and returns their layer types. The
/// plugins stay loaded until the process ends. Throws api::Error: (3) if a file
/// cannot be opened, (1) if it is not a plugin or has no layers.
std::vector<api::HostLayerType> loadHostLayers(const std::string &files);

} // namespace brew::tools
