//===- LegacyTest.cpp - Upgrades of old forms, with locations -------------===//
#include "Parse.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

/// Returns the upgraded net as one line of text.
std::string upgradedNet(const std::string &text) {
  Diagnostics diagnostics;
  auto document = netOf(text, diagnostics);
  EXPECT_EQ(diagnostics.str(), "");
  std::string line;
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(document->net(), &line);
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line;
}

TEST(LegacyInput, DimensionsBecomeAnInputLayer) {
  EXPECT_EQ(upgradedNet("input: 'a' input: 'b' input_dim: [1,2,3,4,5,6,7,8]\n"
                        "layer { name: 'r' }"),
            "layer { name: \"input\" type: \"Input\" top: \"a\" top: \"b\" "
            "input_param { shape { dim: 1 dim: 2 dim: 3 dim: 4 } shape { dim: "
            "5 dim: 6 dim: 7 dim: 8 } } } layer { name: \"r\" }");
}

TEST(LegacyInput, ShapesBecomeAnInputLayer) {
  EXPECT_EQ(upgradedNet("layer { name: 'r' } input: 'a'\n"
                        "input_shape { dim: 7 dim: 9 }"),
            "layer { name: \"input\" type: \"Input\" top: \"a\" input_param { "
            "shape { dim: 7 dim: 9 } } } layer { name: \"r\" }");
}

TEST(LegacyInput, NamesAloneAreDropped) {
  EXPECT_EQ(upgradedNet("input: 'a' layer { name: 'r' }"),
            "layer { name: \"r\" }");
}

TEST(LegacyInput, KeepsLocations) {
  Diagnostics diagnostics;
  auto document = netOf("input: 'a'\ninput: 'b'\ninput_dim: 1\ninput_dim: 2\n"
                        "input_dim: 3\ninput_dim: 4\ninput_dim: 5\n"
                        "input_dim: 6\ninput_dim: 7\ninput_dim: 8\n"
                        "layer { name: 'r' }",
                        diagnostics);
  const SourceMap &locations = document->locations();
  const auto &layer = document->net().layer(0);
  EXPECT_EQ(locations.where(layer).str(), "f.prototxt:1:1");
  EXPECT_EQ(locations.where(layer, "top", 1).str(), "f.prototxt:2:1");
  EXPECT_EQ(locations.where(layer.input_param().shape(1)).str(),
            "f.prototxt:7:1");
  EXPECT_EQ(locations.whereValue(layer.input_param().shape(1), "dim", 3).str(),
            "f.prototxt:10:12");
  EXPECT_EQ(locations.where(document->net().layer(1)).str(), "f.prototxt:11:1");
}

TEST(LegacyInput, ReportsTooFewDimensions) {
  EXPECT_EQ(diagnosticsOf("input: 'a' input: 'b'\ninput_dim: [1,2,3,4,5]"),
            "f.prototxt:1:12: error: input 'b' lacks dimensions: input_dim "
            "takes 4 numbers for each input, found 5 for 2 inputs\n"
            "f.prototxt:2:1: note: the last input_dim is here\n");
  EXPECT_EQ(diagnosticsOf("input: 'a' input: 'b'\ninput_shape { dim: 1 }"),
            "f.prototxt:1:12: error: input 'b' has no input_shape: 2 inputs, "
            "1 input_shape\n"
            "f.prototxt:2:1: note: the last input_shape is here\n");
}

const char *const v1Layer =
    "layers {\n"
    "  name: 'c' type: CONVOLUTION bottom: 'x' top: 'y'\n"
    "  param: 'w' blobs_lr: 1 blobs_lr: 2\n"
    "  weight_decay: 3 weight_decay: 0 blob_share_mode: PERMISSIVE\n"
    "  loss_weight: 0.5 include { phase: TEST }\n"
    "  convolution_param { num_output: 4 weight_filler { std: 1 } }\n"
    "}\n";

TEST(LegacyV1, BecomesACurrentLayer) {
  EXPECT_EQ(upgradedNet(v1Layer),
            "layer { name: \"c\" type: \"Convolution\" bottom: \"x\" top: "
            "\"y\" loss_weight: 0.5 param { name: \"w\" share_mode: PERMISSIVE "
            "lr_mult: 1 decay_mult: 3 } param { lr_mult: 2 decay_mult: 0 } "
            "include { phase: TEST } convolution_param { num_output: 4 "
            "weight_filler { std: 1 } } }");
}

TEST(LegacyV1, KeepsLocations) {
  Diagnostics diagnostics;
  auto document = netOf("name: 'n'\n" + std::string(v1Layer), diagnostics);
  const SourceMap &locations = document->locations();
  const auto &layer = document->net().layer(0);
  EXPECT_EQ(locations.where(layer).str(), "f.prototxt:2:1");
  EXPECT_EQ(locations.whereValue(layer, "type").str(), "f.prototxt:3:19");
  EXPECT_EQ(locations.where(layer.param(1), "decay_mult").str(),
            "f.prototxt:5:19");
  EXPECT_EQ(locations.where(layer.param(1)).str(), "f.prototxt:4:26");
  EXPECT_EQ(
      locations.where(layer.convolution_param().weight_filler(), "std").str(),
      "f.prototxt:7:53");
  EXPECT_EQ(locations.where(layer.include(0), "phase").str(),
            "f.prototxt:6:30");
}

TEST(LegacyV1, EveryTypeHasAName) {
  const auto *types = caffe::V1LayerParameter::LayerType_descriptor();
  for (int i = 0; i < types->value_count(); ++i) {
    Diagnostics diagnostics;
    auto document =
        netOf("layers { name: 'x' type: " + types->value(i)->name() + " }",
              diagnostics);
    EXPECT_EQ(document->net().layer(0).type().empty(),
              types->value(i)->name() == "NONE")
        << types->value(i)->name();
  }
}

TEST(LegacyV1, MovesDataFieldsToTransformParam) {
  EXPECT_EQ(
      upgradedNet("layers { type: DATA data_param { source: 's' scale: 2\n"
                  "mean_file: 'm' crop_size: 3 mirror: true } }"),
      "layer { type: \"Data\" transform_param { scale: 2 mirror: true "
      "crop_size: 3 mean_file: \"m\" } data_param { source: \"s\" } }");
  EXPECT_EQ(
      upgradedNet("layers { type: VIDEO_DATA image_data_param { source: 's'\n"
                  "scale: 2 mean_value: 3 new_length: 4 sampling_rate: 5\n"
                  "show_data: 0 use_image: true ignore_label: 6 } }"),
      "layer { type: \"VideoData\" transform_param { scale: 2 mean_value: 3 } "
      "image_data_param { ignore_label: 6 } video_data_param { source: \"s\" "
      "new_length: 4 show_data: false use_image: true sampling_rate: 5 } }");
  // Only data layers are changed.
  EXPECT_EQ(upgradedNet("layers { type: RELU data_param { scale: 2 } }"),
            "layer { type: \"ReLU\" data_param { scale: 2 } }");
}

TEST(LegacyV1, WarnsOfCurrentLayersInTheSameNet) {
  const std::string text =
      "layers { name: 'a' type: RELU }\nlayer { name: 'b' }";
  EXPECT_EQ(diagnosticsOf(text),
            "f.prototxt:2:1: warning: the net mixes 'layer' with the old form "
            "'layers'; every 'layer' is ignored, as Caffe does\n"
            "f.prototxt:1:1: note: the first 'layers' is here\n");
  Diagnostics diagnostics;
  auto document = netOf(text, diagnostics);
  ASSERT_EQ(document->net().layer_size(), 1);
  EXPECT_EQ(document->net().layer(0).name(), "a");
}

TEST(LegacyV0, BecomeCurrentLayers) {
  EXPECT_EQ(
      upgradedNet("input: 'd' input_dim: [1,2,3,4]\n"
                  "layers { layer { name: 'c' type: 'conv' num_output: 5\n"
                  "kernelsize: 3 pad: 1 stride: 2 group: 1 biasterm: false\n"
                  "blobs_lr: 1 weight_decay: 2 weight_filler { std: 3 } }\n"
                  "bottom: 'd' top: 'c' }\n"
                  "layers { layer { name: 'p' type: 'pool' pool: AVE\n"
                  "kernelsize: 2 } bottom: 'c' top: 'p' }\n"
                  "layers { layer { name: 'i' type: 'images' source: 's'\n"
                  "new_height: 8 scale: 0.5 batchsize: 4 } top: 'i' }"),
      "layer { name: \"input\" type: \"Input\" top: \"d\" input_param { shape "
      "{ dim: 1 dim: 2 dim: 3 dim: 4 } } } layer { name: \"c\" type: "
      "\"Convolution\" bottom: \"d\" top: \"c\" param { lr_mult: 1 decay_mult: "
      "2 } convolution_param { num_output: 5 bias_term: false pad: 1 "
      "kernel_size: 3 group: 1 stride: 2 weight_filler { std: 3 } } } layer { "
      "name: \"p\" type: \"Pooling\" bottom: \"c\" top: \"p\" pooling_param { "
      "pool: AVE kernel_size: 2 } } layer { name: \"i\" type: \"ImageData\" "
      "top: \"i\" transform_param { scale: 0.5 } image_data_param { source: "
      "\"s\" batch_size: 4 new_height: 8 } }");
}

TEST(LegacyV0, MergesPaddingIntoItsReader) {
  EXPECT_EQ(
      upgradedNet("layers { layer { name: 'p' type: 'padding' pad: 2 }\n"
                  "bottom: 'd' top: 'q' }\n"
                  "layers { layer { name: 'c' type: 'conv' } bottom: 'q'\n"
                  "top: 'c' }"),
      "layer { name: \"c\" type: \"Convolution\" bottom: \"d\" top: "
      "\"c\" convolution_param { pad: 2 } }");
  EXPECT_EQ(
      diagnosticsOf("layers { layer { name: 'p' type: 'padding' pad: 2 }\n"
                    "bottom: 'd' top: 'q' }\n"
                    "layers { layer { name: 'r' type: 'relu' } bottom: 'q' "
                    "}"),
      "f.prototxt:3:51: error: layer 'r' (relu): only a conv or pool "
      "layer with one bottom can read a padding layer\n"
      "f.prototxt:1:1: note: the padding layer is here\n");
}

TEST(LegacyV0, KeepsLocations) {
  Diagnostics diagnostics;
  auto document = netOf("layers {\n  layer { name: 'c' type: 'conv'\n"
                        "    kernelsize: 3 }\n  bottom: 'd' top: 'c'\n}",
                        diagnostics);
  const SourceMap &locations = document->locations();
  const auto &layer = document->net().layer(0);
  EXPECT_EQ(locations.where(layer).str(), "f.prototxt:1:1");
  EXPECT_EQ(locations.where(layer.convolution_param(), "kernel_size").str(),
            "f.prototxt:3:5");
  EXPECT_EQ(locations.whereValue(layer, "type").str(), "f.prototxt:2:27");
  EXPECT_EQ(locations.where(layer, "bottom").str(), "f.prototxt:4:3");
}

TEST(LegacyV0, ReportsProblems) {
  EXPECT_EQ(diagnosticsOf("layers { layer { name: 'r' type: 'rleu' } }"),
            "f.prototxt:1:34: error: layer 'r' (rleu): unknown layer type "
            "'rleu' of the oldest prototxt form; did you mean 'relu'?\n");
  EXPECT_EQ(diagnosticsOf("layers { layer { name: 'r' type: 'relu' pad: 1 } }"),
            "f.prototxt:1:41: warning: layer 'r' (relu): 'pad' is not a field "
            "of this layer type and is ignored, as Caffe does\n");
  EXPECT_EQ(diagnosticsOf("layers { layer { name: 'r' type: 'relu' } }\n"
                          "layers { name: 'x' type: RELU }"),
            "f.prototxt:2:1: error: the net mixes two old forms: this 'layers' "
            "has no inner 'layer' block, others have one\n");
}

TEST(LegacyBatchNorm, ThreeParamsNeverLearn) {
  EXPECT_EQ(
      upgradedNet("layer { type: 'BatchNorm' param { lr_mult: 1 } param { } "
                  "param { } }"),
      "layer { type: \"BatchNorm\" param { lr_mult: 0 decay_mult: 0 } "
      "param { lr_mult: 0 decay_mult: 0 } param { lr_mult: 0 decay_mult: "
      "0 } }");
  EXPECT_EQ(upgradedNet("layer { type: 'BatchNorm' param { lr_mult: 1 } }"),
            "layer { type: \"BatchNorm\" param { lr_mult: 1 } }");
}

} // namespace
