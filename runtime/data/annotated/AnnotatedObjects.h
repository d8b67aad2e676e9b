//===- AnnotatedObjects.h - Boxes of an image's objects ---------*- C++ -*-===//
//
// SSD's random crops, and the effects of cropping, resizing and mirroring an
// image on its boxes. Boxes are fractions of the image.
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

/// Draws crops that satisfy the samplers' constraints.
std::vector<Box<float>> drawCrops(
    const google::protobuf::RepeatedPtrField<caffe::BatchSampler> &samplers,
    const Objects &objects, RandomDraws &draws);

/// Returns the objects that overlap `crop` and satisfy the constraint, which
/// may be null. Their boxes are fractions of the crop.
Objects objectsInCrop(const Box<float> &crop, const Objects &objects,
                      const caffe::EmitConstraint *constraint);

/// Returns the box after its image of `height` x `width` was resized.
Box<float> resizedBox(const Box<float> &box,
                      const caffe::ResizeParameter &settings, int height,
                      int width);

/// Scales boxes to units of height_scale and width_scale if the settings of
/// FIT_SMALL_SIZE have them. `crop` is the crop of the resized image, whose
/// original size is `height` x `width`. Throws Error (1) if the crop is smaller
/// than these units.
void scaleToOutputUnits(Objects &objects,
                        const caffe::ResizeParameter &settings, int height,
                        int width, const Box<float> &crop);

} // namespace brew::runtime
