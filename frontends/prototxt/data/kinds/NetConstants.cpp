//===- NetConstants.cpp - Shapes of constants of nets --------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"

namespace brew::prototxt {
namespace {

/// Returns the shape of a matrix in a .binaryproto file.
std::vector<DataShape> matrixShapes(DataLayerQuery &q) {
  const formats::Blob blob = formats::readBinaryProto(formats::requirePath(
      q.layer.infogain_loss_param().source(), q.folders, "infogain matrix"));
  return {DataShape(blob.dims.begin(), blob.dims.end())};
}

std::vector<DataShape> weightShapes(DataLayerQuery &q) {
  return {{q.layer.loss_param().class_weighting_size()}};
}

} // namespace

const DataKind matrixKind = {caffe::DataLayerSource::Matrix, matrixShapes};
const DataKind weightsKind = {caffe::DataLayerSource::Weights, weightShapes};

} // namespace brew::prototxt
