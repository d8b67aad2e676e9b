//===- NetLogTest.cpp - Caffe's lines about a net -------------------------===//
#include "runtime/caffe_log/NetLog.h"
#include "TrainingFixture.h"
#include "runtime/train/DebugInfo.h"
#include "test/unit/runtime/log/LogLines.h"

using namespace brew;
using namespace brew::runtime;
using test::LogLines;

namespace {

plan::Program smallNet() {
  return test::parse<plan::Program>(R"(
    source: "net file: net.prototxt"
    filter_log_lines: "The NetState differed"
    layers { name: "data" type: "Input" tops: "x" shapes { dims: [ 2, 3 ] }
             loss_weights: 0 }
    layers { name: "relu" type: "ReLU" bottoms: "x" tops: "x"
             shapes { dims: [ 2, 3 ] } loss_weights: 0 }
    layers { name: "loss" type: "EuclideanLoss" bottoms: "x" tops: ""
             shapes {} loss_weights: 0.5 needs_backward: true
             sharing_log_lines: "Sharing parameters" }
    outputs { blob: "x" } )");
}

/// Returns the linear model with net metadata, which debug_info needs.
plan::Manifest modelWithMetadata(const std::string &feed,
                                 const std::string &solver) {
  plan::Manifest manifest = test::linearModel(feed, solver);
  const char *const layers = R"(
    layers { name: "data" type: "HDF5Data" tops: "x" tops: "target"
             shapes { dims: [ 4, 3 ] } shapes { dims: 4 }
             loss_weights: [ 0, 0 ] top_buffer_indices: [ 0, 1 ] }
    layers { name: "ip" bottoms: "x" tops: "prediction" shapes { dims: 4 }
             loss_weights: 0 needs_backward: true top_buffer_indices: 9
             bottom_gradients { bottom: 0 buffer_index: 0 } } )";
  for (int program : {0, 2})
    manifest.mutable_programs(program)->MergeFrom(
        test::parse<plan::Program>(layers));
  return manifest;
}

void writeInfo(log::Site site, const std::string &text) {
  log::write(log::Severity::Info, site, text);
}

using DebugInfoTest = test::TrainingFixture;

} // namespace

TEST(NetLog, LogsCaffesLinesInOrder) {
  LogLines log;
  logTrainNet(smallNet(), plan::F32, writeInfo);
  EXPECT_EQ(log.texts(),
            (std::vector<std::string>{
                "Creating training net from net file: net.prototxt",
                "The NetState differed",
                "Creating layer data",
                "Creating Layer data",
                "data -> x",
                "Setting up data",
                "Top shape: 2 3 (6)",
                "Memory required for data: 24",
                "Creating layer relu",
                "Creating Layer relu",
                "relu <- x",
                "relu -> x (in-place)",
                "Setting up relu",
                "Top shape: 2 3 (6)",
                "Memory required for data: 48",
                "Creating layer loss",
                "Creating Layer loss",
                "loss <- x",
                "loss -> (automatic)",
                "Setting up loss",
                "Top shape: (1)",
                "    with loss weight 0.5",
                "Memory required for data: 52",
                "Sharing parameters",
                "loss needs backward computation.",
                "relu does not need backward computation.",
                "data does not need backward computation.",
                "This network produces output x",
                "Network initialization done.",
            }));
  EXPECT_NE(log.lines[0].find(" solver.cpp:87] "), std::string::npos);
  EXPECT_NE(log.lines[6].find(" net.cpp:129] "), std::string::npos);
}

TEST(NetLog, NamesTheSourceOfTheNet) {
  plan::Program program;
  auto loggedLine = [&](const char *source, bool train) {
    LogLines log;
    program.set_source(source);
    if (train)
      logTrainNet(program, plan::F32, writeInfo);
    else
      logTestNet(program, 1, plan::F32, writeInfo);
    EXPECT_EQ(log.lines.size(), 1u);
    return log.texts().at(0);
  };
  EXPECT_EQ(loggedLine("train_net file: t", true),
            "Creating training net from train_net file: t");
  EXPECT_EQ(loggedLine("net_param", true),
            "Creating training net specified in net_param.");
  EXPECT_EQ(loggedLine("train_net_param", true),
            "Creating training net specified in train_net_param.");
  EXPECT_EQ(loggedLine("test_net file: t", false),
            "Creating test net (#1) specified by test_net file: t");
}

TEST(NetLog, DoublesTakeTwiceTheMemory) {
  LogLines log;
  logNet(smallNet(), plan::F64, writeInfo);
  EXPECT_EQ(log.texts("Memory required").back(),
            "Memory required for data: 104");
}

TEST_F(DebugInfoTest, LogsBlobsAndGradientsOfDisplayedIterations) {
  LogLines log;
  const plan::Manifest manifest = modelWithMetadata(
      feed(), solver("base_lr: 0.1 lr_policy: 'fixed' display: 2 max_iter: 3 "
                     "debug_info: true test_iter: 2 test_interval: 100"));
  TrainerOptions options;
  options.solver = solverOf(manifest);
  Trainer trainer(open(manifest), options);
  trainer.step(3);

  // Two test batches and the displayed iterations 0 and 2 are logged.
  EXPECT_EQ(log.texts("[Forward] Layer data, top blob target data: ").size(),
            4u);
  EXPECT_EQ(log.texts("[Backward] Layer ip, param blob 1 diff: ").size(), 2u);
  EXPECT_EQ(
      log.texts("[Backward] All net params (data, diff): L1 norm = (").size(),
      2u);

  double sum = 0;
  for (float value : trainer.parameters().read(0, {}).floats)
    sum += std::fabs(value);
  EXPECT_EQ(log.texts("top blob x data").back(),
            "    [Forward] Layer data, top blob x data: " +
                log::number(sum / 12)); // x has 4 x 3 elements
  const auto bias = trainer.parameters().read(
      manifest.parameters(1).gradient_buffer_index(), {});
  EXPECT_EQ(log.texts("[Backward] Layer ip, param blob 1").back(),
            "    [Backward] Layer ip, param blob 1 diff: " +
                log::number(std::fabs(bias.floats[0])));
}

TEST_F(DebugInfoTest, LogsNoBlobsWithoutDebugInfo) {
  LogLines log;
  const plan::Manifest manifest = modelWithMetadata(
      feed(), solver("base_lr: 0.1 lr_policy: 'fixed' display: 1"));
  TrainerOptions options;
  options.solver = solverOf(manifest);
  Trainer(open(manifest), options).step(1);
  EXPECT_TRUE(log.texts("[Forward]").empty());
}
