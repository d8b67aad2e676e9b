//===- DataLayerQuery.cpp - Shapes of one data layer ----------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "caffe/CropSize.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"

#include <algorithm>
#include <cassert>

namespace brew::prototxt {

using formats::dimsText;

void DataLayerQuery::checkExplicit(int top, const DataShape &shape) const {
  const DataShape *explicitTop = explicitShape(top);
  if (!explicitTop)
    return;
  const size_t firstDim = hasOwnBatch ? 1 : 0;
  if (explicitTop->size() != shape.size() ||
      (shape.size() > firstDim &&
       !std::equal(explicitTop->begin() + firstDim, explicitTop->end(),
                   shape.begin() + firstDim)))
    throw badInput("--input-shape gives '" + layer.top(top) + "' as " +
                   dimsText(*explicitTop) + ", but the layer makes it " +
                   dimsText(shape));
}

std::optional<std::string>
DataLayerQuery::findSource(const std::string &name,
                           const std::string &sourceKind,
                           const std::string &shapeExample) const {
  int missingTop = -1;
  for (int i = 0; i < layer.top_size() && missingTop < 0; ++i)
    if (!explicitShape(i) && !kind.isLabel(i))
      missingTop = i;
  if (missingTop < 0)
    return formats::findPath(name, folders);
  try {
    return formats::requirePath(name, folders, sourceKind);
  } catch (const Error &error) {
    if (error.status() != ExitStatus::Unavailable)
      throw;
    throw unavailable(std::string(error.what()) +
                      "; to compile without it, pass --input-shape " +
                      layer.top(missingTop) + "=" + shapeExample);
  }
}

void DataLayerQuery::crop(DataShape &image,
                          const std::string &sourceName) const {
  const caffe::CropSize size = caffe::cropSizeOf(layer.transform_param());
  if (!size.rows)
    return;
  int64_t &height = image[image.size() - 2], &width = image.back();
  const uint32_t square = layer.transform_param().crop_size();
  if (size.rows > height || size.columns > width)
    throw badInput(
        (square ? "crop_size " + std::to_string(square)
                : "the crop of " + dimsText({size.rows, size.columns})) +
        " is larger than the images of " + sourceName + ", which are " +
        dimsText(image));
  height = size.rows;
  width = size.columns;
}

void DataLayerQuery::checkExplicitImage(const DataShape &shape,
                                        size_t dims) const {
  if (shape.size() != dims)
    throw badInput("--input-shape for '" + layer.top(0) + "' needs " +
                   (dims == 5 ? "five dimensions: number, channels, frames, "
                              : "four dimensions: number, channels, ") +
                   "height, width");
  const caffe::CropSize crop = caffe::cropSizeOf(layer.transform_param());
  if (crop.rows &&
      (shape[dims - 2] != crop.rows || shape.back() != crop.columns))
    throw badInput("--input-shape gives '" + layer.top(0) + "' images of " +
                   dimsText({shape.begin() + 1, shape.end()}) +
                   ", but the crop makes them " +
                   dimsText({crop.rows, crop.columns}));
}

void DataLayerQuery::checkMean(const DataShape &image, bool isCropped,
                               const std::string &sourceName) {
  const caffe::TransformationParameter &transform = layer.transform_param();
  if (transform.mean_value_size() > 1 &&
      transform.mean_value_size() != image[0])
    throw badInput("mean_value is given " +
                   std::to_string(transform.mean_value_size()) +
                   " times for images of " + std::to_string(image[0]) +
                   " channels; give one, or one for each channel");
  if (!transform.has_mean_file())
    return;
  auto path = formats::findPath(transform.mean_file(), folders);
  if (!path)
    return; // the file may exist when the plan runs
  DataShape mean = formats::readBinaryProto(*path).dims;
  if (mean.size() == image.size() + 1 && mean[0] == 1)
    mean.erase(mean.begin());
  bool fits = mean.size() == image.size();
  for (size_t i = 0; fits && i < image.size(); ++i)
    fits = isCropped && i + 2 >= image.size() ? mean[i] >= image[i]
                                              : mean[i] == image[i];
  if (!fits)
    throw badInput("the mean image in " + *path + " is " + dimsText(mean) +
                   ", but the images of " + sourceName + " are " +
                   dimsText(image));
  result.mean = std::move(mean);
}

DataShape DataLayerQuery::shapeOfImages(
    const DataShape &first, int64_t batch, const std::string &path,
    const std::function<ImageShapes(bool)> &scan, const std::string &remedy) {
  if (options.imageSizes == ImageSizes::First || batch != 1 ||
      caffe::cropSizeOf(layer.transform_param()).rows ||
      selection.imagesPerItem != 1)
    return first;
  const bool refusesOthers = options.imageSizes == ImageSizes::Equal;
  const ImageShapes shapes = scan(refusesOthers);
  if (shapes.areEqual())
    return first;
  const std::string text = path + " has images of several sizes: '" +
                           shapes.firstName + "' is " + dimsText(shapes.first) +
                           ", '" + shapes.otherName + "' is " +
                           dimsText(shapes.other);
  if (layer.transform_param().has_mean_file())
    throw badInput(text + "; mean_file fits only one size, so set mean_value "
                          "in transform_param");
  if (refusesOthers)
    throw Error(ExitStatus::ShapesVary,
                text + "; a plan computes one size, so " + remedy +
                    ", or use the command caffe or Python's package caffe, "
                    "which change the shape of the net with each image");
  result.sizesVary = true;
  return shapes.largest;
}

/// Returns the shapes of data and labels. An item with several images stacks
/// them along the channels.
std::vector<DataShape> DataLayerQuery::withLabels(int64_t batch,
                                                  const DataShape &image) {
  const int64_t imagesPerItem = selection.imagesPerItem;
  std::vector<DataShape> shapes = {
      {batch, image[0] * imagesPerItem, image[1], image[2]}};
  if (layer.top_size() > 1)
    shapes.push_back(imagesPerItem > 1 && selection.allLabels
                         ? DataShape{batch, imagesPerItem}
                         : DataShape{batch});
  return shapes;
}

/// Returns channels, height and width of one image of a top.
DataShape DataLayerQuery::imageIn(const DataShape &shape) const {
  const int64_t imagesPerItem = selection.imagesPerItem;
  if (shape[1] % imagesPerItem)
    throw badInput("--input-shape gives '" + layer.top(0) + "' " +
                   std::to_string(shape[1]) +
                   " channels, which images_per_blob " +
                   std::to_string(imagesPerItem) + " does not divide");
  return {shape[1] / imagesPerItem, shape[2], shape[3]};
}

const DataKind &dataKindOf(caffe::DataLayerSource source) {
  static const DataKind *const kinds[] = {
      &annotatedKind, &databaseKind, &fillersKind,       &hdf5Kind,
      &imagesKind,    &inputKind,    &labeledPixelsKind, &memoryKind,
      &textKind,      &videosKind,   &windowsKind};
  const auto found = std::find_if(
      std::begin(kinds), std::end(kinds),
      [&](const DataKind *kind) { return kind->source == source; });
  assert(found != std::end(kinds) && "every source has a kind");
  return **found;
}

} // namespace brew::prototxt
