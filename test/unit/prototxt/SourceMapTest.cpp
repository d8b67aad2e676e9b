//===- SourceMapTest.cpp - Places of names, values and blocks -------------===//
#include "Parse.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;

namespace {

TEST(SourceMap, NamesValuesAndBlocks) {
  Parsed parsed = parseText("name: \"n\"\n"
                            "layer {\n"
                            "  name: \"c\"  top: \"x\"\n"
                            "  top:\n    \"y\"\n"
                            "  convolution_param { kernel_size: [3, 5] }\n"
                            "}\n"
                            "\tlayer { }\n");
  ASSERT_TRUE(parsed.file.complete) << parsed.diagnostics.str();
  const SourceMap &places = *parsed.file.places;
  const caffe::NetParameter &net = *parsed.file.net;
  const caffe::LayerParameter &layer = net.layer(0);
  EXPECT_EQ(places.where(net, "name").str(), "f.prototxt:1:1");
  EXPECT_EQ(places.whereValue(net, "name").str(), "f.prototxt:1:7");
  EXPECT_EQ(places.where(layer).str(), "f.prototxt:2:1");
  EXPECT_EQ(places.where(net, "layer", 1).str(), "f.prototxt:8:2");
  EXPECT_EQ(places.where(layer, "top", 1).str(), "f.prototxt:4:3");
  EXPECT_EQ(places.whereValue(layer, "top", 1).str(), "f.prototxt:5:5");
  EXPECT_EQ(places.where(layer.convolution_param()).str(), "f.prototxt:6:3");
  EXPECT_EQ(
      places.whereValue(layer.convolution_param(), "kernel_size", 1).str(),
      "f.prototxt:6:40");
  EXPECT_EQ(places.where(layer.convolution_param(), "kernel_size", 1).str(),
            "f.prototxt:6:23");
}

TEST(SourceMap, WhatTheTextLacksAnswersWithTheMessage) {
  Parsed parsed = parseText("layer {\n  name: \"c\"\n}\n");
  const SourceMap &places = *parsed.file.places;
  const caffe::LayerParameter &layer = parsed.file.net->layer(0);
  EXPECT_EQ(places.where(layer, "type").str(), "f.prototxt:1:1");
  EXPECT_EQ(places.where(layer, "name", 5).str(), "f.prototxt:1:1");
  EXPECT_EQ(places.find(layer, "type"), nullptr);
  EXPECT_EQ(places.find(layer, "no_such_field"), nullptr);
  EXPECT_EQ(places.where(caffe::LayerParameter()).str(), "f.prototxt:1:1");
}

TEST(SourceMap, CopiesKeepTheirPlaces) {
  Parsed parsed = parseText("layer { name: \"c\"\n include { phase: TEST } }");
  caffe::LayerParameter copy = parsed.file.net->layer(0);
  parsed.file.places->copy(parsed.file.net->layer(0), copy);
  EXPECT_EQ(parsed.file.places->where(copy, "name").str(), "f.prototxt:1:9");
  EXPECT_EQ(parsed.file.places->where(copy.include(0), "phase").str(),
            "f.prototxt:2:12");
}

} // namespace
