//===- ScatterTest.cpp - Scatter plots ------------------------------------===//

#include "extras/embedding/Scatter.h"
#include "formats/image/ImageDecode.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;
using namespace brew::embedding;

namespace {

/// A wide and flat layout with three classes and a point without a class.
const std::vector<float> kPoints = {0, 0, 10, 0, 10, 5, 0, 5, 5, 2.5f};
const std::vector<std::int32_t> kClasses = {0, 2, 7, 2, -1};

ScatterData data() {
  return {kPoints.data(),
          5,
          kClasses.data(),
          {"zero", "one", "<two> & co"},
          "A title",
          640,
          480};
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(Scatter, LaysOutDotsAndLegend) {
  const ScatterLayout layout = layoutScatter(data());
  ASSERT_EQ(layout.dots.size(), 5u);
  for (const ScatterLayout::Dot &dot : layout.dots) {
    EXPECT_GT(dot.x - layout.radius, layout.left);
    EXPECT_LT(dot.x + layout.radius, layout.right);
    EXPECT_GT(dot.y - layout.radius, layout.top);
    EXPECT_LT(dot.y + layout.radius, layout.bottom);
  }
  // Both axes have the same scale; y points down in a picture.
  EXPECT_NEAR((layout.dots[1].x - layout.dots[0].x) /
                  (layout.dots[0].y - layout.dots[3].y),
              2, 1e-3);
  // The legend has "no class" and then the occurring classes in ascending
  // order.
  ASSERT_EQ(layout.legendRows, 4u);
  EXPECT_EQ(layout.legend[0].name, "no class");
  EXPECT_EQ(layout.legend[1].name, "zero");
  EXPECT_EQ(layout.legend[2].name, "<two> & co");
  EXPECT_EQ(layout.legend[3].name, "7");
  EXPECT_EQ(layout.dots[1].entry, 2);
  EXPECT_EQ(layout.dots[4].entry, 0);
}

TEST(Scatter, WithoutClassesThereIsNoLegend) {
  ScatterData unlabelled = data();
  unlabelled.classes = nullptr;
  const ScatterLayout layout = layoutScatter(unlabelled);
  EXPECT_EQ(layout.legendRows, 0u);
  EXPECT_GT(layout.right, layoutScatter(data()).right);
  unlabelled.count = 0;
  EXPECT_TRUE(layoutScatter(unlabelled).dots.empty());
  EXPECT_TRUE(contains(scatterSvg(layoutScatter(unlabelled)), "</svg>"));
}

TEST(Scatter, LegendOfManyClassesIsTruncated) {
  std::vector<float> points(400);
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 200; ++i)
    classes.push_back(i);
  const ScatterLayout layout =
      layoutScatter({points.data(), 200, classes.data(), {}, "", 400, 300});
  EXPECT_TRUE(layout.legendCut);
  EXPECT_EQ(layout.legend[layout.legendRows - 1].name,
            "and " + std::to_string(200 - layout.legendRows + 1) + " more");
  EXPECT_LE(layout.legend[layout.legendRows - 1].y, layout.bottom);
  // All points coincide, so they lie in the centre.
  EXPECT_NEAR(layout.dots[7].x, (layout.left + layout.right) / 2, 1e-3);
}

TEST(Scatter, SvgHasColoursAndEscapedNames) {
  const std::string svg = scatterSvg(layoutScatter(data()));
  EXPECT_TRUE(contains(svg, "width=\"640\" height=\"480\""));
  EXPECT_TRUE(contains(svg, ">A title<"));
  EXPECT_TRUE(contains(svg, "&lt;two&gt; &amp; co"));
  EXPECT_TRUE(contains(svg, "stroke=\"#1f77b4\""));
  EXPECT_TRUE(contains(svg, "stroke=\"#5a5a5a\"")); // no class
}

TEST(Scatter, SvgReplacesInvalidUtf8) {
  ScatterData invalid = data();
  invalid.title = "caf\xe9 \xc3\xa9";
  EXPECT_TRUE(contains(scatterSvg(layoutScatter(invalid)),
                       ">caf\xef\xbf\xbd \xc3\xa9<"));
}

TEST(Scatter, PngShowsThePointsInTheirColours) {
  const ScatterLayout layout = layoutScatter(data());
  const std::string bytes = scatterPng(layout);
  formats::Image image;
  formats::decodeImage(bytes.data(), bytes.size(), formats::ImageColor::Color,
                       "plot", image);
  ASSERT_EQ(image.width, 640);
  ASSERT_EQ(image.height, 480);
  for (const ScatterLayout::Dot &dot : layout.dots) {
    const auto offset = static_cast<std::size_t>(
        (std::lround(dot.y) * 640 + std::lround(dot.x)) * 3);
    const Colour &colour = layout.legend[dot.entry].colour;
    EXPECT_EQ(image.pixels[offset], colour.blue);
    EXPECT_EQ(image.pixels[offset + 1], colour.green);
    EXPECT_EQ(image.pixels[offset + 2], colour.red);
  }
  EXPECT_EQ(image.pixels[0], 255);
}
