//===- LabeledPixels.cpp - Shapes of images with labels of pixels ---------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "caffe/CropSize.h"
#include "caffe/ImagePairs.h"
#include "formats/Blob.h"
#include "formats/PathLookup.h"
#include "formats/TextLines.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImagePairList.h"

namespace brew::prototxt {
namespace {

DataShape firstImageShape(const DataLayerQuery &q, const std::string &list) {
  const caffe::ImagePairSettings settings = caffe::imagePairSettings(q.layer);
  const formats::ImagePair first =
      formats::readImagePairList(list, settings.hasLabelImages()).front();
  const std::string where = formats::lineLocation(list, first.line);
  formats::Image image;
  formats::readImageFile(formats::requirePath(settings.rootFolder + first.image,
                                              q.folders, where + ": image"),
                         settings.isColor ? formats::ImageColor::Color
                                          : formats::ImageColor::Gray,
                         0, 0, where, image);
  return {image.channels, image.height, image.width};
}

int64_t takeBatchOf(DataLayerQuery &q) {
  if (q.layer.type() == "DenseImageData")
    return q.takeBatch(*q.layer.mutable_dense_image_data_param());
  return q.takeBatch(*q.layer.mutable_image_data_param());
}

std::vector<DataShape> labeledPixelShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  const caffe::ImagePairSettings settings = caffe::imagePairSettings(q.layer);
  const int64_t batch = takeBatchOf(q);
  const caffe::CropSize crop = caffe::cropSizeOf(q.layer.transform_param());
  const DataShape *explicitTop = q.explicitShape(0);
  if (explicitTop)
    q.checkExplicitImage(*explicitTop);
  const int64_t channels = settings.isColor ? 3 : 1;
  DataShape image;
  std::string sourceName = "'" + settings.source + "'";
  bool isCropped = false;
  if (settings.cropHeight && settings.cropWidth) {
    // The reader checks the size of each image.
    image = {channels, settings.cropHeight, settings.cropWidth};
  } else if (settings.newHeight && settings.newWidth) {
    image = {channels, settings.newHeight, settings.newWidth};
  } else if (crop.rows) {
    // Images may have any size: the reader checks each one.
    image = {channels, crop.rows, crop.columns};
    isCropped = true;
  } else if (const auto list =
                 q.findSource(settings.source, "list of images", "N,C,H,W")) {
    const std::string block = q.layer.type() == "DenseImageData"
                                  ? "dense_image_data_param"
                                  : "image_data_param";
    image = q.shapeOfImages(
        firstImageShape(q, *list), batch, *list,
        [&](bool untilOther) {
          return pairedImageShapes(q.layer, *list, q.folders, untilOther);
        },
        "set new_height and new_width in " + block);
    sourceName = *list;
  } else {
    image = q.imageIn(*explicitTop);
    sourceName = "--input-shape";
  }
  if (!isCropped)
    q.result.record = image;
  q.checkMean(image, isCropped, sourceName);
  if (settings.padsToCrop && crop.rows)
    image = {channels, crop.rows, crop.columns};
  else
    q.crop(image, sourceName);
  std::vector<DataShape> tops = {{batch, image[0], image[1], image[2]},
                                 {batch, 1, image[1], image[2]}};
  if (q.layer.top_size() > 2) // the sizes of the images, of ImageSegData
    tops.push_back({batch, 1, 1, 2});
  return tops;
}

void checkLabeledPixelFiles(RunTimeFiles &files) {
  if (!files.hasShape)
    files.check(caffe::imagePairSettings(files.layer).source, "list of images");
  files.checkMean();
}

} // namespace

const DataKind labeledPixelsKind = {caffe::DataLayerSource::LabeledPixels,
                                    labeledPixelShapes, checkLabeledPixelFiles};

} // namespace brew::prototxt
