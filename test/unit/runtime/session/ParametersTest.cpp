//===- ParametersTest.cpp - Fillers, weight files and storage order -------===//
#include "runtime/session/Parameters.h"
#include "OnSimulator.h"
#include "TestPlan.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "test/common/ReplacedDriverCall.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;

namespace {

/// Returns a net with the parameters conv (3 x 2 x 2 x 2, channels last, and a
/// bias), ip (4 x 6, its columns split into 2 x 3 and permuted; shared by ip2),
/// and stats, which are not learnt.
plan::Manifest permutedNet(plan::DataType type = plan::F32) {
  plan::Manifest manifest;
  manifest.set_net_name("Permuted");
  manifest.mutable_target()->set_kind(plan::Target::CPU);
  manifest.mutable_target()->set_precision(type);
  for (auto kind : {plan::PARAMETERS, plan::GRADIENTS, plan::STATE}) {
    plan::Arena &arena = *manifest.add_arenas();
    arena.set_kind(kind);
    arena.set_size(1024);
  }
  struct Row {
    const char *layer;
    std::uint32_t index;
    std::uint64_t offset;
    std::vector<std::int64_t> dims, strides, fileDims;
    bool isLearnt;
  };
  const std::vector<Row> rows = {
      {"conv", 0, 0, {3, 2, 2, 2}, {8, 1, 4, 2}, {3, 2, 2, 2}, true},
      {"conv", 1, 256, {3}, {1}, {3}, true},
      {"ip", 0, 320, {4, 2, 3}, {6, 1, 2}, {4, 6}, true},
      {"stats", 0, 576, {2}, {1}, {2}, false}};
  for (const Row &row : rows) {
    plan::Parameter &parameter = *manifest.add_parameters();
    parameter.set_layer(row.layer);
    parameter.set_index(row.index);
    *parameter.mutable_file_dims() = {row.fileDims.begin(), row.fileDims.end()};
    caffe::FillerParameter filler;
    filler.set_type(row.isLearnt ? "gaussian" : "constant");
    parameter.set_filler(filler.SerializeAsString());
    for (std::uint32_t arena = 0; arena < (row.isLearnt ? 3u : 1u); ++arena) {
      const auto index = std::uint32_t(manifest.buffers_size());
      *manifest.add_buffers() = test::makeBuffer(row.layer, arena, row.offset,
                                                 row.dims, row.strides, type);
      if (arena == 0)
        parameter.set_buffer_index(index);
      else if (arena == 1)
        parameter.set_gradient_buffer_index(index);
      else
        parameter.add_state_buffer_indices(index);
    }
  }
  auto &sharer = *manifest.mutable_parameters(2)->add_sharers();
  sharer.set_layer("ip2");
  sharer.set_index(0);
  sharer.add_file_dims(4);
  sharer.add_file_dims(6);
  return manifest;
}

formats::Blob countingBlob(std::vector<std::int64_t> dims, float first) {
  formats::Blob blob;
  blob.dims = dims;
  std::int64_t count = 1;
  for (auto dim : dims)
    count *= dim;
  blob.floats.resize(std::size_t(count));
  std::iota(blob.floats.begin(), blob.floats.end(), first);
  return blob;
}

formats::Weights fittingWeights() {
  formats::Weights weights;
  weights.layers.push_back(
      {"conv",
       "",
       {},
       {},
       {countingBlob({3, 2, 2, 2}, 1), countingBlob({3}, 50)}});
  weights.layers.push_back({"ip", "", {}, {}, {countingBlob({4, 6}, 100)}});
  weights.layers.push_back({"ip2", "", {}, {}, {countingBlob({4, 6}, 100)}});
  weights.layers.push_back({"stats", "", {}, {}, {countingBlob({2}, 7)}});
  return weights;
}

struct Net {
  Events events;
  Executor executor;
  Parameters parameters;
  explicit Net(const plan::Manifest &manifest = permutedNet())
      : executor(test::loadPlan(manifest)), parameters(executor, &events) {
    events.add(CaffeLog());
  }

  float storedValue(std::uint32_t parameter, int element) {
    const auto buffer =
        executor.manifest().parameters(int(parameter)).buffer_index();
    return reinterpret_cast<float *>(executor.hostData(buffer))[element];
  }
};

} // namespace

TEST(Parameters, LoadPermutesIntoTheBuffersLayout) {
  Net net;
  LogLines log;
  net.parameters.load(fittingWeights(), "w");
  EXPECT_TRUE(log.lines.empty()); // all layers match
  // conv: file element (k, c, h, w) is at k * 8 + h * 4 + w * 2 + c.
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 2; ++c)
      for (int p = 0; p < 4; ++p)
        EXPECT_EQ(net.storedValue(0, k * 8 + p * 2 + c), 1 + k * 8 + c * 4 + p);
  // ip: file column c * 3 + p is at p * 2 + c.
  for (int n = 0; n < 4; ++n)
    for (int c = 0; c < 2; ++c)
      for (int p = 0; p < 3; ++p)
        EXPECT_EQ(net.storedValue(2, n * 6 + p * 2 + c),
                  100 + n * 6 + c * 3 + p);
}

TEST(Parameters, SaveReturnsLoadedWeights) {
  Net net;
  const formats::Weights before = fittingWeights();
  net.parameters.load(before, "w");
  const formats::Weights after = net.parameters.save();
  EXPECT_EQ(after.netName, "Permuted");
  ASSERT_EQ(after.layers.size(), before.layers.size());
  for (std::size_t i = 0; i < after.layers.size(); ++i) {
    EXPECT_EQ(after.layers[i].name, before.layers[i].name);
    ASSERT_EQ(after.layers[i].blobs.size(), before.layers[i].blobs.size());
    for (std::size_t k = 0; k < after.layers[i].blobs.size(); ++k) {
      EXPECT_EQ(after.layers[i].blobs[k].dims, before.layers[i].blobs[k].dims);
      EXPECT_EQ(after.layers[i].blobs[k].floats,
                before.layers[i].blobs[k].floats);
    }
  }
}

TEST(Parameters, DoublePlansKeepDoubles) {
  Net net(permutedNet(plan::F64));
  formats::Weights weights = fittingWeights();
  weights.layers[3].blobs[0].floats.clear();
  weights.layers[3].blobs[0].doubles = {0.1, 0.2};
  net.parameters.load(weights, "w");
  const auto saved = net.parameters.save();
  EXPECT_EQ(saved.layers[3].blobs[0].doubles, (std::vector<double>{0.1, 0.2}));
}

TEST(Parameters, HistoryUsesTheSameOrder) {
  Net net;
  std::vector<formats::Blob> history = {
      countingBlob({3, 2, 2, 2}, 1), countingBlob({3}, 30),
      countingBlob({4, 6}, 40), countingBlob({2}, 0)};
  history[3].floats = {0, 0}; // not trained: it has no state
  net.parameters.setHistory(history, "s");
  const auto index =
      net.executor.manifest().parameters(0).state_buffer_indices(0);
  const float *state = reinterpret_cast<float *>(net.executor.hostData(index));
  EXPECT_EQ(state[1], 5); // (0, 1, 0, 0)
  const auto saved = net.parameters.history();
  ASSERT_EQ(saved.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(saved[i].dims, history[i].dims);
    EXPECT_EQ(saved[i].floats, history[i].floats);
  }
  history.pop_back();
  test::expectError(ExitStatus::BadInput, "3 history blobs",
                    [&] { net.parameters.setHistory(history, "s"); });
  history.push_back(countingBlob({3}, 1));
  test::expectError(ExitStatus::BadInput, "history 3 is 3 there and 2",
                    [&] { net.parameters.setHistory(history, "s"); });
}

TEST(Parameters, ListsEveryMismatchAndLoadsNothing) {
  Net net;
  net.parameters.load(fittingWeights(), "w");
  formats::Weights wrong = fittingWeights();
  wrong.layers[0].blobs[0] = countingBlob({3, 2, 2, 1}, 900);
  wrong.layers[1].blobs.push_back(countingBlob({4}, 900));
  wrong.layers[3].blobs[0] = countingBlob({2}, 900);
  try {
    net.parameters.load(wrong, "other.caffemodel");
    FAIL() << "weights that do not fit were loaded";
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_EQ(error.status(), ExitStatus::BadInput);
    for (const char *part :
         {"other.caffemodel", "'conv' blob 0 is 3x2x2x1 there and 3x2x2x2",
          "'ip' has 2 blobs there and 1"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(net.storedValue(3, 0), 7); // the matching layer is unchanged, too
}

TEST(Parameters, LegacyShapesFitByCount) {
  Net net;
  formats::Weights weights = fittingWeights();
  weights.layers[1].blobs[0].dims = {1, 1, 4, 6};
  test::expectError(ExitStatus::BadInput, "1x1x4x6",
                    [&] { net.parameters.load(weights, "w"); });
  weights.layers[1].blobs[0].legacyShape = true;
  net.parameters.load(weights, "w");
}

TEST(Parameters, RefusesWeightsOfAnotherNet) {
  Net net;
  formats::Weights weights;
  weights.layers.push_back({"conv9", "", {}, {}, {countingBlob({3}, 1)}});
  test::expectError(ExitStatus::BadInput, "another net",
                    [&] { net.parameters.load(weights, "w"); });
}

TEST(Parameters, LogsUnmatchedLayers) {
  Net net;
  formats::Weights weights = fittingWeights();
  weights.layers.erase(weights.layers.begin());
  weights.layers.push_back({"fc8", "", {}, {}, {countingBlob({3}, 1)}});
  weights.layers.push_back({"relu", "", {}, {}, {}}); // no weights: ignored
  LogLines log;
  net.parameters.load(weights, "w");
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_NE(log.lines[0].find("] Ignoring source layer fc8"),
            std::string::npos);
  EXPECT_NE(log.lines[1].find("1 layer of the net is not in the file and keeps "
                              "its values: conv"),
            std::string::npos);
}

TEST(Parameters, FillDoesNotDependOnTheLayout) {
  Net net, second;
  net.parameters.fill(5);
  second.parameters.fill(5);
  // Another layout results in the same values in file order.
  plan::Manifest rowMajor = permutedNet();
  for (plan::Buffer &buffer : *rowMajor.mutable_buffers())
    buffer =
        test::makeBuffer(buffer.name(), buffer.arena_index(), buffer.offset(),
                         {buffer.dims().begin(), buffer.dims().end()});
  Net rowMajorNet(rowMajor);
  rowMajorNet.parameters.fill(5);
  const auto a = net.parameters.save(), b = second.parameters.save(),
             c = rowMajorNet.parameters.save();
  for (std::size_t i = 0; i < a.layers.size(); ++i)
    for (std::size_t k = 0; k < a.layers[i].blobs.size(); ++k) {
      EXPECT_EQ(a.layers[i].blobs[k].floats, b.layers[i].blobs[k].floats);
      EXPECT_EQ(a.layers[i].blobs[k].floats, c.layers[i].blobs[k].floats);
    }
  second.parameters.fill(6);
  EXPECT_NE(second.parameters.save().layers[0].blobs[0].floats,
            a.layers[0].blobs[0].floats);
}

TEST(Parameters, GradientNormSkipsPadding) {
  Net net;
  const auto index =
      net.executor.manifest().parameters(1).gradient_buffer_index();
  float *gradient = reinterpret_cast<float *>(net.executor.hostData(index));
  gradient[0] = 3;
  gradient[2] = 4;
  gradient[3] = 1000; // beyond the three elements
  EXPECT_DOUBLE_EQ(net.parameters.gradientSumOfSquares(), 25);
}

namespace {

int downloads = 0;
decltype(runtime::cuda::DriverApi::cuMemcpyDtoHAsync) originalDownload =
    nullptr;

int countDownload(void *target, runtime::cuda::CUdeviceptr source,
                  std::size_t bytes, runtime::cuda::CUstream stream) {
  ++downloads;
  return originalDownload(target, source, bytes, stream);
}

} // namespace

TEST(Parameters, WritingFullParametersDownloadsNothing) {
  const test::OnSimulator simulator;
  plan::Manifest manifest =
      test::linearModel("name: 'x' type: 'Input' top: 'x' top: 'target'", "");
  Net net(manifest);
  const test::ReplacedDriverCall counted(
      &runtime::cuda::DriverApi::cuMemcpyDtoHAsync, countDownload);
  originalDownload = counted.original();
  downloads = 0;
  net.parameters.fill(5);
  formats::Weights weights;
  weights.layers.push_back(
      {"ip", "", {}, {}, {countingBlob({1, 3}, 1), countingBlob({1}, 7)}});
  net.parameters.load(weights, "w");
  net.parameters.setHistory({countingBlob({1, 3}, 4), countingBlob({1}, 8)},
                            "s");
  EXPECT_EQ(downloads, 0);
  const formats::Weights saved = net.parameters.save();
  EXPECT_EQ(saved.layers[0].blobs[0].floats, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(saved.layers[0].blobs[1].floats, std::vector<float>{7});
  EXPECT_EQ(net.parameters.history()[0].floats, (std::vector<float>{4, 5, 6}));
  EXPECT_GT(downloads, 0); // these do read
}
