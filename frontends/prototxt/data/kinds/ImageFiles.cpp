//===- ImageFiles.cpp - Shapes of ImageData layers -----------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/Blob.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageList.h"
#include "frontends/prototxt/data/RecordShape.h"
#include "support/Error.h"

namespace brew::prototxt {
namespace {

/// Records the size of the first image, unless the source is missing.
void recordFirstImage(DataLayerQuery &q, int64_t crop) {
  const auto list =
      formats::findPath(q.layer.image_data_param().source(), q.folders);
  if (!list)
    return;
  const DataShape first = listedImageShape(q.layer, *list, q.folders);
  if (crop > first[1] || crop > first[2])
    throw badInput("crop_size " + std::to_string(crop) +
                   " is larger than the first image of " + *list +
                   ", which is " + formats::dimsText(first));
  q.result.record = first;
}

/// Returns the number of labels of an image, of the list or of an explicit
/// shape.
int64_t labelCount(const DataLayerQuery &q) {
  const std::string &source = q.layer.image_data_param().source();
  if (const auto list = formats::findPath(source, q.folders))
    return static_cast<int64_t>(
        formats::readMultiLabelList(*list).front().labels.size());
  const DataShape *shape = q.explicitShape(1);
  if (shape && shape->size() == 2)
    return shape->at(1);
  throw badInput("layer '" + q.layer.name() + "': there is no list '" + source +
                 "'; --input-shape " + q.layer.top(1) +
                 "=N,L gives the number L of labels of an image instead");
}

std::vector<DataShape> imageShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  caffe::ImageDataParameter &settings = *q.layer.mutable_image_data_param();
  const int64_t batch = q.takeBatch(settings);
  const int64_t crop = q.layer.transform_param().crop_size();
  const int64_t channels = settings.is_color() ? 3 : 1;
  const DataShape *explicitTop = q.explicitShape(0);
  if (explicitTop)
    q.checkExplicitImage(*explicitTop);
  DataShape image;
  std::string sourceName = "'" + settings.source() + "'";
  bool isCropped = false;
  if (settings.new_height() && settings.new_width()) {
    image = {channels, settings.new_height(), settings.new_width()};
    q.result.record = image;
  } else if (crop) {
    // Images may have any size: the reader checks each one.
    image = {channels, crop, crop};
    isCropped = true;
    if (q.options.recordsFirstImage)
      recordFirstImage(q, crop);
  } else if (auto list =
                 q.findSource(settings.source(), "list of images", "N,C,H,W")) {
    image = q.shapeOfImages(
        listedImageShape(q.layer, *list, q.folders), batch, *list,
        [&](bool untilOther) {
          return listedImageShapes(q.layer, *list, q.folders, untilOther);
        },
        "set new_height and new_width in image_data_param, or crop_size in "
        "transform_param");
    sourceName = *list;
  } else {
    image = q.imageIn(*explicitTop);
    sourceName = "--input-shape";
  }
  q.checkMean(image, isCropped, sourceName);
  q.crop(image, sourceName);
  std::vector<DataShape> tops = q.withLabels(batch, image);
  if (q.layer.type() == caffe::kMultiLabelImageData)
    tops[1].push_back(labelCount(q));
  return tops;
}

void checkImageFiles(RunTimeFiles &files) {
  const caffe::ImageDataParameter &settings = files.layer.image_data_param();
  if (!files.hasShape)
    files.check(settings.source(), "list of images");
  files.check(settings.boost_file(), "boost_file");
  files.checkMean();
}

} // namespace

const DataKind imagesKind = {caffe::DataLayerSource::Images, imageShapes,
                             checkImageFiles};

} // namespace brew::prototxt
