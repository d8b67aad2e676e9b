//===- NetGraphTest.cpp - Connections of layers and their errors ----------===//

#include "frontends/prototxt/check/NetGraph.h"
#include "Parse.h"

#include <gtest/gtest.h>

namespace brew::prototxt {
namespace {

const char *inputX = R"(
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 1 } } }
)";

struct GraphResult {
  Diagnostics diagnostics;
  std::shared_ptr<const NetDocument> net;
  NetGraph graph;
};

GraphResult buildGraph(const std::string &text,
                       caffe::Phase phase = caffe::TRAIN,
                       bool forCompilation = false) {
  GraphResult built;
  built.net = netOf(text, built.diagnostics);
  built.graph = NetGraph::build(
      filterNet(built.net, standaloneState(built.net->net(), phase)),
      built.diagnostics, forCompilation);
  return built;
}

std::string graphDiagnostics(const std::string &text,
                             caffe::Phase phase = caffe::TRAIN) {
  return buildGraph(text, phase).diagnostics.str();
}

TEST(NetGraph, createsBlobVersionsForInPlaceLayers) {
  GraphResult built = buildGraph(std::string(inputX) + R"(
layer { name: "r" type: "ReLU" bottom: "x" top: "x" }
layer { name: "p" type: "Power" bottom: "x" top: "y" }
)");
  ASSERT_EQ(built.diagnostics.str(), "");
  const NetGraph &graph = built.graph;
  ASSERT_EQ(graph.blobs.size(), 3u);
  EXPECT_EQ(graph.layers[1].bottoms, std::vector<int>{0});
  EXPECT_EQ(graph.layers[1].tops, std::vector<int>{1});
  EXPECT_EQ(graph.layers[2].bottoms, std::vector<int>{1});
  EXPECT_EQ(graph.blobs[1].name, "x");
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.outputs[0].name, "y");
}

TEST(NetGraph, sortsOutputsByName) {
  GraphResult built = buildGraph(R"(
layer { name: "in" type: "Input" top: "b" top: "C" top: "a" }
)");
  std::string names;
  for (const NetOutput &output : built.graph.outputs)
    names += output.name;
  EXPECT_EQ(names, "Cab");
}

TEST(NetGraph, locatesMissingBottom) {
  EXPECT_EQ(graphDiagnostics(R"(
layer { name: "in" type: "Input" top: "pool2" }
layer {
  name: "ip1" type: "InnerProduct"
  bottom: "pool3"
  top: "ip1"
  inner_product_param { num_output: 2 }
}
)"),
            "f.prototxt:5:3: error: layer 'ip1' (InnerProduct): bottom blob "
            "'pool3' is not produced by any layer before it; did you mean "
            "'pool2'?\n");
}

TEST(NetGraph, notesRuleThatRemovedProducer) {
  EXPECT_EQ(graphDiagnostics(R"(
layer { name: "in" type: "Input" top: "x"
  include { phase: TEST } }
layer { name: "r" type: "ReLU" bottom: "x" top: "y" }
)"),
            "f.prototxt:4:32: error: layer 'r' (ReLU): bottom blob 'x' is not "
            "produced by any layer before it\n"
            "f.prototxt:3:3: note: layer 'in' is left out: its include rule "
            "requires phase TEST, and this is phase TRAIN\n");
}

TEST(NetGraph, notesLaterProducer) {
  EXPECT_EQ(graphDiagnostics(R"(
layer { name: "r" type: "ReLU" bottom: "x" top: "y" }
layer { name: "in" type: "Input" top: "x" }
)"),
            "f.prototxt:2:32: error: layer 'r' (ReLU): bottom blob 'x' is not "
            "produced by any layer before it\n"
            "f.prototxt:3:34: note: layer 'in' produces it, but comes later\n");
}

TEST(NetGraph, refusesSecondProducer) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "in2" type: "Input" top: "x" }
)"),
            "f.prototxt:4:35: error: layer 'in2' (Input): top blob 'x' is "
            "already produced by layer 'in'\n"
            "f.prototxt:2:34: note: 'x' is produced here\n");
  // In-place layers are determined by the positions of bottoms and tops.
  EXPECT_NE(graphDiagnostics(R"(
layer { name: "in" type: "Input" top: "a" top: "b" }
layer { name: "e" type: "Eltwise" bottom: "a" bottom: "b" top: "b" }
)")
                .find("already produced by layer 'in'; an in-place top must "
                      "stand at the same position as its bottom"),
            std::string::npos);
}

TEST(NetGraph, refusesInPlaceOfSharedBlob) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "p" type: "Power" bottom: "x" top: "y" }
layer { name: "r" type: "ReLU" bottom: "x" top: "x" }
)"),
            "f.prototxt:5:44: error: layer 'r' (ReLU): cannot overwrite 'x' in "
            "place, as another bottom reads it; give the top a name of its "
            "own\n"
            "f.prototxt:4:33: note: layer 'p' reads it\n");
}

TEST(NetGraph, countsBottomsAndTops) {
  const std::string diagnostics = graphDiagnostics(std::string(inputX) + R"(
layer { name: "r" type: "ReLU" bottom: "x" bottom: "x" top: "a" }
layer { name: "e" type: "Eltwise" bottom: "x" top: "b" }
layer { name: "acc" type: "Accuracy" bottom: "x" bottom: "x" top: "c" top: "d" top: "e" }
layer { name: "c" type: "Convolution" bottom: "x" bottom: "x" top: "f"
  convolution_param { num_output: 1 kernel_size: 1 } }
layer { name: "s" type: "Split" bottom: "x" }
)");
  EXPECT_NE(
      diagnostics.find("4:1: error: layer 'r' (ReLU): takes 1 bottom, but has "
                       "2\n"),
      std::string::npos)
      << diagnostics;
  EXPECT_NE(
      diagnostics.find("layer 'e' (Eltwise): takes at least 2 bottoms, but has "
                       "1\n"),
      std::string::npos);
  EXPECT_NE(
      diagnostics.find("layer 'acc' (Accuracy): gives at most 2 tops, but has "
                       "3\n"),
      std::string::npos);
  EXPECT_NE(diagnostics.find(
                "layer 'c' (Convolution): gives one top for each bottom, "
                "but has 2 bottoms and 1 top\n"),
            std::string::npos);
  EXPECT_NE(
      diagnostics.find("layer 's' (Split): gives at least 1 top, but has 0\n"),
      std::string::npos);
}

TEST(NetGraph, reportsUnknownTypes) {
  GraphResult built = buildGraph(std::string(inputX) + R"(
layer { name: "a" type: "Relu" bottom: "x" top: "a" }
layer { name: "b" type: "CPMData" bottom: "x" top: "b" }
layer { name: "d" bottom: "x" top: "d" }
)",
                                 caffe::TRAIN, /*forCompilation=*/true);
  EXPECT_EQ(
      built.diagnostics.str(),
      "f.prototxt:4:25: error: layer 'a': unknown layer type 'Relu'; did "
      "you mean 'ReLU'?\n"
      "f.prototxt:5:25: error: layer 'b': unknown layer type 'CPMData'; "
      "it belongs to Convolutional Pose Machines (shihenw/caffe), not to BVLC "
      "Caffe 1.0\n"
      "f.prototxt:6:1: error: layer 'd': the layer has no type\n");
}

TEST(NetGraph, assignsLossWeights) {
  GraphResult built = buildGraph(R"(
layer { name: "in" type: "Input" top: "x" top: "l" }
layer { name: "a" type: "SoftmaxWithLoss" bottom: "x" bottom: "l" top: "a" top: "prob" }
layer { name: "b" type: "SoftmaxWithLoss" bottom: "x" bottom: "l" top: "b" loss_weight: 0.5 }
layer { name: "c" type: "SoftmaxWithLoss" bottom: "x" bottom: "l" }
layer { name: "d" type: "Reduction" bottom: "prob" top: "d" loss_weight: 2 }
layer { name: "e" type: "Power" bottom: "d" top: "e" }
layer { name: "f" type: "Power" bottom: "a" top: "f" }
)");
  // `x`, `l` and `prob` have readers, so they are not outputs. The explicit
  // loss weight of `d` adds a Split. The default loss weight of `a` does not
  // make this read blob a reported output.
  ASSERT_EQ(built.diagnostics.str(), "");
  std::string text;
  for (const NetOutput &output : built.graph.outputs)
    text += output.name + "=" + std::to_string(output.lossWeight).substr(0, 3) +
            (output.isUnreported ? " unreported" : "") + "\n";
  EXPECT_EQ(text, "b=0.5\n"
                  "d_d_0_split_0=2.0\n"
                  "e=0.0\n"
                  "f=0.0\n"
                  "a=1.0 unreported\n"
                  "(automatic) c=1.0 unreported\n");
  EXPECT_TRUE(built.graph.hasLoss());
}

TEST(NetGraph, requiresOneLossWeightPerTop) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "s" type: "Split" bottom: "x" top: "a" top: "b"
  loss_weight: 1 }
)"),
            "f.prototxt:5:3: error: layer 's' (Split): loss_weight is given 1 "
            "time for 2 tops; it takes one for each, or none\n");
}

TEST(NetGraph, sharesNamedParameters) {
  GraphResult built = buildGraph(std::string(inputX) + R"(
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a"
  param { name: "w" } inner_product_param { num_output: 1 } }
layer { name: "b" type: "InnerProduct" bottom: "x" top: "b"
  param { name: "w" lr_mult: 3 share_mode: PERMISSIVE } param { decay_mult: 0 }
  inner_product_param { num_output: 1 } }
)");
  ASSERT_EQ(built.diagnostics.str(), "");
  const NetGraph &graph = built.graph;
  ASSERT_EQ(graph.params.size(), 3u);
  EXPECT_EQ(graph.layers[1].params, (std::vector<int>{0, 1}));
  EXPECT_EQ(graph.layers[2].params, (std::vector<int>{0, 2}));
  const GraphParam &shared = graph.params[0];
  EXPECT_EQ(shared.sharedName, "w");
  EXPECT_TRUE(shared.permissive);
  // The owner sets no lr_mult, so the multiplier of the sharing layer applies.
  EXPECT_EQ(shared.lrMult, 3);
  ASSERT_EQ(shared.sharers.size(), 1u);
  EXPECT_EQ(shared.sharers[0].first->name(), "b");
  EXPECT_EQ(graph.params[2].decayMult, 0);
}

TEST(NetGraph, refusesContradictingMultipliers) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a"
  param { name: "w" lr_mult: 1 } inner_product_param { num_output: 1 } }
layer { name: "b" type: "InnerProduct" bottom: "x" top: "b"
  param { name: "w" lr_mult: 2 } inner_product_param { num_output: 1 } }
)"),
            "f.prototxt:7:21: error: layer 'b' (InnerProduct): lr_mult of the "
            "shared parameter 'w' differs from that in layer 'a'\n"
            "f.prototxt:5:21: note: it is given here\n");
}

TEST(NetGraph, rejectsParametersThatFilesCannotDistinguish) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "a" type: "Bias" bottom: "x" top: "a" }
layer { name: "a" type: "Bias" bottom: "x" top: "b" }
)"),
            "f.prototxt:5:1: error: layer 'a' (Bias): another layer with "
            "parameters has the same name; weight files could not tell them "
            "apart\n"
            "f.prototxt:4:1: note: it is here\n");
  // Without parameters a name may come twice, as in Caffe.
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "a" type: "Bias" bottom: "x" top: "a" }
layer { name: "a" type: "ReLU" bottom: "x" top: "b" }
)"),
            "");
}

TEST(NetGraph, refusesTooManyParams) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "r" type: "ReLU" bottom: "x" top: "r"
  param { lr_mult: 1 } }
)"),
            "f.prototxt:5:3: error: layer 'r' (ReLU): param is given 1 time, "
            "but the layer has 0 parameters\n");
}

TEST(NetGraph, warnsOfFieldsWithoutEffect) {
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "r" type: "ReLU" bottom: "x" top: "r"
  power_param { scale: 2 } }
)"),
            "f.prototxt:5:3: warning: layer 'r' (ReLU): power_param has no "
            "effect in a layer of this type\n");
  EXPECT_EQ(graphDiagnostics(std::string(inputX) + R"(
layer { name: "p" type: "InnerProduct" bottom: "x" top: "x"
  inner_product_param { num_output: 2 } }
)"),
            "f.prototxt:4:52: warning: layer 'p' (InnerProduct): is in-place, "
            "which Caffe cannot compute for this type; it is compiled as if "
            "the top had a name of its own\n");
}

TEST(NetGraph, reportsAllErrorsInOneRun) {
  const std::string diagnostics = graphDiagnostics(R"(
layer { name: "a" type: "ReLU" bottom: "x" top: "a" }
layer { name: "b" type: "Sigmod" bottom: "a" top: "b" }
layer { name: "c" type: "InnerProduct" bottom: "b" top: "c" }
)");
  EXPECT_EQ(std::count(diagnostics.begin(), diagnostics.end(), '\n'), 3)
      << diagnostics;
}

TEST(NetGraph, recognizesNetsWithLoss) {
  Diagnostics diagnostics;
  auto net = netOf(R"(
layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" bottom: "y" top: "l"
  include { phase: TRAIN } }
)",
                   diagnostics);
  EXPECT_TRUE(
      hasLoss(filterNet(net, standaloneState(net->net(), caffe::TRAIN))));
  EXPECT_FALSE(
      hasLoss(filterNet(net, standaloneState(net->net(), caffe::TEST))));
}

} // namespace
} // namespace brew::prototxt
