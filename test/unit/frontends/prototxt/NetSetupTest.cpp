//===- NetSetupTest.cpp - Nets as Caffe sets them up ----------------------===//

#include "frontends/prototxt/check/NetSetup.h"
#include "Parse.h"

#include <gtest/gtest.h>

namespace brew::prototxt {
namespace {

/// A net that is set up; keeps what the setup points to.
struct PreparedNet {
  explicit PreparedNet(const std::string &text,
                       const std::map<std::string, int> &paramCounts = {}) {
    document = netOf(text, diagnostics);
    filtered =
        filterNet(document, standaloneState(document->net(), caffe::TRAIN));
    const NetGraph graph =
        NetGraph::build(filtered, diagnostics, false, {}, paramCounts);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.str();
    net = setUpNet(filtered, graph);
  }

  /// Returns a layer and its setup by name.
  std::pair<const caffe::LayerParameter *, const LayerSetup *>
  find(const std::string &name) const {
    for (int i = 0; i < net.net.layer_size(); ++i)
      if (net.net.layer(i).name() == name)
        return {&net.net.layer(i), &net.layers[i]};
    ADD_FAILURE() << "no layer " << name;
    return {};
  }
  /// Returns the needs of a layer: '*' for its backward pass, then a digit for
  /// each bottom and, after a slash, for each parameter.
  std::string gradients(const std::string &name) const {
    const LayerSetup *setup = find(name).second;
    std::string text = setup->needsBackward ? "*" : "";
    for (bool hasGradient : setup->bottomGradients)
      text += hasGradient ? "1" : "0";
    text += "/";
    for (const LayerParam &param : setup->params)
      text += param.hasGradient ? "1" : "0";
    return text;
  }

  Diagnostics diagnostics;
  std::shared_ptr<const NetDocument> document;
  FilteredNet filtered;
  NetSetup net;
};

std::vector<std::string>
texts(const google::protobuf::RepeatedPtrField<std::string> &list) {
  return {list.begin(), list.end()};
}
using Texts = std::vector<std::string>;

const std::string kData = R"(
layer { name: "d" type: "Input" top: "x" top: "t"
        input_param { shape { dim: 2 dim: 3 } } }
)";

TEST(NetSetup, splitsBlobsWithSeveralReaders) {
  const PreparedNet net(kData + R"(
layer { name: "test" type: "Silence" bottom: "x" include { phase: TEST } }
layer { name: "r" type: "Reduction" bottom: "x" top: "s" loss_weight: 2 }
layer { name: "q" type: "Silence" bottom: "s" bottom: "t" bottom: "x" }
)");
  Texts names;
  for (const caffe::LayerParameter &layer : net.net.net.layer())
    names.push_back(layer.name());
  EXPECT_EQ(names, (Texts{"d", "x_d_0_split", "r", "s_r_0_split", "q"}));
  auto [split, splitSetup] = net.find("s_r_0_split");
  EXPECT_EQ(split->type(), "Split");
  EXPECT_EQ(texts(split->bottom()), Texts{"s"});
  EXPECT_EQ(texts(split->top()), (Texts{"s_r_0_split_0", "s_r_0_split_1"}));
  // The split has the loss weight.
  EXPECT_EQ(splitSetup->lossWeights, (std::vector<float>{2, 0}));
  ASSERT_EQ(split->loss_weight_size(), 2);
  EXPECT_EQ(split->loss_weight(0), 2);
  auto [reduction, setup] = net.find("r");
  EXPECT_EQ(setup->lossWeights, std::vector<float>{0});
  EXPECT_EQ(reduction->loss_weight_size(), 0);
  EXPECT_EQ(texts(reduction->bottom()), Texts{"x_d_0_split_0"});
  EXPECT_EQ(texts(net.find("q").first->bottom()),
            (Texts{"s_r_0_split_1", "t", "x_d_0_split_1"}));
}

TEST(NetSetup, splitLossesAlsoHaveTheirDefaultWeight) {
  const PreparedNet net(kData + R"(
layer { name: "l" type: "EuclideanLoss" bottom: "x" bottom: "t" top: "l"
        loss_weight: 3 }
layer { name: "q" type: "Silence" bottom: "l" }
)");
  EXPECT_EQ(net.find("l").second->lossWeights, std::vector<float>{1});
  EXPECT_EQ(net.find("l_l_0_split").second->lossWeights,
            (std::vector<float>{3, 0}));
}

TEST(NetSetup, formulasReadBottomsByPosition) {
  const PreparedNet net(kData + R"P(
layer { name: "e" type: "Expression" bottom: "x" bottom: "t" top: "e"
        expression_param { expr: "abs(x) * 'x' + t - 1.5e2 * bottom(0)" } }
layer { name: "q" type: "Silence" bottom: "x" bottom: "e" }
)P");
  EXPECT_EQ(net.find("e").first->expression_param().expr(),
            "abs(bottom(0)) * bottom(0) + bottom(1) - 1.5e2 * bottom(0)");
}

const std::string kNet = R"(
layer { name: "frozen" type: "InnerProduct" bottom: "x" top: "f"
        param { lr_mult: 0 } param { lr_mult: 0 }
        inner_product_param { num_output: 3 } }
layer { name: "bn" type: "BatchNorm" bottom: "f" top: "n"
        param { lr_mult: 0 } param { lr_mult: 0 } param { lr_mult: 0 } }
layer { name: "ip" type: "InnerProduct" bottom: "n" top: "y"
        param { name: "w" lr_mult: 2 } param { lr_mult: 0 decay_mult: 3 }
        inner_product_param { num_output: 3 } }
layer { name: "ip2" type: "InnerProduct" bottom: "y" top: "z"
        param { name: "w" decay_mult: 4 }
        inner_product_param { num_output: 3 } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "z" bottom: "t" top: "l" }
layer { name: "a" type: "InnerProduct" bottom: "x" top: "unused"
        inner_product_param { num_output: 3 } }
)";

TEST(NetSetup, backwardPassReachesLearnableParameters) {
  const PreparedNet net(kData + kNet);
  EXPECT_EQ(net.gradients("frozen"), "0/00");
  EXPECT_EQ(net.gradients("bn"), "0/000");
  EXPECT_EQ(net.gradients("ip"), "*0/10");
  EXPECT_EQ(net.gradients("ip2"), "*1/11");
  EXPECT_EQ(net.gradients("l"), "*10/");
  EXPECT_EQ(net.gradients("a"), "0/00"); // not under a loss
}

TEST(NetSetup, layersMayReplaceMultipliers) {
  const PreparedNet net(kData + R"(
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "y"
        batch_norm_param { scale_bias: true }
        param { lr_mult: 0 } param { lr_mult: 0 } param { lr_mult: 0 }
        param { lr_mult: 0 } param { lr_mult: 0 } }
layer { name: "l" type: "EuclideanLoss" bottom: "y" bottom: "x" top: "l" }
)");
  EXPECT_EQ(net.gradients("bn"), "*0/00011");
}

TEST(NetSetup, forceBackwardReachesAllLayers) {
  const PreparedNet net("force_backward: true\n" + kData + kNet);
  EXPECT_EQ(net.gradients("frozen"), "*1/11");
  EXPECT_EQ(net.gradients("bn"), "*1/000"); // statistics have no gradient
  EXPECT_EQ(net.gradients("ip"), "*1/11");
  EXPECT_EQ(net.gradients("l"), "*10/"); // labels have no gradient
  EXPECT_EQ(net.gradients("a"), "*1/11");
}

TEST(NetSetup, numbersParameters) {
  const PreparedNet net(kData + kNet);
  std::vector<int> numbers;
  for (const LayerParam &param : net.find("ip2").second->params)
    numbers.push_back(param.number);
  EXPECT_EQ(numbers, (std::vector<int>{5, 7})); // 5 belongs to layer ip
  const NetParam &shared = net.net.params[5], &bias = net.net.params[6];
  EXPECT_EQ(shared.lrMult, 2);
  EXPECT_EQ(shared.decayMult, 4);
  EXPECT_EQ(bias.lrMult, 0);
  EXPECT_EQ(bias.decayMult, 3);
  EXPECT_EQ(net.net.params.size(), 10u);
  for (const LayerParam &param : net.find("bn").second->params)
    EXPECT_TRUE(param.isStatistic);
  EXPECT_FALSE(net.find("ip").second->params[0].isStatistic);
}

TEST(NetSetup, recurrentLayersComputeAllGradients) {
  const PreparedNet net(R"(
layer { name: "d" type: "Input" top: "x" top: "cont" top: "h0" top: "c0"
        top: "t" input_param { shape { dim: 1 dim: 1 dim: 3 }
        shape { dim: 1 dim: 1 } shape { dim: 1 dim: 1 dim: 2 }
        shape { dim: 1 dim: 1 dim: 2 } shape { dim: 1 dim: 1 dim: 2 } } }
layer { name: "r" type: "LSTM" bottom: "x" bottom: "cont" bottom: "h0"
        bottom: "c0" top: "h" top: "hT" top: "cT" param { lr_mult: 0 }
        recurrent_param { num_output: 2 expose_hidden: true } }
layer { name: "q" type: "Silence" bottom: "hT" bottom: "cT" }
layer { name: "l" type: "EuclideanLoss" bottom: "h" bottom: "t" top: "l" }
)");
  EXPECT_EQ(net.gradients("r"), "*1000/111");
}

TEST(NetSetup, someBottomsHaveNoGradient) {
  const PreparedNet net("force_backward: true\n" + kData + R"(
layer { name: "p" type: "Input" top: "image" top: "rois" input_param {
        shape { dim: 1 dim: 2 dim: 4 dim: 4 } shape { dim: 1 dim: 5 } } }
layer { name: "roi" type: "ROIPooling" bottom: "image" bottom: "rois" top: "r"
        roi_pooling_param { pooled_w: 1 pooled_h: 1 spatial_scale: 1 } }
)");
  EXPECT_EQ(net.gradients("roi"), "*10/");
}

TEST(NetSetup, hostLayersHaveParameters) {
  const std::string text = kData + R"(
layer { name: "p" type: "Python" bottom: "x" top: "y" param { lr_mult: 0 }
        python_param { module: "m" layer: "L" } }
layer { name: "l" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
)";
  EXPECT_EQ(PreparedNet(text, {{"p", 1}}).gradients("p"), "0/0");
  EXPECT_EQ(PreparedNet(text, {{"p", 2}}).gradients("p"), "*0/01");
}

} // namespace
} // namespace brew::prototxt
