//===- UnknownTypes.h - Errors about unknown layer types --------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

namespace brew::prototxt {

/// Reports that the type of a layer is unknown, or missing.
void reportUnknownType(const caffe::LayerParameter &layer,
                       const SourceMap &locations, Diagnostics &diagnostics);

/// Merges the errors about layers of one unknown type in one file to one error,
/// at the first layer, with the number of layers and the places of others.
void mergeUnknownTypes(Diagnostics &diagnostics);

/// Adds a note to the last error about an unknown type, if it is no
/// misspelling: how else such a layer can be computed.
void explainUnknownTypes(Diagnostics &diagnostics);

} // namespace brew::prototxt
