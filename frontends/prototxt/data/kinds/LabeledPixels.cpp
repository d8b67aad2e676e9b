//===- LabeledPixels.cpp - Shapes of DenseImageData layers ----------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/PathLookup.h"
#include "formats/TextLines.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImagePairList.h"

namespace brew::prototxt {
namespace {

DataShape firstImageShape(const DataLayerQuery &q, const std::string &list) {
  const caffe::DenseImageDataParameter &settings =
      q.layer.dense_image_data_param();
  const formats::ImagePair first = formats::readImagePairList(list).front();
  const std::string where = formats::lineLocation(list, first.line);
  formats::Image image;
  formats::readImageFile(
      formats::requirePath(settings.root_folder() + first.image, q.folders,
                           where + ": image"),
      settings.is_color() ? formats::ImageColor::Color
                          : formats::ImageColor::Gray,
      0, 0, where, image);
  return {image.channels, image.height, image.width};
}

std::vector<DataShape> labeledPixelShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  caffe::DenseImageDataParameter &settings =
      *q.layer.mutable_dense_image_data_param();
  const int64_t batch = q.takeBatch(settings);
  const DataShape *explicitTop = q.explicitShape(0);
  if (explicitTop)
    q.checkExplicitImage(*explicitTop);
  DataShape image;
  std::string sourceName = "'" + settings.source() + "'";
  if (settings.new_height() && settings.new_width()) {
    image = {settings.is_color() ? 3 : 1, settings.new_height(),
             settings.new_width()};
  } else if (const auto list =
                 q.findSource(settings.source(), "list of images", "N,C,H,W")) {
    image = q.shapeOfImages(
        firstImageShape(q, *list), batch, *list,
        [&](bool untilOther) {
          return pairedImageShapes(q.layer, *list, q.folders, untilOther);
        },
        "set new_height and new_width in dense_image_data_param");
    sourceName = *list;
  } else {
    image = q.imageIn(*explicitTop);
    sourceName = "--input-shape";
  }
  q.result.record = image;
  q.checkMean(image, /*isCropped=*/false, sourceName);
  return {{batch, image[0], image[1], image[2]},
          {batch, 1, image[1], image[2]}};
}

void checkLabeledPixelFiles(RunTimeFiles &files) {
  if (!files.hasShape)
    files.check(files.layer.dense_image_data_param().source(),
                "list of images");
  files.checkMean();
}

} // namespace

const DataKind labeledPixelsKind = {caffe::DataLayerSource::LabeledPixels,
                                    labeledPixelShapes, checkLabeledPixelFiles};

} // namespace brew::prototxt
