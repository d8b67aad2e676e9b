//===- RecordShape.cpp - Image shapes of databases ------------------------===//
#include "frontends/prototxt/data/RecordShape.h"

#include "formats/AnnotatedDatum.h"
#include "formats/Blob.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"
#include "formats/image/ImageSize.h"

#include "support/Error.h"

#include <algorithm>
#include <array>

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

/// Throws because a record differs from the first one.
[[noreturn]] static void
failOnSizes(const std::string &source, const std::string &first,
            const std::vector<int64_t> &firstShape, const std::string &other,
            const std::array<int, 3> &otherShape, const std::string &remedy) {
  throw badInput(source + " has images of several sizes: '" + first + "' is " +
                 formats::dimsText(firstShape) + ", '" + other + "' is " +
                 formats::dimsText({otherShape.begin(), otherShape.end()}) +
                 "; a plan computes one size, so " + remedy);
}

static bool isEqual(const std::array<int, 3> &shape,
                    const std::vector<int64_t> &first) {
  return std::equal(shape.begin(), shape.end(), first.begin(), first.end());
}

void brew::prototxt::requireEqualRecords(const caffe::LayerParameter &layer,
                                         const std::string &path,
                                         const std::vector<int64_t> &first) {
  auto reader = openDatabase(layer, path);
  auto cursor = reader->newCursor();
  const std::string firstKey(cursor->key());
  for (; cursor->valid(); cursor->next()) {
    const std::string key(cursor->key());
    std::array<int, 3> shape;
    try {
      shape = formats::shapeOfDatum(cursor->value(), colorOf(layer),
                                    path + ", record '" + key + "'");
    } catch (const Error &) {
      continue; // a damaged record is reported, or skipped, when it is read
    }
    if (!isEqual(shape, first))
      failOnSizes(path, firstKey, first, key, shape,
                  "set crop_size in transform_param, or store images of one "
                  "size (brew-data imageset --resize_height N --resize_width "
                  "N)");
  }
}

void brew::prototxt::requireEqualImages(const caffe::LayerParameter &layer,
                                        const std::string &path,
                                        const std::vector<std::string> &folders,
                                        const std::vector<int64_t> &first) {
  const caffe::ImageDataParameter &settings = layer.image_data_param();
  const formats::ImageColor color = settings.is_color()
                                        ? formats::ImageColor::Color
                                        : formats::ImageColor::Gray;
  const formats::ImageDataFiles files =
      formats::readImageDataFiles(path, settings.root_folder());
  for (const formats::ImageListEntry &entry : files.entries) {
    std::array<int, 3> shape;
    try {
      const std::string file = formats::requirePath(
          files.nameOf(entry, settings.root_folder()), folders, "image");
      const std::string bytes = formats::readFileBytes(file);
      shape = formats::imageShape(bytes.data(), bytes.size(), color, file);
    } catch (const Error &) {
      continue; // a damaged image is reported, or skipped, when it is read
    }
    if (!isEqual(shape, first))
      failOnSizes(path, files.entries.front().name, first, entry.name, shape,
                  "set new_height and new_width in image_data_param, or "
                  "crop_size in transform_param");
  }
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
