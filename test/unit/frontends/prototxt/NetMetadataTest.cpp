//===- NetMetadataTest.cpp - Layers as Caffe lists them -------------------===//

#include "frontends/prototxt/check/NetMetadata.h"
#include "Parse.h"

#include <gtest/gtest.h>

namespace brew::prototxt {
namespace {

/// Returns a line for each layer: NAME: bottoms -> tops, with loss weights
/// other than 0, and a '*' if it needs the backward pass.
std::string layerListing(const std::string &text,
                         caffe::Phase phase = caffe::TRAIN) {
  Diagnostics diagnostics;
  auto net = netOf(text, diagnostics);
  const FilteredNet filtered =
      filterNet(net, standaloneState(net->net(), phase));
  const NetGraph graph = NetGraph::build(filtered, diagnostics, true);
  EXPECT_EQ(diagnostics.str(), "");
  std::string lines;
  for (const LayerMetadata &layer : listLayers(graph)) {
    lines += layer.name + (layer.needsBackward ? "*:" : ":");
    for (const std::string &bottom : layer.bottoms)
      lines += " " + bottom;
    lines += " ->";
    for (size_t i = 0; i < layer.tops.size(); ++i) {
      lines += " " + (layer.tops[i].empty() ? "(auto)" : layer.tops[i]);
      if (layer.lossWeights[i] != 0)
        lines +=
            "(" + std::to_string(static_cast<int>(layer.lossWeights[i])) + ")";
    }
    lines += "\n";
  }
  return lines;
}

const char *const dataLayer = R"(
layer { name: "d" type: "Input" top: "x" top: "t"
        input_param { shape { dim: 2 dim: 3 } } }
)";
const char *const ipLayer = R"(
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y"
        inner_product_param { num_output: 3 } }
)";

TEST(NetMetadata, listsLenetAsCaffeLogsIt) {
  const std::string net = R"(
layer { name: "mnist" type: "Input" top: "data" top: "label"
        input_param { shape { dim: 2 dim: 8 } shape { dim: 2 } } }
layer { name: "ip2" type: "InnerProduct" bottom: "data" top: "ip2"
        inner_product_param { num_output: 3 } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label"
        top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label"
        top: "loss" }
)";
  EXPECT_EQ(layerListing(net), "mnist: -> data label\n"
                               "ip2*: data -> ip2\n"
                               "loss*: ip2 label -> loss(1)\n");
  EXPECT_EQ(layerListing(net, caffe::TEST),
            "mnist: -> data label\n"
            "label_mnist_1_split: label -> label_mnist_1_split_0 "
            "label_mnist_1_split_1\n"
            "ip2*: data -> ip2\n"
            "ip2_ip2_0_split*: ip2 -> ip2_ip2_0_split_0 ip2_ip2_0_split_1\n"
            "accuracy: ip2_ip2_0_split_0 label_mnist_1_split_0 -> accuracy\n"
            "loss*: ip2_ip2_0_split_1 label_mnist_1_split_1 -> loss(1)\n");
}

// A loss weight in the prototxt is assigned to the first top of the split.
TEST(NetMetadata, countsLossWeightAsReader) {
  EXPECT_EQ(layerListing(std::string(dataLayer) + R"(
layer { name: "r" type: "Reduction" bottom: "x" top: "s" loss_weight: 2 }
layer { name: "q" type: "Silence" bottom: "s" bottom: "t" }
)"),
            "d: -> x t\n"
            "r: x -> s\n"
            "s_r_0_split: s -> s_r_0_split_0(2) s_r_0_split_1\n"
            "q: s_r_0_split_1 t ->\n");
}

TEST(NetMetadata, splitsFollowTheVersionTheyBelongTo) {
  EXPECT_EQ(layerListing(std::string(dataLayer) + ipLayer + R"(
layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }
layer { name: "a" type: "EuclideanLoss" bottom: "y" bottom: "t" }
layer { name: "b" type: "EuclideanLoss" bottom: "y" bottom: "x" }
)"),
            "d: -> x t\n"
            "x_d_0_split: x -> x_d_0_split_0 x_d_0_split_1\n"
            "ip*: x_d_0_split_0 -> y\n"
            "relu*: y -> y\n"
            "y_relu_0_split*: y -> y_relu_0_split_0 y_relu_0_split_1\n"
            "a*: y_relu_0_split_0 t -> (auto)(1)\n"
            "b*: y_relu_0_split_1 x_d_0_split_1 -> (auto)(1)\n");
}

TEST(NetMetadata, layersWithoutLearningNeedNoBackward) {
  // The first layer has lr_mult 0, and propagate_down cuts off a branch.
  EXPECT_EQ(layerListing(std::string(dataLayer) + R"(
layer { name: "fixed" type: "InnerProduct" bottom: "x" top: "f"
        param { lr_mult: 0 } param { lr_mult: 0 }
        inner_product_param { num_output: 3 } }
layer { name: "one" type: "InnerProduct" bottom: "f" top: "g"
        inner_product_param { num_output: 3 } }
layer { name: "two" type: "InnerProduct" bottom: "g" top: "h"
        inner_product_param { num_output: 3 } propagate_down: false }
layer { name: "l" type: "EuclideanLoss" bottom: "h" bottom: "t" top: "loss" }
)"),
            "d: -> x t\n"
            "fixed: x -> f\n"
            "one: f -> g\n"
            "two*: g -> h\n"
            "l*: h t -> loss(1)\n");
}

TEST(NetMetadata, outputGradientsCountAsLosses) {
  Diagnostics diagnostics;
  auto net = netOf(std::string(dataLayer) + R"(
layer { name: "one" type: "InnerProduct" bottom: "x" top: "a"
        inner_product_param { num_output: 3 } }
layer { name: "two" type: "InnerProduct" bottom: "a" top: "b"
        inner_product_param { num_output: 3 } }
)",
                   diagnostics);
  const NetGraph graph =
      NetGraph::build(filterNet(net, standaloneState(net->net(), caffe::TRAIN)),
                      diagnostics, true);
  auto layersWithBackward =
      [&](const std::vector<std::string> &outputGradients) {
        std::string names;
        for (const LayerMetadata &layer : listLayers(graph, outputGradients))
          if (layer.needsBackward)
            names += layer.name + " ";
        return names;
      };
  EXPECT_EQ(layersWithBackward({}), "");
  EXPECT_EQ(layersWithBackward({"a"}), "one ");
  EXPECT_EQ(layersWithBackward({"b"}), "one two ");
}

TEST(NetMetadata, sharedParametersAreListed) {
  Diagnostics diagnostics;
  auto net = netOf(std::string(dataLayer) + R"(
layer { name: "one" type: "InnerProduct" bottom: "x" top: "a"
        param { name: "w" } inner_product_param { num_output: 3 } }
layer { name: "two" type: "InnerProduct" bottom: "x" top: "b"
        param { name: "w" } inner_product_param { num_output: 3 } }
)",
                   diagnostics);
  const NetGraph graph =
      NetGraph::build(filterNet(net, standaloneState(net->net(), caffe::TEST)),
                      diagnostics, true);
  for (const LayerMetadata &layer : listLayers(graph))
    EXPECT_EQ(layer.sharingLines.size(), layer.name == "two" ? 1u : 0u);
  EXPECT_EQ(listLayers(graph).back().sharingLines.at(0),
            "Sharing parameters 'w' owned by layer 'one', param index 0");
}

TEST(NetMetadata, rulesNotMetAreListed) {
  Diagnostics diagnostics;
  auto net = netOf(R"(
layer { name: "a" type: "Silence" include { phase: TRAIN } }
layer { name: "b" type: "Silence" exclude { stage: "s" } exclude { phase: TEST }
        exclude { stage: "never asked" } }
layer { name: "c" type: "Silence" include { min_level: 2 }
        include { max_level: -1 } include { not_stage: "t" } }
layer { name: "d" type: "Silence" include { stage: "t" } include { stage: "u" } }
)",
                   diagnostics);
  caffe::NetState state;
  state.set_phase(caffe::TEST);
  state.add_stage("t");
  const std::string end = " specified by a rule in layer ";
  EXPECT_EQ(
      listUnmetRules(filterNet(net, state)),
      (std::vector<std::string>{
          "The NetState phase (1) differed from the phase (0)" + end + "a",
          "The NetState did not contain stage 's'" + end + "b",
          "The NetState level (0) is above the min_level (2)" + end + "c",
          "The NetState level (0) is above the max_level (-1)" + end + "c",
          "The NetState contained a not_stage 't'" + end + "c"}));
}

} // namespace
} // namespace brew::prototxt
