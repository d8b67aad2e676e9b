//===- ScatterSvg.cpp - Scatter plots as SVG ------------------------------===//

#include "extras/embedding/Scatter.h"

#include "support/NumberText.h"
#include "support/Utf8.h"

namespace brew::embedding {
namespace {

std::string number(double value) { return fixedText(value, 1); }

std::string hex(const Colour &colour) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (std::uint8_t part : {colour.red, colour.green, colour.blue}) {
    text += kDigits[part >> 4];
    text += kDigits[part & 15];
  }
  return text;
}

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : replaceInvalidUtf8(text))
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\t')
      result += c; // XML allows no other control characters
  return result;
}

std::string words(double x, double y, const std::string &text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" dominant-baseline=\"central\">" + escaped(text) + "</text>\n";
}

} // namespace

std::string scatterSvg(const ScatterLayout &layout) {
  const std::string width = std::to_string(layout.width),
                    height = std::to_string(layout.height);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width +
      "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height +
      "\" font-family=\"sans-serif\" font-size=\"" + number(layout.textSize) +
      "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  if (!layout.title.empty())
    svg += words(layout.left, layout.titleY, layout.title);
  svg += "<rect x=\"" + number(layout.left) + "\" y=\"" + number(layout.top) +
         "\" width=\"" + number(layout.right - layout.left) + "\" height=\"" +
         number(layout.bottom - layout.top) +
         "\" fill=\"none\" stroke=\"#cccccc\"/>\n";
  // Dots are zero-length lines with round caps, one path per colour.
  std::vector<std::string> paths(layout.legend.size());
  for (const ScatterLayout::Dot &dot : layout.dots)
    paths[dot.entry] += "M" + number(dot.x) + " " + number(dot.y) + "h0";
  svg += "<g fill=\"none\" stroke-linecap=\"round\" stroke-opacity=\"0.8\" "
         "stroke-width=\"" +
         number(2 * layout.radius) + "\">\n";
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty())
      svg += "<path stroke=\"" + hex(layout.legend[i].colour) + "\" d=\"" +
             paths[i] + "\"/>\n";
  svg += "</g>\n";
  for (std::size_t i = 0; i < layout.legendRows; ++i) {
    const ScatterLayout::Entry &entry = layout.legend[i];
    if (!layout.legendCut || i + 1 < layout.legendRows)
      svg += "<circle cx=\"" + number(layout.legendX + 6) + "\" cy=\"" +
             number(entry.y) + "\" r=\"6\" fill=\"" + hex(entry.colour) +
             "\"/>\n";
    svg += words(layout.legendX + 20, entry.y, entry.name);
  }
  return svg + "</svg>\n";
}

} // namespace brew::embedding
