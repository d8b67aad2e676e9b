//===- Options.cpp - compiler.h: table of options, and options ------------===//
#include "compiler/api/Api.h"

#include "support/HostFunctions.h"
#include "support/OptionStruct.h"

using namespace brew::compiler;
using namespace brew::compiler::api;

int brew_compiler_abi_version(void) { return BREW_COMPILER_ABI_VERSION; }

const char *brew_compiler_version(void) { return BREW_VERSION; }

namespace {

/// The values of a row as C arrays.
struct ValueLists {
  std::vector<const char *> names, help;
};

const std::vector<ValueLists> &valueLists() {
  static const std::vector<ValueLists> allLists = [] {
    std::vector<ValueLists> lists;
    for (const OptionRow &row : optionTable()) {
      ValueLists &list = lists.emplace_back();
      for (const OptionValue &value : row.values) {
        list.names.push_back(value.name);
        list.help.push_back(value.help);
      }
    }
    return lists;
  }();
  return allLists;
}

} // namespace

size_t brew_compiler_option_count(void) {
  std::string ignored;
  size_t count = 0;
  guarded(ignored, [&] {
    count = optionTable().size();
    return BREW_OK;
  });
  return count;
}

brew_status brew_compiler_option_get(size_t index, brew_option *option) {
  std::string ignored;
  return guarded(ignored, [&] {
    if (!option || index >= optionTable().size())
      return BREW_USAGE;
    const OptionRow &row = optionTable()[index];
    const ValueLists &values = valueLists()[index];
    brew_option result = brew::optionStruct(row);
    result.value_count = values.names.size();
    result.values = values.names.data();
    result.value_help = values.help.data();
    copyToCaller(option, result);
    return BREW_OK;
  });
}

brew_status brew_compiler_options_create(brew_compiler_options **options) {
  if (!options)
    return BREW_USAGE;
  *options = new (std::nothrow) brew_compiler_options();
  return *options ? BREW_OK : BREW_UNAVAILABLE;
}

void brew_compiler_options_destroy(brew_compiler_options *options) {
  delete options;
}

brew_status brew_compiler_options_set(brew_compiler_options *options,
                                      const char *name, const char *value) {
  if (!options)
    return BREW_USAGE;
  return guarded(options->message, [&] {
    options->set.set(name ? name : "", value);
    return BREW_OK;
  });
}

namespace {

/// Calls a type's shape function for a layer.
brew::dialects::Shapes
shapesOf(const brew_host_layer &type,
         const brew::dialects::HostLayerSetup &layerSetup) {
  std::vector<brew_host_shape> bottoms;
  for (const auto &dims : layerSetup.bottoms)
    bottoms.push_back(brew::hostShape(dims));
  std::vector<brew_host_shape> tops(layerSetup.tops);
  brew_host_setup setup = brew::hostSetup(layerSetup);
  setup.bottom_count = bottoms.size();
  setup.bottoms = bottoms.data();
  setup.top_count = tops.size();
  setup.tops = tops.data();
  setup.user = type.user;
  brew::HostErrorBuffer errorBuffer(setup);
  errorBuffer.check(type.shapes(&setup), "shapes");
  brew::dialects::Shapes shapes;
  for (const brew_host_shape &top : tops) {
    if (top.ndim > BREW_MAX_DIMS)
      throw brew::badInput("its shape function returns more than " +
                           std::to_string(BREW_MAX_DIMS) + " dimensions");
    shapes.emplace_back(top.dims, top.dims + top.ndim);
  }
  return shapes;
}

} // namespace

brew_status brew_compiler_options_add_host_layer(brew_compiler_options *options,
                                                 const brew_host_layer *layer) {
  if (!options)
    return BREW_USAGE;
  return guarded(options->message, [&] {
    if (!layer)
      throw brew::Error(brew::ExitStatus::Usage, "the host layer is NULL");
    brew_host_layer layerCopy = brew::copyFromCaller(layer);
    brew::dialects::HostLayerType type;
    type.name = layerCopy.type ? layerCopy.type : "";
    type.hasBackward = layerCopy.backward != nullptr;
    layerCopy.type = nullptr; // points to the caller's text
    if (layerCopy.shapes)
      type.shapes = [layerCopy](const brew::dialects::HostLayerSetup &setup) {
        return shapesOf(layerCopy, setup);
      };
    options->set.addHostLayer(std::move(type));
    return BREW_OK;
  });
}

brew_status
brew_compiler_options_set_param_count(brew_compiler_options *options,
                                      const char *layer, int count) {
  if (!options)
    return BREW_USAGE;
  return guarded(options->message, [&] {
    if (!layer || count < 0)
      throw brew::Error(brew::ExitStatus::Usage,
                        "the layer is NULL or its number of parameters is "
                        "negative");
    options->set.setParamCount(layer, count);
    return BREW_OK;
  });
}

const char *
brew_compiler_options_message(const brew_compiler_options *options) {
  return options ? options->message.c_str() : "";
}

void brew_compiler_options_on_diagnostic(brew_compiler_options *options,
                                         brew_diagnostic_function function,
                                         void *user) {
  if (!options)
    return;
  options->onDiagnostic = function;
  options->user = user;
}
