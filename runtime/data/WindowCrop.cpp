//===- WindowCrop.cpp - Cropping and warping of windows -------------------===//

#include "runtime/data/WindowCrop.h"

#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

template <typename Real> int rounded(Real value) {
  return static_cast<int>(std::round(value));
}

/// One axis of a window: first and last pixel, and the extent outside the
/// image.
struct Span {
  int first, last;
  int padBefore = 0, padAfter = 0;
  int warped = 0;

  int extent() const { return last - first + 1; }
};

/// Widens a span around its centre, so that the warped result has the context
/// on each side of the original span. Then clips the span to the image.
template <typename Real>
void widen(Span &span, Real half, Real center, Real contextScale, int image,
           int size) {
  span.first = rounded(center - half * contextScale);
  span.last = rounded(center + half * contextScale);
  const int unclipped = span.extent();
  span.padBefore = std::max(0, -span.first);
  span.padAfter = std::max(0, span.last - image + 1);
  span.first += span.padBefore;
  span.last -= span.padAfter;
  const Real scale = static_cast<Real>(size) / static_cast<Real>(unclipped);
  span.warped = rounded(static_cast<Real>(span.extent()) * scale);
  span.padBefore = rounded(static_cast<Real>(span.padBefore) * scale);
  span.padAfter = rounded(static_cast<Real>(span.padAfter) * scale);
}

} // namespace

template <typename Real>
WindowCrop computeCrop(const formats::Window &window, int imageWidth,
                       int imageHeight, int size, int contextPad, bool square,
                       bool mirrored) {
  Span x{window.x1, window.x2}, y{window.y1, window.y2};
  x.warped = y.warped = size;
  WindowCrop crop;
  if (contextPad > 0 || square) {
    const Real contextScale =
        static_cast<Real>(size) / static_cast<Real>(size - 2 * contextPad);
    Real halfHeight = static_cast<Real>(y.extent() / 2.0);
    Real halfWidth = static_cast<Real>(x.extent() / 2.0);
    const Real centerX = static_cast<Real>(x.first) + halfWidth;
    const Real centerY = static_cast<Real>(y.first) + halfHeight;
    if (square)
      halfWidth = halfHeight = std::max(halfWidth, halfHeight);
    widen(x, halfWidth, centerX, contextScale, imageWidth, size);
    widen(y, halfHeight, centerY, contextScale, imageHeight, size);
    crop.offsetY = y.padBefore;
    crop.offsetX = mirrored ? x.padAfter : x.padBefore;
    // Rounding may make the sum larger than the result.
    y.warped = std::min(y.warped, size - crop.offsetY);
    x.warped = std::min(x.warped, size - crop.offsetX);
  }
  if (x.first < 0 || y.first < 0 || x.last >= imageWidth ||
      y.last >= imageHeight || x.extent() < 1 || y.extent() < 1)
    throw badInput(
        "the window " + window.text() + " does not lie within the image of " +
        std::to_string(imageWidth) + "x" + std::to_string(imageHeight));
  if (x.warped < 1 || y.warped < 1)
    throw badInput("the window " + window.text() +
                   " has no pixels left besides its padding");
  crop.left = x.first;
  crop.top = y.first;
  crop.width = x.extent();
  crop.height = y.extent();
  crop.warpedWidth = x.warped;
  crop.warpedHeight = y.warped;
  return crop;
}

template WindowCrop computeCrop<float>(const formats::Window &, int, int, int,
                                       int, bool, bool);
template WindowCrop computeCrop<double>(const formats::Window &, int, int, int,
                                        int, bool, bool);

} // namespace brew::runtime
