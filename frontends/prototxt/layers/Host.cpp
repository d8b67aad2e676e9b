//===- Host.cpp - Layers that registered host functions compute -----------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

void checkPython(LayerChecker &c) {
  const caffe::PythonParameter &settings = c.layer.python_param();
  if (settings.module().empty())
    c.reportMissing(settings, "module");
  if (settings.layer().empty())
    c.reportMissing(settings, "layer");
}

/// Checks the name of the file, which a built-in function of the runtime
/// writes.
void checkHdf5Output(LayerChecker &c) {
  const caffe::HDF5OutputParameter &settings = c.layer.hdf5_output_param();
  if (settings.file_name().empty())
    c.reportMissing(settings, "file_name");
}

} // namespace

LayerRows hostLayers() {
  return {
      LayerKind{"HDF5Output", 2, 2, 0, 0, "hdf5_output_param"}.checkedBy(
          checkHdf5Output),
      LayerKind{"Python", -1, -1, -1, -1, "python_param"}.inPlace().checkedBy(
          checkPython),
  };
}

const LayerKind &declaredHostKind() {
  static const LayerKind kind =
      LayerKind{"", -1, -1, -1, -1, "python_param"}.inPlace();
  return kind;
}

} // namespace brew::prototxt
