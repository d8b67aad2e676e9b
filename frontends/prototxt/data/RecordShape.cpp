//===- RecordShape.cpp - Image shapes of databases ------------------------===//
#include "frontends/prototxt/data/RecordShape.h"

#include "formats/AnnotatedDatum.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"

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
      formats::readImageDataFiles(path, settings.root_folder());
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
