//===- Text.cpp - Shapes of TokenizedData layers --------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

namespace brew::prototxt {
namespace {

/// Returns the shapes of tokens, their positions and the following tokens, of
/// which a deploy net leaves out the last.
std::vector<DataShape> textShapes(DataLayerQuery &q) {
  caffe::TokenizedDataParameter &settings =
      *q.layer.mutable_tokenized_data_param();
  q.hasOwnBatch = true;
  const int64_t batch = q.takeBatch(settings), block = settings.block_size();
  std::vector<DataShape> shapes = {{batch, block}, {1, block}, {batch, block}};
  shapes.resize(q.layer.top_size());
  return shapes;
}

void checkTextFiles(RunTimeFiles &files) {
  if (!files.hasShape)
    files.check(files.layer.tokenized_data_param().source(), "text file");
}

} // namespace

const DataKind textKind = {caffe::DataLayerSource::Text, textShapes,
                           checkTextFiles};

} // namespace brew::prototxt
