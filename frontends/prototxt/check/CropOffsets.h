//===- CropOffsets.h - Offsets of FCN's Crop layers -------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

namespace brew::prototxt {

/// Sets the crop_param of layer `index` of `net`, a Crop of FCN's branch. That
/// branch infers the offsets in height and width from the net: at these
/// offsets, positions of both bottoms correspond to the same position of a
/// common source blob. Considers only earlier layers, of any phase. Reports an
/// error if there are no such offsets.
void addCropOffsets(caffe::NetParameter &net, int index,
                    const SourceMap &locations, Diagnostics &diagnostics);

} // namespace brew::prototxt
