//===- HookAccess.cpp - The training run as hooks see it ------------------===//

#include "runtime/train/HookAccess.h"

namespace brew::runtime {

std::uint64_t HookAccess::epochs() const {
  const std::string layer = layerWithEpochs();
  for (const caffe::ReaderCursor &cursor :
       run.session.inputs(run.programs.train).cursors())
    if (cursor.layer() == layer)
      return cursor.epoch();
  return 0;
}

std::optional<SnapshotPair> HookAccess::lastSnapshot() {
  run.snapshots.finish();
  return run.snapshots.last();
}

std::optional<SnapshotPair> HookAccess::bestSnapshot(const BestMetric &metric) {
  run.snapshots.finish();
  if (!metric.best())
    return {};
  return run.snapshots.bestFiles(metric);
}

void HookAccess::change(const ParameterChange &change) {
  run.passes.drainInFlight();
  run.changes.apply(change);
  run.session.events().emit(
      event::ParametersChanged{run.state.iteration, change.actionText(),
                               /*routine=*/change.isRoutine()});
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
