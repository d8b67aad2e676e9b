//===- SourceMapTest.cpp - Locations of names, values and blocks ----------===//
#include "Parse.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

TEST(SourceMap, LocatesNamesValuesAndBlocks) {
  Parsed parsed = parseText("name: \"n\"\n"
                            "layer {\n"
                            "  name: \"c\"  top: \"x\"\n"
                            "  top:\n    \"y\"\n"
                            "  convolution_param { kernel_size: [3, 5] }\n"
                            "}\n"
                            "\tlayer { }\n");
  ASSERT_TRUE(parsed.file.complete) << parsed.diagnostics.str();
  const SourceMap &locations = *parsed.file.locations;
  const caffe::NetParameter &net = *parsed.file.net;
  const caffe::LayerParameter &layer = net.layer(0);
  EXPECT_EQ(locations.where(net, "name").str(), "f.prototxt:1:1");
  EXPECT_EQ(locations.whereValue(net, "name").str(), "f.prototxt:1:7");
  EXPECT_EQ(locations.where(layer).str(), "f.prototxt:2:1");
  EXPECT_EQ(locations.where(net, "layer", 1).str(), "f.prototxt:8:2");
  EXPECT_EQ(locations.where(layer, "top", 1).str(), "f.prototxt:4:3");
  EXPECT_EQ(locations.whereValue(layer, "top", 1).str(), "f.prototxt:5:5");
  EXPECT_EQ(locations.where(layer.convolution_param()).str(), "f.prototxt:6:3");
  EXPECT_EQ(
      locations.whereValue(layer.convolution_param(), "kernel_size", 1).str(),
      "f.prototxt:6:40");
  EXPECT_EQ(locations.where(layer.convolution_param(), "kernel_size", 1).str(),
            "f.prototxt:6:23");
}

TEST(SourceMap, MissingFieldsHaveTheMessagesLocation) {
  Parsed parsed = parseText("layer {\n  name: \"c\"\n}\n");
  const SourceMap &locations = *parsed.file.locations;
  const caffe::LayerParameter &layer = parsed.file.net->layer(0);
  EXPECT_EQ(locations.where(layer, "type").str(), "f.prototxt:1:1");
  EXPECT_EQ(locations.where(layer, "name", 5).str(), "f.prototxt:1:1");
  EXPECT_EQ(locations.find(layer, "type"), nullptr);
  EXPECT_EQ(locations.find(layer, "no_such_field"), nullptr);
  EXPECT_EQ(locations.where(caffe::LayerParameter()).str(), "f.prototxt:1:1");
}

TEST(SourceMap, CopiesKeepTheirLocations) {
  Parsed parsed = parseText("layer { name: \"c\"\n include { phase: TEST } }");
  caffe::LayerParameter copy = parsed.file.net->layer(0);
  parsed.file.locations->copy(parsed.file.net->layer(0), copy);
  EXPECT_EQ(parsed.file.locations->where(copy, "name").str(), "f.prototxt:1:9");
  EXPECT_EQ(parsed.file.locations->where(copy.include(0), "phase").str(),
            "f.prototxt:2:12");
}

/// Returns LINE:COLUMN of each byte of the net's name, then of the closing
/// quote.
std::string stringLocations(const std::string &text) {
  Parsed parsed = parseText(text);
  EXPECT_TRUE(parsed.file.complete) << parsed.diagnostics.str();
  std::string result;
  for (size_t i = 0; i <= parsed.file.net->name().size(); ++i) {
    SourceLocation at =
        parsed.file.locations->whereInString(*parsed.file.net, "name", i);
    result += (i ? " " : "") + std::to_string(at.line) + ":" +
              std::to_string(at.column);
  }
  return result;
}

TEST(SourceMap, LocatesBytesOfStrings) {
  EXPECT_EQ(stringLocations("name: 'abc'"), "1:8 1:9 1:10 1:11");
  EXPECT_EQ(stringLocations("\n\tname:\t'ab'"), "2:9 2:10 2:11");
  // Adjacent string literals are joined; a comment separates the first two.
  EXPECT_EQ(stringLocations("name: 'a' # '\n  \"b\"'' 'c'"),
            "1:8 2:4 2:10 2:11");
  // Escapes count as the bytes that they encode.
  EXPECT_EQ(stringLocations("name: '\\t\\'\\x41b\\101c\\u00e9d'"),
            "1:8 1:10 1:12 1:16 1:17 1:21 1:22 1:22 1:28 1:29");
  // A byte order mark has no column.
  EXPECT_EQ(stringLocations("\xef\xbb\xbfname: 'a'"), "1:8 1:9");
  EXPECT_EQ(stringLocations("name: ''"), "1:8");
}

TEST(SourceMap, LocatesBytesOfAMissingStringAtTheMessage) {
  Parsed parsed = parseText("\n\nlayer { }");
  EXPECT_EQ(
      parsed.file.locations->whereInString(parsed.file.net->layer(0), "name", 3)
          .str(),
      "f.prototxt:3:1");
}

} // namespace
