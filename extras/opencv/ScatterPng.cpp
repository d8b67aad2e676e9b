//===- ScatterPng.cpp - Scatter plots as PNG ------------------------------===//

#include "extras/opencv/Plugin.h"

#include "extras/embedding/Scatter.h"

#include "formats/image/ImageEncode.h"

#include <opencv2/imgproc.hpp>

#include <cmath>

namespace brew::runtime::opencv {
namespace {

using embedding::Colour;
using embedding::ScatterLayout;

/// The plot is drawn at twice its size and then averaged, for smooth edges.
constexpr int kScale = 2;
/// Fractional bits of coordinates.
constexpr int kShift = 4;
constexpr double kFine = kScale << kShift;

cv::Scalar scalarOf(const Colour &colour) {
  return {double(colour.blue), double(colour.green), double(colour.red)};
}

cv::Point fine(double x, double y) {
  return {static_cast<int>(std::lround(x * kFine)),
          static_cast<int>(std::lround(y * kFine))};
}

void dot(cv::Mat &picture, double x, double y, double radius,
         const Colour &colour) {
  cv::circle(picture, fine(x, y), static_cast<int>(std::lround(radius * kFine)),
             scalarOf(colour), cv::FILLED, cv::LINE_AA, kShift);
}

/// Draws text. The font supports only ASCII; other letters become question
/// marks.
void words(cv::Mat &picture, double x, double y, double size,
           const std::string &text) {
  std::string shown;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80)
      shown += byte < 0x80 && byte >= ' ' ? c : '?';
  }
  const int font = cv::FONT_HERSHEY_SIMPLEX;
  // 21 pixels is a capital's height at scale 1; of usual letters, 0.72.
  const double scale = 0.72 * size / 21 * kScale;
  cv::putText(picture, shown,
              cv::Point(static_cast<int>(x * kScale),
                        static_cast<int>((y + 0.36 * size) * kScale)),
              font, scale, cv::Scalar(30, 30, 30), kScale, cv::LINE_AA);
}

} // namespace

std::string scatterPng(const ScatterLayout &layout) {
  cv::Mat large(layout.height * kScale, layout.width * kScale, CV_8UC3,
                cv::Scalar(255, 255, 255));
  words(large, layout.left, layout.titleY, layout.textSize, layout.title);
  cv::rectangle(large, fine(layout.left, layout.top),
                fine(layout.right, layout.bottom), cv::Scalar(204, 204, 204),
                kScale, cv::LINE_AA, kShift);
  for (const ScatterLayout::Dot &at : layout.dots)
    dot(large, at.x, at.y, layout.radius, layout.legend[at.entry].colour);
  for (std::size_t i = 0; i < layout.legendRows; ++i) {
    const ScatterLayout::Entry &entry = layout.legend[i];
    if (!layout.legendCut || i + 1 < layout.legendRows)
      dot(large, layout.legendX + 6, entry.y, 6, entry.colour);
    words(large, layout.legendX + 20, entry.y, layout.textSize, entry.name);
  }
  formats::Image image;
  image.channels = 3;
  image.height = layout.height;
  image.width = layout.width;
  image.pixels.resize(std::size_t(layout.height) * layout.width * 3);
  cv::Mat small(layout.height, layout.width, CV_8UC3, image.pixels.data());
  cv::resize(large, small, small.size(), 0, 0, cv::INTER_AREA);
  return formats::encodeImage(image, formats::ImageFormat::Png);
}

} // namespace brew::runtime::opencv
