//===- ScatterSvg.cpp - Scatter plots as SVG ------------------------------===//

#include "extras/embedding/Scatter.h"

#include "support/NumberText.h"
#include "support/Utf8.h"

namespace brew::embedding {
namespace {

std::string numberText(double value) { return fixedText(value, 1); }

std::string hexColour(const Colour &colour) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (std::uint8_t channel : {colour.red, colour.green, colour.blue}) {
    text += kDigits[channel >> 4];
    text += kDigits[channel & 15];
  }
  return text;
}

std::string escapeXml(const std::string &text) {
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

std::string textElement(double x, double y, const std::string &text) {
  return "<text x=\"" + numberText(x) + "\" y=\"" + numberText(y) +
         "\" dominant-baseline=\"central\">" + escapeXml(text) + "</text>\n";
}

} // namespace

std::string scatterSvg(const ScatterLayout &layout) {
  const std::string width = std::to_string(layout.width),
                    height = std::to_string(layout.height);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width +
      "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height +
      "\" font-family=\"sans-serif\" font-size=\"" +
      numberText(layout.textSize) +
      "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  if (!layout.title.empty())
    svg += textElement(layout.left, layout.titleY, layout.title);
  svg += "<rect x=\"" + numberText(layout.left) + "\" y=\"" +
         numberText(layout.top) + "\" width=\"" +
         numberText(layout.right - layout.left) + "\" height=\"" +
         numberText(layout.bottom - layout.top) +
         "\" fill=\"none\" stroke=\"#cccccc\"/>\n";
  // Dots are zero-length lines with round caps, one path per colour.
  std::vector<std::string> paths(layout.legend.size());
  for (const ScatterLayout::Dot &dot : layout.dots)
    paths[dot.entry] +=
        "M" + numberText(dot.x) + " " + numberText(dot.y) + "h0";
  svg += "<g fill=\"none\" stroke-linecap=\"round\" stroke-opacity=\"0.8\" "
         "stroke-width=\"" +
         numberText(2 * layout.radius) + "\">\n";
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty())
      svg += "<path stroke=\"" + hexColour(layout.legend[i].colour) +
             "\" d=\"" + paths[i] + "\"/>\n";
  svg += "</g>\n";
  for (std::size_t i = 0; i < layout.legendRows; ++i) {
    const ScatterLayout::Entry &entry = layout.legend[i];
    if (!layout.legendCut || i + 1 < layout.legendRows)
      svg += "<circle cx=\"" + numberText(layout.legendX + 6) + "\" cy=\"" +
             numberText(entry.y) + "\" r=\"6\" fill=\"" +
             hexColour(entry.colour) + "\"/>\n";
    svg += textElement(layout.legendX + 20, entry.y, entry.name);
  }
  return svg + "</svg>\n";
}

} // namespace brew::embedding
