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
constexpr int kPlotScale = 2;
/// Fractional bits of coordinates.
constexpr int kShift = 4;
constexpr double kFixedPointScale = kPlotScale << kShift;

cv::Scalar scalarOf(const Colour &colour) {
  return {double(colour.blue), double(colour.green), double(colour.red)};
}

cv::Point toFixedPoint(double x, double y) {
  return {static_cast<int>(std::lround(x * kFixedPointScale)),
          static_cast<int>(std::lround(y * kFixedPointScale))};
}

void drawDot(cv::Mat &picture, double x, double y, double radius,
             const Colour &colour) {
  cv::circle(picture, toFixedPoint(x, y),
             static_cast<int>(std::lround(radius * kFixedPointScale)),
             scalarOf(colour), cv::FILLED, cv::LINE_AA, kShift);
}

/// Draws text. The font supports only ASCII; other letters become question
/// marks.
void drawText(cv::Mat &picture, double x, double y, double size,
              const std::string &text) {
  std::string asciiText;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80)
      asciiText += byte < 0x80 && byte >= ' ' ? c : '?';
  }
  const int font = cv::FONT_HERSHEY_SIMPLEX;
  // Capitals are 21 pixels high at scale 1. In usual fonts, their height is
  // 0.72 of the text size.
  const double scale = 0.72 * size / 21 * kPlotScale;
  cv::putText(picture, asciiText,
              cv::Point(static_cast<int>(x * kPlotScale),
                        static_cast<int>((y + 0.36 * size) * kPlotScale)),
              font, scale, cv::Scalar(30, 30, 30), kPlotScale, cv::LINE_AA);
}

} // namespace

std::string scatterPng(const ScatterLayout &layout) {
  cv::Mat large(layout.height * kPlotScale, layout.width * kPlotScale, CV_8UC3,
                cv::Scalar(255, 255, 255));
  drawText(large, layout.left, layout.titleY, layout.textSize, layout.title);
  cv::rectangle(large, toFixedPoint(layout.left, layout.top),
                toFixedPoint(layout.right, layout.bottom),
                cv::Scalar(204, 204, 204), kPlotScale, cv::LINE_AA, kShift);
  for (const ScatterLayout::Dot &dot : layout.dots)
    drawDot(large, dot.x, dot.y, layout.radius,
            layout.legend[dot.entry].colour);
  for (std::size_t i = 0; i < layout.legendRows; ++i) {
    const ScatterLayout::Entry &entry = layout.legend[i];
    if (!layout.legendCut || i + 1 < layout.legendRows)
      drawDot(large, layout.legendX + 6, entry.y, 6, entry.colour);
    drawText(large, layout.legendX + 20, entry.y, layout.textSize, entry.name);
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
