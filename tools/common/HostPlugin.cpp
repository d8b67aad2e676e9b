//===- HostPlugin.cpp - Loading of host-layer plugins ---------------------===//
#include "tools/common/HostPlugin.h"

#include <brew/host_plugin.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace brew::tools {
namespace {

/// Appends the layers of one plugin to `layers`.
void load(const std::string &file, std::vector<api::HostLayerType> &layers) {
  const std::string prefix = "host layers '" + file + "': ";
  if (access(file.c_str(), R_OK) != 0)
    throw api::Error(BREW_UNAVAILABLE, prefix + std::strerror(errno));
  // Without a slash, the loader would search the library path.
  const std::string path = file.find('/') == file.npos ? "./" + file : file;
  void *plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    throw api::Error(BREW_UNAVAILABLE,
                     prefix + "it cannot be loaded: " + dlerror());
  const auto function = reinterpret_cast<decltype(&brew_host_layers)>(
      dlsym(plugin, "brew_host_layers"));
  if (!function)
    throw api::Error(BREW_BAD_INPUT,
                     prefix + "it has no function 'brew_host_layers' "
                              "(see brew/host_plugin.h)");
  std::size_t count = 0;
  const brew_host_layer *first = function(&count);
  if (!first || !count)
    throw api::Error(BREW_BAD_INPUT, prefix + "it has no layers");
  // The stride is the structure size of the header that the plugin was built
  // with.
  const std::size_t size = first->struct_size;
  if (size < sizeof first->struct_size)
    throw api::Error(BREW_BAD_INPUT,
                     prefix + "the struct_size of its layers is not set");
  const auto *next = reinterpret_cast<const char *>(first);
  for (std::size_t i = 0; i < count; ++i, next += size) {
    brew_host_layer layer{};
    std::memcpy(&layer, next, std::min(size, sizeof layer));
    layer.struct_size = sizeof layer;
    layers.push_back(layer);
  }
}

} // namespace

std::vector<api::HostLayerType> loadHostLayers(const std::string &files) {
  std::vector<api::HostLayerType> layers;
  for (std::size_t begin = 0; begin < files.size();) {
    const std::size_t end = std::min(files.find(',', begin), files.size());
    if (end > begin)
      load(files.substr(begin, end - begin), layers);
    begin = end + 1;
  }
  return layers;
}

} // namespace brew::tools
