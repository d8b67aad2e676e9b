//===- HookAccess.cpp - The training run as hooks see it ------------------===//

#include "runtime/train/HookAccess.h"

namespace brew::runtime {

std::uint64_t HookAccess::epochs() const {
  const std::string layer = layerWithEpochs();
  for (const caffe::ReaderCursor &cursor :
       run.session.dataPipeline(run.programs.train).cursors())
    if (cursor.layer() == layer)
      return cursor.epoch();
  return 0;
}

void HookAccess::forEachTestBatch(int net, const std::function<void()> &body) {
  run.passes.drainInFlight();
  run.tests.forEachBatch(
      net, [this] { return run.control.isStopRequested(); }, body);
}

/// Returns the name of the first data layer that counts epochs, or "".
std::string HookAccess::layerWithEpochs() const {
  for (const plan::DataInput &input :
       run.session.manifest().programs(run.programs.train).data_inputs()) {
    caffe::LayerParameter layer;
    if (!layer.ParseFromString(input.layer()))
      continue;
    for (const char *type : {"Data", "AnnotatedData", "ImageData", "HDF5Data"})
      if (layer.type() == type)
        return layer.name();
  }
  return "";
}

} // namespace brew::runtime
