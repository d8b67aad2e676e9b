//===- AnnotatedObjects.h - What becomes of an image's objects -----------*- C++ -*-===//
//
// SSD's sampling of image parts, and what cutting, resizing and mirroring an
// image do to the boxes in it. Boxes are fractions of the image.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/AnnotatedDatum.h"
#include "runtime/data/annotated/RandomDraws.h"
#include "runtime/detection/Boxes.h"

#include <vector>

namespace brew::runtime {

using Objects = std::vector<formats::AnnotatedObject>;

inline Box<float> boxOf(const formats::AnnotatedObject &object) {
  return {object.left, object.top, object.right, object.bottom};
}

/// What the samplers draw: parts of the image that satisfy their constraints.
std::vector<Box<float>> drawCrops(
    const google::protobuf::RepeatedPtrField<caffe::BatchSampler> &samplers,
    const Objects &objects, RandomDraws &draws);

/// The objects of the part `part` of an image, as fractions of it: those of
/// which something lies in it and that satisfy the constraint, if there is one.
Objects objectsInCrop(const Box<float> &part, const Objects &objects,
                      const caffe::EmitConstraint *constraint);

/// What a resize of an image of these makes of a box.
Box<float> resizedBox(const Box<float> &box,
                      const caffe::ResizeParameter &settings, int height,
                      int width);

/// Puts boxes in units of height_scale and width_scale where the settings of
/// FIT_SMALL_SIZE have them: `part` is what was cut from the resized image,
/// which came from one of `height` x `width`. Throws Error (1) if the part is
/// smaller than these.
void extrapolate(Objects &objects, const caffe::ResizeParameter &settings,
                 int height, int width, const Box<float> &part);

} // namespace brew::runtime
