//===- AnnotatedDatabase.cpp - Shapes of AnnotatedData layers ------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "caffe/YoloData.h"
#include "frontends/prototxt/data/RecordShape.h"
#include "support/Error.h"

namespace brew::prototxt {
namespace {

/// If there are several resize_param, keeps the one with the size of
/// --input-shape.
void chooseResize(DataLayerQuery &q) {
  caffe::TransformationParameter &transform =
      *q.layer.mutable_transform_param();
  if (!transform.further_resize_param_size())
    return;
  std::vector<caffe::ResizeParameter> all = {transform.resize_param()};
  all.insert(all.end(), transform.further_resize_param().begin(),
             transform.further_resize_param().end());
  transform.clear_further_resize_param();
  const DataShape *shape = q.explicitShape(0);
  std::string sizes;
  for (const caffe::ResizeParameter &resize : all) {
    if (shape && shape->at(2) == resize.height() &&
        shape->at(3) == resize.width()) {
      *transform.mutable_resize_param() = resize;
      return;
    }
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(resize.height()) +
             "x" + std::to_string(resize.width());
  }
  throw badInput(
      "layer '" + q.layer.name() + "' draws the size of each batch from " +
      sizes + "; a plan has one size, so choose one of them: --input-shape " +
      q.layer.top(0) + "=N,C,H,W");
}

/// The label top has one row per box, with room for a batch of images that all
/// have the maximal number of boxes, or a list for each image.
std::vector<DataShape> annotatedShapes(DataLayerQuery &q) {
  constexpr int64_t kBoxFields = 8;
  q.hasOwnBatch = true;
  const int64_t batch = q.takeBatch(*q.layer.mutable_data_param());
  const caffe::TransformationParameter &transform = q.layer.transform_param();
  const DataShape *explicitTop = q.explicitShape(0);
  const DataShape *explicitLabels =
      q.layer.top_size() > 1 ? q.explicitShape(1) : nullptr;
  if (explicitTop && explicitTop->size() != 4)
    throw badInput("--input-shape for '" + q.layer.top(0) +
                   "' needs four dimensions: number, channels, height, width");
  const bool isLevelDb =
      q.layer.data_param().backend() == caffe::DataParameter::LEVELDB;
  auto path = q.findSource(q.layer.data_param().source(),
                           isLevelDb ? "LevelDB database" : "LMDB database",
                           q.explicitShape(0) ? "1,1,N,8 for N boxes in a batch"
                                              : "N,C,H,W");
  AnnotatedShape record;
  const bool hasLists = q.layer.annotated_data_param().yolo_data_type() == 1;
  if (path)
    record = annotatedShape(
        q.layer, *path, q.layer.top_size() > 1 && !explicitLabels && !hasLists);
  else
    record = {{explicitTop->begin() + 1, explicitTop->end()},
              explicitLabels && explicitLabels->size() == 4,
              0};
  DataShape image = record.image;
  const bool isSquare = transform.crop_size() != 0;
  if (isSquare || (transform.crop_h() && transform.crop_w())) {
    image[1] = isSquare ? transform.crop_size() : transform.crop_h();
    image[2] = isSquare ? transform.crop_size() : transform.crop_w();
  } else if (transform.has_resize_param()) {
    chooseResize(q);
    image[1] = transform.resize_param().height();
    image[2] = transform.resize_param().width();
  }
  q.checkMean(image, false, path ? *path : "--input-shape");
  std::vector<DataShape> shapes = {{batch, image[0], image[1], image[2]}};
  if (q.layer.top_size() == 1)
    return shapes;
  if (!record.hasBoxes)
    shapes.push_back({batch});
  else if (hasLists)
    shapes.push_back({batch, 1,
                      explicitLabels && explicitLabels->size() == 4
                          ? explicitLabels->at(2)
                          : caffe::kYoloBoxes,
                      caffe::kYoloBoxFields});
  else if (explicitLabels && explicitLabels->size() == 4)
    shapes.push_back({1, 1, explicitLabels->at(2), kBoxFields});
  else
    shapes.push_back(
        {1, 1, batch * std::max<int64_t>(record.maxBoxes, 1), kBoxFields});
  return shapes;
}

void checkAnnotatedFiles(RunTimeFiles &files) { files.checkMean(); }

} // namespace

const DataKind annotatedKind = {caffe::DataLayerSource::Annotated,
                                annotatedShapes, checkAnnotatedFiles};

} // namespace brew::prototxt
