//===- InlineBlobs.h - Weights inside a prototxt -----------------*- C++ -*-===//
//
// What layers give in `blobs`, which their parameters start from. Weights never
// become part of the module; they go past it into the plan.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"
#include "frontends/prototxt/check/NetGraph.h"
#include "frontends/prototxt/text/SourceMap.h"

#include <map>
#include <string>
#include <utility>

namespace brew::prototxt {

struct InlineBlob {
  formats::Blob blob;
  SourceLocation where;
  LayerText layerPrefix; ///< "layer 'ip1' (InnerProduct): "
};

/// By layer and index. A blob that a sharer gives is only compared with the
/// shape: the owner's values count.
using InlineBlobs = std::map<std::pair<std::string, int>, InlineBlob>;

/// Adds what the layers of `graph`, which has no errors, give; what an earlier
/// program had stays.
void collectInlineBlobs(const NetGraph &graph, const SourceMap &locations,
                       InlineBlobs &blobs);

} // namespace brew::prototxt
