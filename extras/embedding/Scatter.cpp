//===- Scatter.cpp - Scatter plots ----------------------------------------===//

#include "extras/embedding/Scatter.h"

#include "runtime/opencv/OpenCv.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace brew::embedding {
namespace {

constexpr double kMargin = 16, kLineHeight = 22, kTextSize = 15; // pixels
constexpr double kLetterWidth =
    0.6; ///< approximate width of a letter / text size

/// Tableau's ten easily distinguishable colours.
constexpr Colour kClassColours[] = {
    {31, 119, 180},  {255, 127, 14}, {44, 160, 44},   {214, 39, 40},
    {148, 103, 189}, {140, 86, 75},  {227, 119, 194}, {127, 127, 127},
    {188, 189, 34},  {23, 190, 207}};
constexpr Colour kNoClassColour = {90, 90, 90};

/// Returns the colour of a class. More than ten classes have hues by the golden
/// angle, in three brightnesses.
Colour colourOf(std::size_t index, std::size_t count) {
  if (count <= std::size(kClassColours))
    return kClassColours[index];
  const double hue = std::fmod(static_cast<double>(index) * 0.61803398875, 1);
  const double value = 0.9 - 0.22 * static_cast<double>(index % 3);
  auto channel = [&](double shift) {
    const double at = std::fmod(hue + shift, 1) * 6;
    const double ramp = std::clamp(std::min(at - 0, 4 - at), 0.0, 1.0);
    return static_cast<std::uint8_t>(
        std::lround(255 * value * (0.15 + 0.85 * ramp)));
  };
  return {channel(1.0 / 3), channel(0), channel(2.0 / 3)};
}

/// Counts code points: skips continuation bytes of UTF-8.
std::size_t countLetters(const std::string &text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      }));
}

} // namespace

ScatterLayout layoutScatter(const ScatterData &data) {
  ScatterLayout layout{};
  layout.width = data.width;
  layout.height = data.height;
  layout.title = data.title;
  layout.textSize = kTextSize;

  // The classes that occur, by number.
  std::map<std::int32_t, std::int32_t> entries;
  for (std::int64_t i = 0; i < data.count; ++i)
    entries[data.classes ? std::max(data.classes[i], -1) : -1] = 0;
  const bool hasUnclassified = entries.count(-1) != 0;
  std::size_t longest = 0, index = 0;
  for (auto &[number, entry] : entries) {
    entry = static_cast<std::int32_t>(layout.legend.size());
    std::string name = "no class";
    Colour colour = kNoClassColour;
    if (number >= 0) {
      const auto at = static_cast<std::size_t>(number);
      name = at < data.classNames.size() ? data.classNames[at]
                                         : std::to_string(number);
      colour = colourOf(index++, entries.size() - (hasUnclassified ? 1 : 0));
    }
    layout.legend.push_back({colour, name, 0});
    longest = std::max(longest, countLetters(name));
  }
  const bool showsLegend = entries.size() > (hasUnclassified ? 1u : 0u);

  layout.left = kMargin;
  layout.top = kMargin + (data.title.empty() ? 0 : kLineHeight + 6);
  layout.titleY = kMargin + kLineHeight / 2;
  layout.bottom = data.height - kMargin;
  const double legendWidth =
      showsLegend ? std::min(24 + kLetterWidth * kTextSize *
                                      static_cast<double>(longest),
                             data.width / 3.0)
                  : 0;
  layout.right =
      data.width - kMargin - legendWidth - (showsLegend ? kMargin : 0);
  layout.legendX = layout.right + kMargin;
  const auto maxRows = static_cast<std::size_t>(
      std::max(1.0, (layout.bottom - layout.top) / kLineHeight));
  for (std::size_t i = 0; i < layout.legend.size(); ++i)
    layout.legend[i].y =
        layout.top + kLineHeight * (static_cast<double>(i) + 0.5);
  layout.legendRows = showsLegend ? std::min(maxRows, layout.legend.size()) : 0;
  layout.legendCut = showsLegend && layout.legend.size() > maxRows;
  if (layout.legendCut)
    layout.legend[maxRows - 1].name =
        "and " + std::to_string(layout.legend.size() - maxRows + 1) + " more";

  // Use the same scale for both axes and centre the points.
  double lowX = 0, highX = 0, lowY = 0, highY = 0;
  for (std::int64_t i = 0; i < data.count; ++i) {
    const double x = data.points[2 * i], y = data.points[2 * i + 1];
    lowX = i ? std::min(lowX, x) : x;
    highX = i ? std::max(highX, x) : x;
    lowY = i ? std::min(lowY, y) : y;
    highY = i ? std::max(highY, y) : y;
  }
  const double pointMargin = 12;
  const double scaleX =
      highX > lowX
          ? (layout.right - layout.left - 2 * pointMargin) / (highX - lowX)
          : HUGE_VAL;
  const double scaleY =
      highY > lowY
          ? (layout.bottom - layout.top - 2 * pointMargin) / (highY - lowY)
          : HUGE_VAL;
  double scale = std::min(scaleX, scaleY);
  if (!std::isfinite(scale))
    scale = 0;
  layout.radius = std::clamp(
      0.22 * std::sqrt(
                 (layout.right - layout.left) * (layout.bottom - layout.top) /
                 static_cast<double>(std::max<std::int64_t>(1, data.count))),
      1.1, 5.0);
  layout.dots.reserve(static_cast<std::size_t>(data.count));
  for (std::int64_t i = 0; i < data.count; ++i) {
    const double x = data.points[2 * i] - (lowX + highX) / 2;
    const double y = data.points[2 * i + 1] - (lowY + highY) / 2;
    layout.dots.push_back(
        {static_cast<float>((layout.left + layout.right) / 2 + scale * x),
         static_cast<float>((layout.top + layout.bottom) / 2 - scale * y),
         entries[data.classes ? std::max(data.classes[i], -1) : -1]});
  }
  return layout;
}

std::string scatterPng(const ScatterLayout &layout) {
  return runtime::openCvPlugin("draw a scatter plot as PNG").scatterPng(layout);
}

} // namespace brew::embedding
