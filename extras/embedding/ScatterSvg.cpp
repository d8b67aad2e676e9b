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
  for (char c : validUtf8(text))
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\t')
      result += c; // XML knows no other control characters
  return result;
}

std::string words(double x, double y, const std::string &text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" dominant-baseline=\"central\">" + escaped(text) + "</text>\n";
}

} // namespace

std::string scatterSvg(const ScatterLayout &plan) {
  const std::string width = std::to_string(plan.width),
                    height = std::to_string(plan.height);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width +
      "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height +
      "\" font-family=\"sans-serif\" font-size=\"" + number(plan.textSize) +
      "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  if (!plan.title.empty())
    svg += words(plan.left, plan.titleY, plan.title);
  svg += "<rect x=\"" + number(plan.left) + "\" y=\"" + number(plan.top) +
         "\" width=\"" + number(plan.right - plan.left) + "\" height=\"" +
         number(plan.bottom - plan.top) +
         "\" fill=\"none\" stroke=\"#cccccc\"/>\n";
  // Dots are lines of no length with round ends, a path for each colour.
  std::vector<std::string> paths(plan.legend.size());
  for (const ScatterLayout::Dot &dot : plan.dots)
    paths[dot.entry] += "M" + number(dot.x) + " " + number(dot.y) + "h0";
  svg += "<g fill=\"none\" stroke-linecap=\"round\" stroke-opacity=\"0.8\" "
         "stroke-width=\"" +
         number(2 * plan.radius) + "\">\n";
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty())
      svg += "<path stroke=\"" + hex(plan.legend[i].colour) + "\" d=\"" +
             paths[i] + "\"/>\n";
  svg += "</g>\n";
  for (std::size_t i = 0; i < plan.legendRows; ++i) {
    const ScatterLayout::Entry &entry = plan.legend[i];
    if (!plan.legendCut || i + 1 < plan.legendRows)
      svg += "<circle cx=\"" + number(plan.legendX + 6) + "\" cy=\"" +
             number(entry.y) + "\" r=\"6\" fill=\"" + hex(entry.colour) +
             "\"/>\n";
    svg += words(plan.legendX + 20, entry.y, entry.name);
  }
  return svg + "</svg>\n";
}

} // namespace brew::embedding
