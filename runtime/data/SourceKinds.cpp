//===- SourceKinds.cpp - Kinds of sources of data layers ------------------===//

#include "runtime/data/BatchSource.h"

#include <algorithm>

namespace brew::runtime {

const SourceKind *findSourceKind(caffe::DataLayerSource source) {
  static const SourceKind *const kinds[] = {
      &annotatedSource, &databaseSource, &dummySource,
      &hdf5Source,      &imageSource,    &labeledPixelSource,
      &textSource,      &videoSource,    &windowSource};
  const auto found = std::find_if(
      std::begin(kinds), std::end(kinds),
      [&](const SourceKind *kind) { return kind->source == source; });
  return found == std::end(kinds) ? nullptr : *found;
}

unsigned databasePrefetchDepth(const caffe::LayerParameter &layer) {
  // Limits the memory that a malicious plan can request.
  constexpr unsigned kMaxDepth = 64;
  return std::min(layer.data_param().prefetch(), kMaxDepth);
}

} // namespace brew::runtime
