//===- InputTransforms.cpp - Recorded transforms of images ----------------===//
#include "frontends/prototxt/deploy/InputTransforms.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/RecordSelection.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageFolder.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <filesystem>
#include <fstream>

namespace brew::prototxt {

using caffe::DataLayerSource;

namespace {

/// Returns the lines of labels.txt in the folder of a database, or nothing.
std::vector<std::string> labelsBeside(const std::string &database) {
  std::filesystem::path path(formats::absolutePath(database));
  std::ifstream file(path.parent_path() / "labels.txt");
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);)
    labels.push_back(line);
  return labels;
}

std::vector<std::string> labelsOf(const caffe::LayerParameter &layer,
                                  DataLayerSource source,
                                  const std::vector<std::string> &folders) {
  const bool isDatabase = source == DataLayerSource::Database;
  if (!isDatabase && source != DataLayerSource::Images)
    return {};
  const auto path =
      formats::findPath(isDatabase ? layer.data_param().source()
                                   : layer.image_data_param().source(),
                        folders);
  std::error_code ignored;
  if (!path)
    return {};
  if (isDatabase)
    return labelsBeside(*path);
  return std::filesystem::is_directory(*path, ignored)
             ? formats::readImageFolder(*path).classes
             : std::vector<std::string>();
}

/// Adds the mean image, cropped at the centre to the top `image`.
void addMeanImage(const std::string &path, const DataShape &image,
                  plan::InputTransform &transform) {
  const formats::Blob mean = formats::readBinaryProto(path);
  DataShape dims(mean.dims.begin(), mean.dims.end());
  if (dims.size() == 4 && dims[0] == 1)
    dims.erase(dims.begin());
  if (dims.size() != 3 || dims[0] != image[0] || dims[1] < image[1] ||
      dims[2] < image[2])
    throw badInput(
        "the mean image in " + path + " is " + formats::dimsText(mean.dims) +
        ", but the images of the top are " + formats::dimsText(image));
  const std::vector<float> values = mean.toFloats();
  const int64_t top = (dims[1] - image[1]) / 2, left = (dims[2] - image[2]) / 2;
  for (int64_t c = 0; c < image[0]; ++c)
    for (int64_t y = 0; y < image[1]; ++y)
      for (int64_t x = 0; x < image[2]; ++x)
        transform.add_mean(values[static_cast<size_t>(
            (c * dims[1] + top + y) * dims[2] + left + x)]);
}

} // namespace

std::optional<plan::InputTransform>
inputTransformOf(const caffe::LayerParameter &layer, const DataShapes &shapes,
                 const std::vector<std::string> &folders) {
  const caffe::DataLayerKind *kind = caffe::findDataLayerKind(layer.type());
  const bool hasImages = kind->hasImages() ||
                         kind->source == DataLayerSource::Annotated ||
                         kind->source == DataLayerSource::Windows ||
                         kind->source == DataLayerSource::Memory;
  const DataShape &top = shapes.tops.at(0);
  // Several images in an item cannot come from one image.
  if (!hasImages || top.size() != 4 ||
      caffe::recordSelectionOf(layer).imagesPerItem != 1)
    return std::nullopt;
  const caffe::TransformationParameter &settings = layer.transform_param();
  plan::InputTransform transform;
  const DataShape image(top.begin() + 1, top.end());
  if (shapes.record.size() == 3 && kind->hasImages() &&
      (shapes.record[1] != image[1] || shapes.record[2] != image[2])) {
    constexpr int64_t kMaxSide = 1 << 16; // pixels, as in a plan
    if (shapes.record[1] > kMaxSide || shapes.record[2] > kMaxSide)
      throw badInput("the images before cropping are " +
                     formats::dimsText(shapes.record) +
                     "; a plan records at most " + std::to_string(kMaxSide) +
                     " rows and columns");
    transform.add_resize_dims(shapes.record[1]);
    transform.add_resize_dims(shapes.record[2]);
  }
  transform.set_scale(kind->source == DataLayerSource::Windows
                          ? layer.window_data_param().scale()
                          : settings.scale());
  if (settings.has_mean_file())
    addMeanImage(
        formats::requirePath(settings.mean_file(), folders, "mean file"), image,
        transform);
  else if (settings.mean_value_size() > 1 &&
           settings.mean_value_size() != image[0])
    throw badInput("mean_value is given " +
                   std::to_string(settings.mean_value_size()) +
                   " times for images of " + std::to_string(image[0]) +
                   " channels; give one, or one for each channel");
  else
    *transform.mutable_mean() = settings.mean_value();
  for (std::string &label : labelsOf(layer, kind->source, folders))
    transform.add_labels(std::move(label));
  return transform;
}

std::string describeTransform(const plan::InputTransform &transform) {
  std::string text = "images as B,G,R";
  if (transform.resize_dims_size() == 2)
    text += ", resized to " + std::to_string(transform.resize_dims(0)) + "x" +
            std::to_string(transform.resize_dims(1)) +
            " and cropped at the centre";
  constexpr int kMaxChannels = 4;
  if (transform.mean_size() > kMaxChannels)
    text += ", minus a mean image";
  for (int i = 0;
       i < transform.mean_size() && transform.mean_size() <= kMaxChannels; ++i)
    text += (i ? "," : ", minus ") + shortestText(transform.mean(i), 6);
  return text + ", times " + shortestText(transform.scale(), 6);
}

} // namespace brew::prototxt
