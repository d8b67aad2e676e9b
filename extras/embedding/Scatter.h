//===- Scatter.h - Scatter plots --------------------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::embedding {

/// The content of a plot.
struct ScatterData {
  const float *points; ///< interleaved x and y, finite
  std::int64_t count;
  const std::int32_t *classes = nullptr; ///< negative: no class
  std::vector<std::string> classNames;   ///< other classes show their number
  std::string title;
  int width, height; ///< pixels
};

struct Colour {
  std::uint8_t red, green, blue;
};

/// The positions of all elements of a plot, in pixels from the upper left
/// corner.
struct ScatterLayout {
  struct Entry {
    Colour colour;
    std::string name;
    double y; ///< of the centre
  };
  struct Dot {
    float x, y;
    std::int32_t entry; ///< index into `legend`, for the colour
  };
  int width, height;
  std::string title;
  double titleY, textSize;
  double left, top, right, bottom; ///< the frame
  double radius;                   ///< of dots
  double legendX;
  std::vector<Entry> legend; ///< one for each class that occurs
  std::size_t legendRows;    ///< entries shown; 0: no legend
  bool legendCut;            ///< the last shown entry says "and N more"
  std::vector<Dot> dots;
};

ScatterLayout layoutScatter(const ScatterData &data);

std::string scatterSvg(const ScatterLayout &layout);
/// Returns the bytes of a PNG file.
std::string scatterPng(const ScatterLayout &layout);

} // namespace brew::embedding
