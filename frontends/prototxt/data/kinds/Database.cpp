//===- Database.cpp - Shapes of Data layers ------------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/Blob.h"
#include "frontends/prototxt/data/RecordShape.h"
#include "support/Error.h"

namespace brew::prototxt {
namespace {

std::vector<DataShape> databaseShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  const int64_t batch = q.takeBatch(*q.layer.mutable_data_param());
  const int64_t crop = q.layer.transform_param().crop_size();
  const DataShape *explicitTop = q.explicitShape(0);
  if (explicitTop)
    q.checkExplicitImage(*explicitTop);
  const bool isLevelDb =
      q.layer.data_param().backend() == caffe::DataParameter::LEVELDB;
  auto path =
      q.findSource(q.layer.data_param().source(),
                   isLevelDb ? "LevelDB database" : "LMDB database", "N,C,H,W");
  DataShape image;
  if (path) {
    image = recordShape(q.layer, *path);
    q.result.record = image;
    image = q.shapeOfImages(
        image, batch, *path,
        [&](bool untilOther) {
          return recordShapes(q.layer, *path, untilOther);
        },
        "set crop_size in transform_param, store images of one size (brew-data "
        "imageset --resize_height N --resize_width N)");
    q.checkMean(image, false, *path);
    q.crop(image, *path);
    if (explicitTop && q.imageIn(*explicitTop) != image)
      throw badInput("--input-shape gives '" + q.layer.top(0) + "' images of " +
                     formats::dimsText(q.imageIn(*explicitTop)) + ", but " +
                     *path + " has images of " + formats::dimsText(image));
  } else {
    image = q.imageIn(*explicitTop);
    q.checkMean(image, crop != 0, "--input-shape");
  }
  return q.withLabels(batch, image);
}

void checkDatabaseFiles(RunTimeFiles &files) {
  files.check(files.layer.data_param().boost_file(), "boost_file");
  files.checkMean();
}

} // namespace

const DataKind databaseKind = {caffe::DataLayerSource::Database, databaseShapes,
                               checkDatabaseFiles};

} // namespace brew::prototxt
