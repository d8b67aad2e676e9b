//===- RecordShape.cpp - The images of a database -------------------------===//
#include "passes/RecordShape.h"

#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/ImageFile.h"
#include "formats/ImageList.h"
#include "formats/PathLookup.h"

using namespace brew;

std::vector<int64_t> brew::recordShape(const caffe::LayerParameter &layer,
                                       const std::string &path) {
  const auto backend =
      layer.data_param().backend() == caffe::DataParameter::LEVELDB
          ? formats::DbBackend::LevelDb
          : formats::DbBackend::Lmdb;
  auto reader = formats::DbReader::open(path, backend);
  auto cursor = reader->newCursor();
  auto color = formats::ImageColor::Native;
  if (layer.transform_param().force_color())
    color = formats::ImageColor::Color;
  else if (layer.transform_param().force_gray())
    color = formats::ImageColor::Gray;
  formats::ImageRecord image;
  formats::decodeDatum(cursor->value(), color,
                       path + ", record '" + std::string(cursor->key()) + "'",
                       image);
  return {image.channels, image.height, image.width};
}

std::vector<int64_t>
brew::listedShape(const caffe::LayerParameter &layer, const std::string &path,
                  const std::vector<std::string> &folders) {
  const caffe::ImageDataParameter &settings = layer.image_data_param();
  const formats::ImageListEntry first = formats::readImageList(path).front();
  const std::string where = formats::placeOf(path, first);
  formats::Image image;
  formats::readImageFile(
      formats::requirePath(settings.root_folder() + first.name, folders,
                           where + ": image"),
      settings.is_color() ? formats::ImageColor::Color
                          : formats::ImageColor::Gray,
      static_cast<int>(settings.new_height()),
      static_cast<int>(settings.new_width()), where, image);
  return {image.channels, image.height, image.width};
}
