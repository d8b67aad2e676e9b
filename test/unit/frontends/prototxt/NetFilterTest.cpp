//===- NetFilterTest.cpp - NetState rules ---------------------------------===//
#include "Parse.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

caffe::NetState stateOf(caffe::Phase phase, int level = 0,
                        std::vector<std::string> stages = {}) {
  caffe::NetState state;
  state.set_phase(phase);
  state.set_level(level);
  for (const std::string &stage : stages)
    state.add_stage(stage);
  return state;
}

/// Returns the names of the included layers, separated by spaces.
std::string includedLayers(const std::string &text,
                           const caffe::NetState &state) {
  Diagnostics diagnostics;
  FilteredNet net = filterNet(netOf(text, diagnostics), state);
  EXPECT_EQ(diagnostics.str(), "");
  std::string names;
  for (const caffe::LayerParameter *layer : net.layers)
    names += (names.empty() ? "" : " ") + layer->name();
  return names;
}

TEST(NetFilter, SelectsByPhase) {
  const char *text = "layer { name: 'both' }\n"
                     "layer { name: 'train' include { phase: TRAIN } }\n"
                     "layer { name: 'test' include { phase: TEST } }\n"
                     "layer { name: 'nottest' exclude { phase: TEST } }\n";
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TRAIN)), "both train nottest");
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST)), "both test");
}

TEST(NetFilter, SelectsByLevel) {
  const char *text = "layer { name: 'min' include { min_level: 2 } }\n"
                     "layer { name: 'max' include { max_level: 3 } }\n"
                     "layer { name: 'band' exclude { min_level: 1 "
                     "max_level: 2 } }\n";
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST, 0)), "max band");
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST, 2)), "min max");
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST, 4)), "min band");
}

TEST(NetFilter, SelectsByStage) {
  const char *text =
      "layer { name: 'ab' include { stage: 'a' stage: 'b' } }\n"
      "layer { name: 'notc' include { not_stage: 'c' } }\n"
      "layer { name: 'a_or_c' include { stage: 'a' } include { stage: 'c' } }\n"
      "layer { name: 'empty' include { } }\n"
      "layer { name: 'gone' exclude { } }\n";
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST)), "notc empty");
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST, 0, {"a", "b"})),
            "ab notc a_or_c empty");
  EXPECT_EQ(includedLayers(text, stateOf(caffe::TEST, 0, {"c"})),
            "a_or_c empty");
}

TEST(NetFilter, RemovedLayersHaveAReason) {
  Diagnostics diagnostics;
  auto document = netOf("layer {\n  name: 'd' top: 'data' top: 'label'\n"
                        "  include { phase: TRAIN }\n}\n"
                        "layer {\n  name: 'e' top: 'x'\n"
                        "  exclude { stage: 'q' }\n"
                        "  exclude { phase: TEST }\n}\n",
                        diagnostics);
  FilteredNet net = filterNet(document, stateOf(caffe::TEST, 1, {"s"}));
  ASSERT_EQ(net.removed.size(), 2u);
  const RemovedLayer *notIncluded = net.removedProducer("label");
  ASSERT_TRUE(notIncluded);
  EXPECT_EQ(notIncluded->rule.str(), "f.prototxt:3:3");
  EXPECT_EQ(notIncluded->reason,
            "layer 'd' is left out: its include rule requires "
            "phase TRAIN, and this is phase TEST");
  const RemovedLayer *excluded = net.removedProducer("x");
  ASSERT_TRUE(excluded);
  EXPECT_EQ(excluded->rule.str(), "f.prototxt:8:3");
  EXPECT_EQ(excluded->reason, "layer 'e' is left out: its exclude rule covers "
                              "phase TEST, level 1, stage 's'");
  EXPECT_EQ(net.removedProducer("none"), nullptr);
}

TEST(NetFilter, LayersKeepTheirLocations) {
  Diagnostics diagnostics;
  FilteredNet net =
      filterNet(netOf("layer { name: 'a' exclude { } }\nlayer { name: 'b' }",
                      diagnostics),
                stateOf(caffe::TEST));
  ASSERT_EQ(net.layers.size(), 1u);
  EXPECT_EQ(net.source->locations().where(*net.layers[0]).str(),
            "f.prototxt:2:1");
  EXPECT_EQ(net.toProto().layer_size(), 1);
  EXPECT_EQ(net.toProto().layer(0).name(), "b");
}

TEST(NetFilter, StandaloneStateTakesTheFilesStages) {
  Diagnostics diagnostics;
  auto document =
      netOf("state { phase: TRAIN level: 3 stage: 'a' }", diagnostics);
  caffe::NetState fromFile = standaloneState(document->net(), caffe::TEST);
  EXPECT_EQ(fromFile.phase(), caffe::TEST);
  EXPECT_EQ(fromFile.level(), 3);
  EXPECT_EQ(fromFile.stage_size(), 1);
  caffe::NetState withOptions =
      standaloneState(document->net(), caffe::TRAIN, {5, {"b"}});
  EXPECT_EQ(withOptions.level(), 5);
  ASSERT_EQ(withOptions.stage_size(), 2);
  EXPECT_EQ(withOptions.stage(1), "b");
}

TEST(NetChecks, RequiresPropagateDownForEachBottom) {
  EXPECT_EQ(diagnosticsOf("layer { name: 'a' type: 'ReLU' bottom: 'x'\n"
                          "propagate_down: true propagate_down: false }"),
            "f.prototxt:2:1: error: layer 'a' (ReLU): propagate_down is given "
            "2 times for 1 bottom; it takes one for each bottom, or none\n");
}

TEST(NetChecks, WarnsOfOldDataFieldsInCurrentLayers) {
  EXPECT_EQ(diagnosticsOf("layer { name: 'd' type: 'Data'\n"
                          "data_param { scale: 2 } }"),
            "f.prototxt:2:14: warning: layer 'd' (Data): 'scale' in data_param "
            "has no effect, as in Caffe; write it in transform_param\n");
}

} // namespace
