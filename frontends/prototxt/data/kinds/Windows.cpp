//===- Windows.cpp - Shapes of WindowData layers -------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "support/Error.h"

namespace brew::prototxt {
namespace {

std::vector<DataShape> windowShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  const int64_t batch = q.takeBatch(*q.layer.mutable_window_data_param());
  const int64_t crop = q.layer.transform_param().crop_size();
  if (crop < 1)
    throw badInput("crop_size is missing in transform_param: windows are "
                   "warped to images of that size");
  return q.withLabels(batch, {3, crop, crop});
}

void checkWindowFiles(RunTimeFiles &files) {
  if (!files.hasShape)
    files.check(files.layer.window_data_param().source(), "window file");
  files.checkMean();
}

} // namespace

const DataKind windowsKind = {caffe::DataLayerSource::Windows, windowShapes,
                              checkWindowFiles};

} // namespace brew::prototxt
