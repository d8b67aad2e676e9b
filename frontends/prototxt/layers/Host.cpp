//===- Host.cpp - Layers that registered host functions compute -----------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

#include "frontends/prototxt/layers/HostSettings.h"

#include <google/protobuf/text_format.h>

namespace brew::prototxt {

namespace {

constexpr const char *kPython = "Python";

void checkPython(LayerChecker &c) {
  const caffe::PythonParameter &settings = c.layer.python_param();
  if (settings.module().empty())
    c.reportMissing(settings, "module");
  if (settings.layer().empty())
    c.reportMissing(settings, "layer");
}

/// Returns the type under which the layer's functions are registered.
std::string hostTypeOf(const caffe::LayerParameter &layer) {
  const caffe::PythonParameter &settings = layer.python_param();
  return layer.type() == kPython ? settings.module() + "." + settings.layer()
                                 : layer.type();
}

std::string settingsText(const caffe::LayerParameter &layer) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(layer, &text);
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

/// Checks the name of the file, which a built-in function of the runtime
/// writes.
void checkHdf5Output(LayerChecker &c) {
  const caffe::HDF5OutputParameter &settings = c.layer.hdf5_output_param();
  if (settings.file_name().empty())
    c.reportMissing(settings, "file_name");
}

void buildHost(LayerBuilder &l) {
  addHostSettings(l.layerOp("host_layer"), l, hostTypeOf(l.layer),
                  l.layer.python_param().param_str());
}

} // namespace

void addHostSettings(OperationSpec &op, const LayerBuilder &l,
                     const std::string &type, const std::string &paramStr) {
  op.text("kind", type)
      .text("settings", settingsText(l.layer))
      .text("param_str", paramStr)
      .flag("test_phase", l.phase == caffe::TEST);
}

LayerRows hostLayers() {
  return {
      LayerKind{"HDF5Output", 2, 2, 0, 0, "hdf5_output_param"}
          .checkedBy(checkHdf5Output)
          .builtBy(buildHost),
      LayerKind{kPython, -1, -1, -1, -1, "python_param"}
          .inPlace()
          .checkedBy(checkPython)
          .builtBy(buildHost),
  };
}

const LayerKind &declaredHostKind() {
  static const LayerKind kind =
      LayerKind{"", -1, -1, -1, -1, "python_param"}.inPlace().builtBy(
          buildHost);
  return kind;
}

} // namespace brew::prototxt
