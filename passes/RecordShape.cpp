//===- RecordShape.cpp - The images of a database -------------------------===//
#include "passes/RecordShape.h"

#include "formats/Database.h"
#include "formats/Datum.h"

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
