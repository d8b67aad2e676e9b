//===- Scatter.h - Scatter plots --------------------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::embedding {

struct ScatterData {
  const float *points; ///< x and y by turns, finite
  std::int64_t count;
  const std::int32_t *classes = nullptr; ///< less than 0: none
  std::vector<std::string> classNames;   ///< numbers beyond these
  std::string title;
  int width, height; ///< pixels
};

struct Colour {
  std::uint8_t red, green, blue;
};

/// Where everything of a plot stands, for whoever draws it. Pixels, from the
/// upper left corner.
struct ScatterLayout {
  struct Entry {
    Colour colour;
    std::string name;
    double y; ///< of the middle
  };
  struct Dot {
    float x, y;
    std::int32_t entry; ///< whose colour it has
  };
  int width, height;
  std::string title;
  double titleY, textSize;
  double left, top, right, bottom; ///< the frame
  double radius;                   ///< of dots
  double legendX;
  std::vector<Entry> legend; ///< at least one
  std::size_t legendRows;    ///< shown, from the first; 0: no legend
  bool legendCut; ///< the last one shown only says that there are more
  std::vector<Dot> dots;
};

ScatterLayout layoutScatter(const ScatterData &data);

std::string scatterSvg(const ScatterLayout &layout);
/// The bytes of a PNG file.
std::string scatterPng(const ScatterLayout &layout);

} // namespace brew::embedding
