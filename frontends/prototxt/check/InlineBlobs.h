//===- InlineBlobs.h - Weights inside prototxts -----------------*- C++ -*-===//
//
// The `blobs` of layers, which are the initial values of their parameters. They
// bypass the module and are written to the plan.
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

/// Inline blobs by layer and index. A shared parameter has the values of its
/// owner; only the shapes of the sharers' blobs are checked.
using InlineBlobs = std::map<std::pair<std::string, int>, InlineBlob>;

/// Adds the blobs of the layers of `graph`, which has no errors. Blobs of
/// earlier programs take precedence.
void collectInlineBlobs(const NetGraph &graph, const SourceMap &locations,
                        InlineBlobs &blobs);

} // namespace brew::prototxt
