//===- AnnotatedObjects.cpp - Boxes of an image's objects -----------------===//

#include "runtime/data/annotated/AnnotatedObjects.h"

#include "support/Error.h"

#include <cmath>

namespace brew::runtime {
namespace {

Box<float> drawCrop(const caffe::Sampler &sampler, RandomDraws &draws) {
  const float scale = draws.uniform(sampler.min_scale(), sampler.max_scale());
  const float minAspect = scale * scale;
  float aspect =
      draws.uniform(sampler.min_aspect_ratio(), sampler.max_aspect_ratio());
  aspect = std::min(std::max(aspect, minAspect), 1 / minAspect);
  const float width = scale * std::sqrt(aspect);
  const float height = scale / std::sqrt(aspect);
  const float left = draws.uniform(0, 1 - width);
  const float top = draws.uniform(0, 1 - height);
  return {left, top, left + width, top + height};
}

bool satisfies(const Box<float> &crop, const Objects &objects,
               const caffe::SampleConstraint &c) {
  struct Limits {
    bool hasMin, hasMax;
    float min, max;
    bool areSet() const { return hasMin || hasMax; }
    bool include(float value) const {
      return !(hasMin && value < min) && !(hasMax && value > max);
    }
  };
  const Limits overlap = {c.has_min_jaccard_overlap(),
                          c.has_max_jaccard_overlap(), c.min_jaccard_overlap(),
                          c.max_jaccard_overlap()};
  const Limits cropCoverage = {
      c.has_min_sample_coverage(), c.has_max_sample_coverage(),
      c.min_sample_coverage(), c.max_sample_coverage()};
  const Limits objectCoverage = {
      c.has_min_object_coverage(), c.has_max_object_coverage(),
      c.min_object_coverage(), c.max_object_coverage()};
  if (!overlap.areSet() && !cropCoverage.areSet() && !objectCoverage.areSet())
    return true;
  for (const formats::AnnotatedObject &object : objects) {
    const Box<float> box = boxOf(object);
    if (overlap.include(intersectionOverUnion(crop, box)) &&
        cropCoverage.include(coverageOf(crop, box)) &&
        objectCoverage.include(coverageOf(box, crop)))
      return true;
  }
  return false;
}

bool isEmitted(const Box<float> &crop, const Box<float> &box,
               const caffe::EmitConstraint &constraint) {
  if (constraint.emit_type() == caffe::EmitConstraint::MIN_OVERLAP)
    return coverageOf(box, crop) > constraint.emit_overlap();
  const float x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return x >= crop.left && x <= crop.right && y >= crop.top && y <= crop.bottom;
}

void setBox(formats::AnnotatedObject &object, const Box<float> &box) {
  object.left = box.left;
  object.top = box.top;
  object.right = box.right;
  object.bottom = box.bottom;
}

} // namespace

std::vector<Box<float>> drawCrops(
    const google::protobuf::RepeatedPtrField<caffe::BatchSampler> &samplers,
    const Objects &objects, RandomDraws &draws) {
  std::vector<Box<float>> crops;
  for (const caffe::BatchSampler &sampler : samplers) {
    if (!sampler.use_original_image())
      continue;
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < sampler.max_trials(); ++i) {
      if (sampler.has_max_sample() && found >= sampler.max_sample())
        break;
      const Box<float> crop = drawCrop(sampler.sampler(), draws);
      if (!satisfies(crop, objects, sampler.sample_constraint()))
        continue;
      ++found;
      crops.push_back(crop);
    }
  }
  return crops;
}

Objects objectsInCrop(const Box<float> &crop, const Objects &objects,
                      const caffe::EmitConstraint *constraint) {
  Objects result;
  for (const formats::AnnotatedObject &object : objects) {
    Box<float> boxInCrop;
    if ((constraint && !isEmitted(crop, boxOf(object), *constraint)) ||
        !projectInto(crop, boxOf(object), boxInCrop))
      continue;
    result.push_back(object);
    setBox(result.back(), boxInCrop);
  }
  return result;
}

Box<float> resizedBox(const Box<float> &box,
                      const caffe::ResizeParameter &settings, int height,
                      int width) {
  auto newHeight = static_cast<float>(settings.height());
  auto newWidth = static_cast<float>(settings.width());
  const auto oldHeight = static_cast<float>(height);
  const auto oldWidth = static_cast<float>(width);
  const float aspect = oldWidth / oldHeight;
  const bool isWider = aspect > newWidth / newHeight;
  float padX = 0, padY = 0;
  switch (settings.resize_mode()) {
  case caffe::ResizeParameter::WARP:
    break;
  case caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD:
    if (isWider)
      padY = (newHeight - newWidth / aspect) / 2;
    else
      padX = (newWidth - aspect * newHeight) / 2;
    break;
  case caffe::ResizeParameter::FIT_SMALL_SIZE:
    if (aspect < newWidth / newHeight)
      newHeight = newWidth / aspect;
    else
      newWidth = aspect * newHeight;
    break;
  }
  auto low = [](float x, float old, float size, float pad) {
    return (pad + std::max(0.F, x * old * (size - 2 * pad) / old)) / size;
  };
  auto high = [](float x, float old, float size, float pad) {
    return (pad + std::min(size, x * old * (size - 2 * pad) / old)) / size;
  };
  return {low(box.left, oldWidth, newWidth, padX),
          low(box.top, oldHeight, newHeight, padY),
          high(box.right, oldWidth, newWidth, padX),
          high(box.bottom, oldHeight, newHeight, padY)};
}

void scaleToOutputUnits(Objects &objects,
                        const caffe::ResizeParameter &settings, int height,
                        int width, const Box<float> &crop) {
  if (settings.resize_mode() != caffe::ResizeParameter::FIT_SMALL_SIZE ||
      !settings.height_scale() || !settings.width_scale())
    return;
  auto newHeight = static_cast<float>(settings.height());
  auto newWidth = static_cast<float>(settings.width());
  const float aspect = static_cast<float>(width) / static_cast<float>(height);
  if (aspect < newWidth / newHeight)
    newHeight = newWidth / aspect;
  else
    newWidth = newHeight * aspect;
  const float cutWidth = newWidth * (crop.right - crop.left);
  const float cutHeight = newHeight * (crop.bottom - crop.top);
  const auto scaleX = static_cast<float>(settings.width_scale());
  const auto scaleY = static_cast<float>(settings.height_scale());
  if (cutWidth < scaleX || cutHeight < scaleY)
    throw badInput("height_scale and width_scale are larger than the crop of "
                   "the image that is used");
  for (formats::AnnotatedObject &object : objects)
    setBox(object,
           {object.left * cutWidth / scaleX, object.top * cutHeight / scaleY,
            object.right * cutWidth / scaleX,
            object.bottom * cutHeight / scaleY});
}

} // namespace brew::runtime
