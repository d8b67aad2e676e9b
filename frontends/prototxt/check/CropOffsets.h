//===- CropOffsets.h - Where crops without offsets begin --------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

namespace brew::prototxt {

/// Gives layer `index` of `net`, a Crop of FCN's branch, the crop_param that
/// this branch leaves to the net: offsets in height and width at which places
/// of both bottoms see the same place of a blob that both are computed from.
/// Only layers before it count, whatever phases they are for. Reports why it
/// cannot.
void addCropOffsets(caffe::NetParameter &net, int index,
                    const SourceMap &locations, Diagnostics &diagnostics);

} // namespace brew::prototxt
