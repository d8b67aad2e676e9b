//===- RecordShape.cpp - Image shapes of databases ------------------------===//
#include "frontends/prototxt/data/RecordShape.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/ImagePairs.h"
#include "formats/AnnotatedDatum.h"
#include "formats/Blob.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"
#include "formats/image/ImagePairList.h"
#include "formats/image/ImageSize.h"

#include "support/Error.h"

#include <algorithm>

using namespace brew;
using namespace brew::prototxt;

static std::unique_ptr<formats::DbReader>
openDatabase(const caffe::LayerParameter &layer, const std::string &path) {
  return formats::DbReader::open(path, layer.data_param().backend() ==
                                               caffe::DataParameter::LEVELDB
                                           ? formats::DbBackend::LevelDb
                                           : formats::DbBackend::Lmdb);
}

static formats::ImageColor colorOf(const caffe::LayerParameter &layer) {
  if (layer.transform_param().force_color())
    return formats::ImageColor::Color;
  return layer.transform_param().force_gray() ? formats::ImageColor::Gray
                                              : formats::ImageColor::Native;
}

std::vector<int64_t>
brew::prototxt::recordShape(const caffe::LayerParameter &layer,
                            const std::string &path) {
  auto reader = openDatabase(layer, path);
  auto cursor = reader->newCursor();
  formats::ImageRecord image;
  formats::decodeDatum(cursor->value(), colorOf(layer),
                       path + ", record '" + std::string(cursor->key()) + "'",
                       image);
  return {image.channels, image.height, image.width};
}

void ImageShapes::add(const std::string &name,
                      const std::array<int, 3> &shape) {
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  if (first.empty()) {
    firstName = name;
    first = largest = dims;
  } else if (dims != first && areEqual()) {
    otherName = name;
    other = dims;
  }
  for (size_t i = 0; i < dims.size(); ++i)
    largest[i] = std::max(largest[i], dims[i]);
}

ImageShapes brew::prototxt::recordShapes(const caffe::LayerParameter &layer,
                                         const std::string &path,
                                         bool untilOther) {
  auto reader = openDatabase(layer, path);
  ImageShapes result;
  for (auto cursor = reader->newCursor(); cursor->valid(); cursor->next()) {
    if (untilOther && !result.areEqual())
      break;
    const std::string key(cursor->key());
    try {
      result.add(key, formats::shapeOfDatum(cursor->value(), colorOf(layer),
                                            path + ", record '" + key + "'"));
    } catch (const Error &) {
      continue; // a damaged record is reported, or skipped, when it is read
    }
  }
  return result;
}

/// Adds the shape of an image file, looked up in `folders`, unless it is
/// damaged: it is reported, or skipped, when it is read.
static void addImageFile(const std::string &name, const std::string &path,
                         bool isColor, const std::vector<std::string> &folders,
                         ImageShapes &shapes) {
  try {
    const std::string file = formats::requirePath(path, folders, "image");
    const std::string bytes = formats::readFileBytes(file);
    shapes.add(name, formats::imageShape(bytes.data(), bytes.size(),
                                         isColor ? formats::ImageColor::Color
                                                 : formats::ImageColor::Gray,
                                         file));
  } catch (const Error &) {
  }
}

ImageShapes brew::prototxt::listedImageShapes(
    const caffe::LayerParameter &layer, const std::string &path,
    const std::vector<std::string> &folders, bool untilOther) {
  const caffe::ImageDataParameter &settings = layer.image_data_param();
  const formats::ImageDataFiles files =
      formats::readImageDataFiles(path, settings.root_folder(),
                                  layer.type() == caffe::kMultiLabelImageData);
  ImageShapes result;
  for (const formats::ImageListEntry &entry : files.entries) {
    if (untilOther && !result.areEqual())
      break;
    addImageFile(entry.name, files.nameOf(entry, settings.root_folder()),
                 settings.is_color(), folders, result);
  }
  return result;
}

ImageShapes brew::prototxt::pairedImageShapes(
    const caffe::LayerParameter &layer, const std::string &path,
    const std::vector<std::string> &folders, bool untilOther) {
  const caffe::ImagePairSettings settings = caffe::imagePairSettings(layer);
  ImageShapes result;
  for (const formats::ImagePair &pair :
       formats::readImagePairList(path, settings.hasLabelImages())) {
    if (untilOther && !result.areEqual())
      break;
    addImageFile(pair.image, settings.rootFolder + pair.image, settings.isColor,
                 folders, result);
  }
  return result;
}

AnnotatedShape
brew::prototxt::annotatedShape(const caffe::LayerParameter &layer,
                               const std::string &path, bool countBoxes) {
  auto reader = openDatabase(layer, path);
  auto cursor = reader->newCursor();
  auto recordLocation = [&] {
    return path + ", record '" + std::string(cursor->key()) + "'";
  };
  formats::AnnotatedRecord record;
  formats::decodeAnnotatedDatum(cursor->value(), colorOf(layer),
                                recordLocation(), record);
  AnnotatedShape shape;
  shape.image = {record.image.channels, record.image.height,
                 record.image.width};
  shape.hasBoxes =
      record.hasType || layer.annotated_data_param().has_anno_type();
  for (; countBoxes && shape.hasBoxes && cursor->valid(); cursor->next())
    shape.maxBoxes = std::max<int64_t>(
        shape.maxBoxes, static_cast<int64_t>(formats::countObjects(
                            cursor->value(), recordLocation())));
  return shape;
}

std::vector<int64_t>
brew::prototxt::listedImageShape(const caffe::LayerParameter &layer,
                                 const std::string &path,
                                 const std::vector<std::string> &folders) {
  const caffe::ImageDataParameter &settings = layer.image_data_param();
  const formats::ImageDataFiles files =
      formats::readImageDataFiles(path, settings.root_folder(),
                                  layer.type() == caffe::kMultiLabelImageData);
  const formats::ImageListEntry &first = files.entries.front();
  const std::string location = files.locationOf(first);
  formats::Image image;
  formats::readImageFile(
      formats::requirePath(files.nameOf(first, settings.root_folder()), folders,
                           (location.empty() ? "" : location + ": ") + "image"),
      settings.is_color() ? formats::ImageColor::Color
                          : formats::ImageColor::Gray,
      static_cast<int>(settings.new_height()),
      static_cast<int>(settings.new_width()), location, image);
  return {image.channels, image.height, image.width};
}
