//===- DataShapes.cpp - Shapes of data-layer tops -------------------------===//
#include "frontends/prototxt/data/DataShapes.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/RecordSelection.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"
#include "formats/hdf5/Hdf5.h"
#include "frontends/prototxt/data/RecordShape.h"
#include "support/Error.h"

#include <charconv>
#include <climits>
#include <optional>

using namespace brew;
using namespace brew::prototxt;
using caffe::DataLayerSource;
using formats::dimsText;

namespace {

/// Infers the shapes of the tops of one data layer.
class DataLayerShapes {
public:
  DataLayerShapes(caffe::LayerParameter &layer,
                  const std::vector<std::string> &folders,
                  const DataShapeOptions &options)
      : layer(layer), kind(caffe::findDataLayerKind(layer.type())),
        folders(folders), options(options),
        selection(caffe::recordSelectionOf(layer)) {}

  DataShapes shapes() {
    result.tops = shapesOfSource();
    for (size_t i = 0; i < result.tops.size(); ++i)
      checkExplicit(static_cast<int>(i), result.tops[i]);
    return std::move(result);
  }

private:
  std::vector<DataShape> shapesOfSource() {
    if (!kind)
      throw badInput("data layers of type " + layer.type() +
                     " are not supported yet");
    switch (kind->source) {
    case DataLayerSource::Input:
      return inputShapes();
    case DataLayerSource::Memory:
      return memoryShapes();
    case DataLayerSource::Database:
      return databaseShapes();
    case DataLayerSource::Annotated:
      return annotatedShapes();
    case DataLayerSource::Images:
      return imageShapes();
    case DataLayerSource::Windows:
      return windowShapes();
    case DataLayerSource::Hdf5:
      return hdf5Shapes();
    case DataLayerSource::Fillers:
      return dummyShapes();
    case DataLayerSource::Matrix:
      return blobShapes();
    case DataLayerSource::Weights:
      return {{layer.loss_param().class_weighting_size()}};
    case DataLayerSource::RandomKey:
      break; // the importer knows the shape of a key
    }
    throw Error(ExitStatus::Bug, "a key of random numbers has no settings");
  }
  const DataShape *explicitShape(int top) const {
    auto entry = options.explicitShapes.find(layer.top(top));
    return entry == options.explicitShapes.end() ? nullptr : &entry->second;
  }
  void setBatch(DataShape &shape) {
    hasOwnBatch = options.batch != 0;
    if (options.batch && !shape.empty())
      shape[0] = options.batch;
  }
  /// Throws if the explicit shape of a top contradicts the inferred one.
  void checkExplicit(int top, const DataShape &shape) const;
  /// Returns the batch size of a layer. Writes the option, which takes
  /// precedence, into the settings first.
  template <typename Settings> int64_t takeBatch(Settings &settings) {
    hasOwnBatch |= options.batch != 0;
    if (options.batch)
      settings.set_batch_size(static_cast<uint32_t>(options.batch));
    const caffe::RecordSelection selection = caffe::recordSelectionOf(layer);
    if (selection.imagesPerItem == 1 &&
        settings.batch_size() % selection.recordsPerUnit() != 0)
      throw badInput("batches of " + std::to_string(settings.batch_size()) +
                     " records do not divide into pairs, which layer '" +
                     layer.name() + "' delivers (enable_pair_selection)");
    return settings.batch_size();
  }
  /// Finds a source file. If it is missing, returns nullopt when all shapes are
  /// explicit; otherwise the error names the option that replaces the source.
  std::optional<std::string> findSource(const std::string &name,
                                        const std::string &sourceKind,
                                        const std::string &shapeExample) const;

  std::vector<DataShape> inputShapes();
  std::vector<DataShape> dummyShapes();
  std::vector<DataShape> memoryShapes();
  std::vector<DataShape> databaseShapes();
  std::vector<DataShape> annotatedShapes();
  std::vector<DataShape> imageShapes();
  std::vector<DataShape> windowShapes();
  std::vector<DataShape> withLabels(int64_t batch, const DataShape &image);
  DataShape imageIn(const DataShape &shape) const;
  std::vector<DataShape> hdf5Shapes();
  std::vector<DataShape> blobShapes();
  void checkExplicitImage(const DataShape &shape) const;
  void checkMean(const DataShape &image, bool isCropped,
                 const std::string &sourceName);

  caffe::LayerParameter &layer;
  const caffe::DataLayerKind *kind; ///< null: unknown type
  const std::vector<std::string> &folders;
  const DataShapeOptions &options;
  const caffe::RecordSelection selection;
  /// Whether the leading dimension comes from the layer or an option, and not
  /// from an explicit shape.
  bool hasOwnBatch = false;
  DataShapes result; ///< the result
};

void DataLayerShapes::checkExplicit(int top, const DataShape &shape) const {
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
DataLayerShapes::findSource(const std::string &name,
                            const std::string &sourceKind,
                            const std::string &shapeExample) const {
  int missingTop = -1;
  for (int i = 0; i < layer.top_size() && missingTop < 0; ++i)
    if (!explicitShape(i) && !kind->isLabel(i))
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

/// Returns the shape of a matrix in a .binaryproto file.
std::vector<DataShape> DataLayerShapes::blobShapes() {
  const formats::Blob blob = formats::readBinaryProto(formats::requirePath(
      layer.infogain_loss_param().source(), folders, "infogain matrix"));
  return {DataShape(blob.dims.begin(), blob.dims.end())};
}

//===----------------------------------------------------------------------===//
// Layers without a source
//===----------------------------------------------------------------------===//

/// Replaces the shapes in a layer's settings, so that the data reader sees the
/// same shapes.
template <typename Settings>
void storeShapes(const std::vector<DataShape> &shapes, Settings &settings) {
  settings.clear_shape();
  for (const DataShape &shape : shapes) {
    caffe::BlobShape &blobShape = *settings.add_shape();
    for (int64_t dim : shape)
      blobShape.add_dim(dim);
  }
}

std::vector<DataShape> DataLayerShapes::inputShapes() {
  caffe::InputParameter &settings = *layer.mutable_input_param();
  std::vector<DataShape> shapes;
  for (int i = 0; i < layer.top_size(); ++i) {
    if (const DataShape *shape = explicitShape(i)) {
      shapes.push_back(*shape);
    } else if (settings.shape_size() == 0) {
      throw badInput(
          "the shape of '" + layer.top(i) +
          "' is not specified; write input_param { shape { ... } } or "
          "pass --input-shape " +
          layer.top(i) + "=N,...");
    } else {
      const auto &dims =
          settings.shape(settings.shape_size() > 1 ? i : 0).dim();
      shapes.emplace_back(dims.begin(), dims.end());
    }
    setBatch(shapes.back());
  }
  storeShapes(shapes, settings);
  return shapes;
}

std::vector<DataShape> DataLayerShapes::dummyShapes() {
  caffe::DummyDataParameter &settings = *layer.mutable_dummy_data_param();
  std::vector<DataShape> shapes;
  auto pick = [](const auto &list, int i) -> int64_t {
    return list.Get(list.size() > 1 ? i : 0);
  };
  for (int i = 0; i < layer.top_size(); ++i) {
    if (const DataShape *shape = explicitShape(i)) {
      shapes.push_back(*shape);
    } else if (settings.shape_size() > 0) {
      const auto &dims =
          settings.shape(settings.shape_size() > 1 ? i : 0).dim();
      shapes.emplace_back(dims.begin(), dims.end());
    } else if (settings.num_size() && settings.channels_size() &&
               settings.height_size() && settings.width_size()) {
      shapes.push_back({pick(settings.num(), i), pick(settings.channels(), i),
                        pick(settings.height(), i), pick(settings.width(), i)});
    } else {
      throw badInput("the shape of '" + layer.top(i) + "' is not specified");
    }
    setBatch(shapes.back());
  }
  settings.clear_num();
  settings.clear_channels();
  settings.clear_height();
  settings.clear_width();
  storeShapes(shapes, settings);
  return shapes;
}

std::vector<DataShape> DataLayerShapes::memoryShapes() {
  caffe::MemoryDataParameter &settings = *layer.mutable_memory_data_param();
  if (const DataShape *shape = explicitShape(0)) {
    if (shape->size() != 4)
      throw badInput("--input-shape for '" + layer.top(0) +
                     "' needs four dimensions");
    settings.set_batch_size(shape->at(0));
    settings.set_channels(shape->at(1));
    settings.set_height(shape->at(2));
    settings.set_width(shape->at(3));
  } else if (const DataShape *labels =
                 layer.top_size() > 1 ? explicitShape(1) : nullptr;
             labels && !labels->empty()) {
    settings.set_batch_size(labels->at(0));
  }
  const int64_t batch = takeBatch(settings);
  DataShape labels = {batch};
  if (settings.label_type() == caffe::MemoryDataParameter::MULTIPLE)
    labels = {batch, settings.label_channels(), settings.label_height(),
              settings.label_width()};
  std::vector<DataShape> shapes = {
      {batch, settings.channels(), settings.height(), settings.width()}};
  if (layer.top_size() > 1)
    shapes.push_back(labels);
  return shapes;
}

//===----------------------------------------------------------------------===//
// Databases
//===----------------------------------------------------------------------===//

void DataLayerShapes::checkExplicitImage(const DataShape &shape) const {
  if (shape.size() != 4)
    throw badInput("--input-shape for '" + layer.top(0) +
                   "' needs four dimensions: number, channels, height, width");
  const int64_t crop = layer.transform_param().crop_size();
  if (crop && (shape[2] != crop || shape[3] != crop))
    throw badInput("--input-shape gives '" + layer.top(0) + "' images of " +
                   dimsText({shape[1], shape[2], shape[3]}) +
                   ", but crop_size makes them " + std::to_string(crop) + "x" +
                   std::to_string(crop));
}

/// Checks mean_value and mean_file. `image` is channels x height x width before
/// cropping, or after it if `isCropped`.
void DataLayerShapes::checkMean(const DataShape &image, bool isCropped,
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
  if (mean.size() == 4 && mean[0] == 1)
    mean.erase(mean.begin());
  bool fits = mean.size() == 3 && mean[0] == image[0];
  for (size_t i = 1; fits && i < 3; ++i)
    fits = isCropped ? mean[i] >= image[i] : mean[i] == image[i];
  if (!fits)
    throw badInput("the mean image in " + *path + " is " + dimsText(mean) +
                   ", but the images of " + sourceName + " are " +
                   dimsText(image));
  result.mean = std::move(mean);
}

std::vector<DataShape> DataLayerShapes::databaseShapes() {
  hasOwnBatch = true;
  const int64_t batch = takeBatch(*layer.mutable_data_param());
  const int64_t crop = layer.transform_param().crop_size();
  const DataShape *explicitTop = explicitShape(0);
  if (explicitTop)
    checkExplicitImage(*explicitTop);
  const bool isLevelDb =
      layer.data_param().backend() == caffe::DataParameter::LEVELDB;
  auto path =
      findSource(layer.data_param().source(),
                 isLevelDb ? "LevelDB database" : "LMDB database", "N,C,H,W");
  DataShape image;
  if (path) {
    image = recordShape(layer, *path);
    result.record = image;
    checkMean(image, false, *path);
    if (crop > image[1] || crop > image[2])
      throw badInput("crop_size " + std::to_string(crop) +
                     " is larger than the images of " + *path + ", which are " +
                     dimsText(image));
    if (crop)
      image = {image[0], crop, crop};
    if (explicitTop && imageIn(*explicitTop) != image)
      throw badInput("--input-shape gives '" + layer.top(0) + "' images of " +
                     dimsText(imageIn(*explicitTop)) + ", but " + *path +
                     " has images of " + dimsText(image));
  } else {
    image = imageIn(*explicitTop);
    checkMean(image, crop != 0, "--input-shape");
  }
  return withLabels(batch, image);
}

/// Returns the shapes of data and labels. An item with several images stacks
/// them along the channels.
std::vector<DataShape> DataLayerShapes::withLabels(int64_t batch,
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
DataShape DataLayerShapes::imageIn(const DataShape &shape) const {
  const int64_t imagesPerItem = selection.imagesPerItem;
  if (shape[1] % imagesPerItem)
    throw badInput("--input-shape gives '" + layer.top(0) + "' " +
                   std::to_string(shape[1]) +
                   " channels, which images_per_blob " +
                   std::to_string(imagesPerItem) + " does not divide");
  return {shape[1] / imagesPerItem, shape[2], shape[3]};
}

/// The label top has one row per box, with room for a batch of images that all
/// have the maximal number of boxes.
std::vector<DataShape> DataLayerShapes::annotatedShapes() {
  constexpr int64_t kBoxFields = 8;
  hasOwnBatch = true;
  const int64_t batch = takeBatch(*layer.mutable_data_param());
  const caffe::TransformationParameter &transform = layer.transform_param();
  const DataShape *explicitTop = explicitShape(0);
  const DataShape *explicitLabels =
      layer.top_size() > 1 ? explicitShape(1) : nullptr;
  if (explicitTop && explicitTop->size() != 4)
    throw badInput("--input-shape for '" + layer.top(0) +
                   "' needs four dimensions: number, channels, height, width");
  const bool isLevelDb =
      layer.data_param().backend() == caffe::DataParameter::LEVELDB;
  auto path = findSource(layer.data_param().source(),
                         isLevelDb ? "LevelDB database" : "LMDB database",
                         explicitShape(0) ? "1,1,N,8 for N boxes in a batch"
                                          : "N,C,H,W");
  AnnotatedShape record;
  if (path)
    record =
        annotatedShape(layer, *path, layer.top_size() > 1 && !explicitLabels);
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
    image[1] = transform.resize_param().height();
    image[2] = transform.resize_param().width();
  }
  checkMean(image, false, path ? *path : "--input-shape");
  std::vector<DataShape> shapes = {{batch, image[0], image[1], image[2]}};
  if (layer.top_size() == 1)
    return shapes;
  if (!record.hasBoxes)
    shapes.push_back({batch});
  else if (explicitLabels && explicitLabels->size() == 4)
    shapes.push_back({1, 1, explicitLabels->at(2), kBoxFields});
  else
    shapes.push_back(
        {1, 1, batch * std::max<int64_t>(record.maxBoxes, 1), kBoxFields});
  return shapes;
}

//===----------------------------------------------------------------------===//
// Image files
//===----------------------------------------------------------------------===//

std::vector<DataShape> DataLayerShapes::imageShapes() {
  hasOwnBatch = true;
  caffe::ImageDataParameter &settings = *layer.mutable_image_data_param();
  const int64_t batch = takeBatch(settings);
  const int64_t crop = layer.transform_param().crop_size();
  const int64_t channels = settings.is_color() ? 3 : 1;
  const DataShape *explicitTop = explicitShape(0);
  if (explicitTop)
    checkExplicitImage(*explicitTop);
  DataShape image;
  std::string sourceName = "'" + settings.source() + "'";
  bool isCropped = false;
  if (settings.new_height() && settings.new_width()) {
    image = {channels, settings.new_height(), settings.new_width()};
    result.record = image;
  } else if (crop) {
    // Images may have any size: the reader checks each one.
    image = {channels, crop, crop};
    isCropped = true;
  } else if (auto list =
                 findSource(settings.source(), "list of images", "N,C,H,W")) {
    image = listedImageShape(layer, *list, folders);
    sourceName = *list;
  } else {
    image = imageIn(*explicitTop);
    sourceName = "--input-shape";
  }
  checkMean(image, isCropped, sourceName);
  if (crop > image[1] || crop > image[2])
    throw badInput("crop_size " + std::to_string(crop) +
                   " is larger than the images of " + sourceName +
                   ", which are " + dimsText(image));
  if (crop)
    image = {channels, crop, crop};
  return withLabels(batch, image);
}

std::vector<DataShape> DataLayerShapes::windowShapes() {
  hasOwnBatch = true;
  const int64_t batch = takeBatch(*layer.mutable_window_data_param());
  const int64_t crop = layer.transform_param().crop_size();
  if (crop < 1)
    throw badInput("crop_size is missing in transform_param: windows are "
                   "warped to images of that size");
  return withLabels(batch, {3, crop, crop});
}

//===----------------------------------------------------------------------===//
// HDF5
//===----------------------------------------------------------------------===//

std::vector<DataShape> DataLayerShapes::hdf5Shapes() {
  hasOwnBatch = true;
  const int64_t batch = takeBatch(*layer.mutable_hdf5_data_param());
  auto list = findSource(layer.hdf5_data_param().source(), "list of HDF5 files",
                         "N,...");
  std::optional<std::string> file;
  if (list) {
    std::vector<std::string> searchFolders = folders;
    searchFolders.push_back(formats::folderOfFile(*list));
    file = formats::readHdf5List(*list, searchFolders).front();
  }
  std::vector<DataShape> shapes;
  for (int i = 0; i < layer.top_size(); ++i) {
    const DataShape *explicitTop = explicitShape(i);
    DataShape shape;
    if (file) {
      formats::Hdf5Reader reader(*file);
      shape = reader.dims(layer.top(i));
      if (shape.empty())
        throw badInput("dataset '" + layer.top(i) + "' of " + *file +
                       " is a single value; it needs a dimension of rows");
      if (explicitTop && (explicitTop->size() != shape.size() ||
                          !std::equal(explicitTop->begin() + 1,
                                      explicitTop->end(), shape.begin() + 1)))
        throw badInput("--input-shape gives '" + layer.top(i) + "' as " +
                       dimsText(*explicitTop) + ", but the dataset in " +
                       *file + " is " + dimsText(shape));
    } else {
      shape = *explicitTop;
      if (shape.empty())
        throw badInput("--input-shape for '" + layer.top(i) +
                       "' needs at least one dimension");
    }
    shape[0] = batch;
    shapes.push_back(shape);
  }
  return shapes;
}

} // namespace

std::map<std::string, DataShape>
brew::prototxt::parseInputShapes(const std::vector<std::string> &entries) {
  std::string text;
  for (const std::string &entry : entries)
    text += (text.empty() ? "" : ",") + entry;
  std::map<std::string, DataShape> shapes;
  DataShape *current = nullptr;
  size_t position = 0;
  while (position < text.size()) {
    const size_t comma = std::min(text.find(',', position), text.size());
    std::string word = text.substr(position, comma - position);
    position = comma + 1;
    const size_t equals = word.rfind('=');
    auto fail = [&] {
      throw Error(ExitStatus::Usage,
                  "--input-shape: '" + word +
                      "' is not a dimension; write BLOB=d,d,... with "
                      "dimensions from 1 to 2147483647");
    };
    if (equals != std::string::npos) {
      auto [entry, isNew] = shapes.try_emplace(word.substr(0, equals));
      if (!isNew || equals == 0)
        throw Error(ExitStatus::Usage,
                    "--input-shape: '" + word +
                        (equals ? "' names a blob twice" : "' names no blob"));
      current = &entry->second;
      word = word.substr(equals + 1);
      if (word.empty() && position > text.size())
        break; // a scalar has no dimensions
    }
    int64_t dim = 0;
    const char *end = word.data() + word.size();
    auto [stop, status] = std::from_chars(word.data(), end, dim);
    if (!current || status != std::errc() || stop != end || dim < 1 ||
        dim > INT_MAX)
      fail();
    current->push_back(dim);
  }
  return shapes;
}

DataShapes
brew::prototxt::inferDataShapes(caffe::LayerParameter &layer,
                                const std::vector<std::string> &folders,
                                const DataShapeOptions &options) {
  DataShapes shapes = DataLayerShapes(layer, folders, options).shapes();
  for (size_t i = 0; i < shapes.tops.size(); ++i) {
    int64_t count = 1;
    for (int64_t dim : shapes.tops[i]) {
      if (dim < 1)
        throw badInput("'" + layer.top(i) + "' has no elements: its shape is " +
                       dimsText(shapes.tops[i]));
      // Caffe counts elements in an int.
      if (dim > INT_MAX / count)
        throw badInput("'" + layer.top(i) +
                       "' has more than 2147483647 elements: its shape is " +
                       dimsText(shapes.tops[i]));
      count *= dim;
    }
  }
  return shapes;
}
