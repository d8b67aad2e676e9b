//===- Boxes.cpp - Box arithmetic of detection nets -----------------------===//

#include "runtime/detection/Boxes.h"

#include <cmath>

namespace brew::runtime {

template <typename Real>
std::array<Real, 4> encodeBox(const Prior<Real> &prior, CodeType code,
                              bool varianceInTarget, const Box<Real> &box) {
  const Box<Real> &from = prior.box;
  const Real width = from.right - from.left, height = from.bottom - from.top;
  std::array<Real, 4> offsets = {box.left - from.left, box.top - from.top,
                                 box.right - from.right,
                                 box.bottom - from.bottom};
  if (code == caffe::PriorBoxParameter::CORNER_SIZE) {
    for (std::size_t i = 0; i < 4; ++i)
      offsets[i] /= i % 2 ? height : width;
  } else if (code == caffe::PriorBoxParameter::CENTER_SIZE) {
    offsets = {
        ((box.left + box.right) / 2 - (from.left + from.right) / 2) / width,
        ((box.top + box.bottom) / 2 - (from.top + from.bottom) / 2) / height,
        std::log((box.right - box.left) / width),
        std::log((box.bottom - box.top) / height)};
  }
  if (!varianceInTarget)
    for (std::size_t i = 0; i < 4; ++i)
      offsets[i] /= prior.variance[i];
  return offsets;
}

template <typename Real>
Box<Real> decodeBox(const Prior<Real> &prior, CodeType code,
                    bool varianceInTarget, const Real *offsets) {
  const Box<Real> &from = prior.box;
  const Real width = from.right - from.left, height = from.bottom - from.top;
  std::array<Real, 4> deltas;
  for (std::size_t i = 0; i < 4; ++i)
    deltas[i] = varianceInTarget ? offsets[i] : prior.variance[i] * offsets[i];
  if (code == caffe::PriorBoxParameter::CENTER_SIZE) {
    const Real x = deltas[0] * width + (from.left + from.right) / 2;
    const Real y = deltas[1] * height + (from.top + from.bottom) / 2;
    const Real newWidth = std::exp(deltas[2]) * width;
    const Real newHeight = std::exp(deltas[3]) * height;
    return {x - newWidth / 2, y - newHeight / 2, x + newWidth / 2,
            y + newHeight / 2};
  }
  if (code == caffe::PriorBoxParameter::CORNER_SIZE)
    for (std::size_t i = 0; i < 4; ++i)
      deltas[i] *= i % 2 ? height : width;
  return {from.left + deltas[0], from.top + deltas[1], from.right + deltas[2],
          from.bottom + deltas[3]};
}

template std::array<float, 4> encodeBox(const Prior<float> &, CodeType, bool,
                                        const Box<float> &);
template std::array<double, 4> encodeBox(const Prior<double> &, CodeType, bool,
                                         const Box<double> &);
template Box<float> decodeBox(const Prior<float> &, CodeType, bool,
                              const float *);
template Box<double> decodeBox(const Prior<double> &, CodeType, bool,
                               const double *);

namespace {

PixelBox scaleToPixels(const Box<float> &box, int height, int width) {
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  const Box<float> pixels = {box.left * w, box.top * h, box.right * w,
                             box.bottom * h};
  return {pixels, areaOf(pixels, !(width > 1 || height > 1))};
}

/// Returns the area of a net's input that contains the image, without padding.
Box<float> areaWithoutPadding(const caffe::ResizeParameter &resize,
                              float aspect) {
  const auto height = static_cast<float>(resize.height());
  const auto width = static_cast<float>(resize.width());
  if (aspect > width / height) {
    const float padding = (height - width / aspect) / 2 / height;
    return {0, padding, 1, 1 - padding};
  }
  const float padding = (width - height * aspect) / 2 / width;
  return {padding, 0, 1 - padding, 1};
}

} // namespace

PixelBox toPixels(const Box<float> &box, int height, int width,
                  const caffe::ResizeParameter *resize) {
  const auto mode =
      resize ? resize->resize_mode() : caffe::ResizeParameter::WARP;
  if (mode == caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD) {
    const Box<float> frame =
        areaWithoutPadding(*resize, static_cast<float>(width) / height);
    Box<float> boxInFrame = box;
    projectInto(frame, box, boxInFrame); // no-op if `box` is in the padding
    return scaleToPixels(clipped(boxInFrame), height, width);
  }
  if (mode == caffe::ResizeParameter::FIT_SMALL_SIZE &&
      resize->height_scale() && resize->width_scale()) {
    const Box<float> pixels =
        clipped(scaleToPixels(box, static_cast<int>(resize->height_scale()),
                              static_cast<int>(resize->width_scale()))
                    .box,
                static_cast<float>(width), static_cast<float>(height));
    return {pixels, areaOf(pixels)};
  }
  return scaleToPixels(clipped(box), height, width);
}

} // namespace brew::runtime
