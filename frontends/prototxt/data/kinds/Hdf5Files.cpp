//===- Hdf5Files.cpp - Shapes of HDF5Data layers -------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/Blob.h"
#include "formats/PathLookup.h"
#include "formats/hdf5/Hdf5.h"
#include "support/Error.h"

namespace brew::prototxt {
namespace {

std::vector<DataShape> hdf5Shapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  const int64_t batch = q.takeBatch(*q.layer.mutable_hdf5_data_param());
  auto list = q.findSource(q.layer.hdf5_data_param().source(),
                           "list of HDF5 files", "N,...");
  std::optional<std::string> file;
  if (list) {
    std::vector<std::string> searchFolders = q.folders;
    searchFolders.push_back(formats::folderOfFile(*list));
    file = formats::readHdf5List(*list, searchFolders).front();
  }
  std::vector<DataShape> shapes;
  for (int i = 0; i < q.layer.top_size(); ++i) {
    const DataShape *explicitTop = q.explicitShape(i);
    DataShape shape;
    if (file) {
      formats::Hdf5Reader reader(*file);
      shape = reader.dims(q.layer.top(i));
      if (shape.empty())
        throw badInput("dataset '" + q.layer.top(i) + "' of " + *file +
                       " is a single value; it needs a dimension of rows");
      if (explicitTop && (explicitTop->size() != shape.size() ||
                          !std::equal(explicitTop->begin() + 1,
                                      explicitTop->end(), shape.begin() + 1)))
        throw badInput("--input-shape gives '" + q.layer.top(i) + "' as " +
                       formats::dimsText(*explicitTop) +
                       ", but the dataset in " + *file + " is " +
                       formats::dimsText(shape));
    } else {
      shape = *explicitTop;
      if (shape.empty())
        throw badInput("--input-shape for '" + q.layer.top(i) +
                       "' needs at least one dimension");
    }
    shape[0] = batch;
    shapes.push_back(shape);
  }
  return shapes;
}

} // namespace

const DataKind hdf5Kind = {caffe::DataLayerSource::Hdf5, hdf5Shapes};

} // namespace brew::prototxt
