//===- ProtoFilesTest.cpp - Solverstates, binaryprotos and the schema -----===//
#include "formats/BinaryProto.h"
#include "formats/SolverStateFile.h"
#include "formats/V1Layers.h"
#include "test/common/TestFiles.h"

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

const char *const recordedState = "solvers/adam/iter_5.solverstate";

TEST(SolverState, ReadsCaffesFile) {
  SolverSnapshot snapshot = readSolverState(referencePath(recordedState));
  EXPECT_EQ(snapshot.state.iter(), 5);
  EXPECT_EQ(snapshot.state.brew_reader_size(), 0);
  // Adam keeps two tensors for each of the net's four parameters.
  ASSERT_EQ(snapshot.history.size(), 8u);
  EXPECT_EQ(snapshot.history[0].dims, (std::vector<int64_t>{4, 2, 3, 3}));
  EXPECT_EQ(snapshot.history[4].dims, snapshot.history[0].dims);
}

TEST(SolverState, RewritesCaffesBytes) {
  TempFolder folder;
  for (const char *name :
       {recordedState, "solvers/sgd_fixed/iter_10.solverstate"}) {
    writeSolverState(folder / "s", readSolverState(referencePath(name)));
    EXPECT_EQ(readBytes(folder / "s"), readBytes(referencePath(name)));
  }
}

TEST(SolverState, BrewsOwnFieldsRoundTrip) {
  TempFolder folder;
  SolverSnapshot snapshot = readSolverState(referencePath(recordedState));
  caffe::ReaderCursor *reader = snapshot.state.add_brew_reader();
  reader->set_layer("mnist");
  reader->set_phase(caffe::TEST);
  reader->set_test_index(1);
  reader->set_records(uint64_t(1) << 40);
  reader->set_epoch(3);
  reader->set_position(17);
  snapshot.state.set_brew_rng_seed(~uint64_t(0));
  caffe::RngCounter *counter = snapshot.state.add_brew_rng();
  counter->set_stream("drop1");
  counter->set_counter(99);
  snapshot.state.set_brew_smoothed_loss(0.25f);
  snapshot.state.add_brew_recent_loss(0.5f);
  writeSolverState(folder / "s", snapshot);
  SolverSnapshot reread = readSolverState(folder / "s");
  EXPECT_GT(reread.state.brew_reader_size(), 0);
  EXPECT_EQ(reread.state.SerializeAsString(),
            snapshot.state.SerializeAsString());
  EXPECT_EQ(reread.history.size(), 8u);
  EXPECT_EQ(reread.history[3].floats, snapshot.history[3].floats);
}

TEST(SolverState, RefusesMissingAndDamagedFiles) {
  TempFolder folder;
  expectError(ExitStatus::Unavailable, "solverstate not found",
              [&] { readSolverState(folder / "none"); });
  // Field 4 of a solverstate is an integer; this file has a string there.
  writeBytes(folder / "s", std::string("\x22\x01x", 3));
  expectError(ExitStatus::BadInput, "damaged",
              [&] { readSolverState(folder / "s"); });
}

/// Reads damaged copies of `bytes`: first truncated to every length, then with
/// one bit flipped, which is every third bit in turn. Each copy must be read or
/// refused as bad input.
void readDamagedCopies(const std::string &bytes, const std::string &path,
                       const std::function<void()> &read) {
  size_t refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    writeBytes(path, bytes.substr(0, length));
    refused += refusedAsBadInput(read);
  }
  EXPECT_GT(refused, bytes.size() / 2);
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    writeBytes(path, damaged);
    refusedAsBadInput(read);
  }
}

TEST(SolverState, ReadsOrRefusesDamagedFiles) {
  TempFolder folder;
  readDamagedCopies(
      readBytes(referencePath("solvers/sgd_fixed/iter_5.solverstate")),
      folder / "s", [&] { readSolverState(folder / "s"); });
}

Blob smallMean() {
  Blob mean;
  mean.legacyShape = true;
  mean.dims = {1, 3, 5, 7};
  for (int i = 0; i < 105; ++i)
    mean.floats.push_back(static_cast<float>(i) * 0.25f);
  return mean;
}

TEST(BinaryProto, RoundTrips) {
  TempFolder folder;
  writeBinaryProto(folder / "m", smallMean());
  Blob reread = readBinaryProto(folder / "m");
  EXPECT_EQ(reread.dims, smallMean().dims);
  EXPECT_TRUE(reread.legacyShape);
  EXPECT_EQ(reread.floats, smallMean().floats);
}

TEST(BinaryProto, ReadsOrRefusesDamagedFiles) {
  TempFolder folder;
  writeBinaryProto(folder / "m", smallMean());
  readDamagedCopies(readBytes(folder / "m"), folder / "m",
                    [&] { readBinaryProto(folder / "m"); });
  expectError(ExitStatus::Unavailable, "binaryproto not found",
              [&] { readBinaryProto(folder / "none"); });
}

TEST(BinaryProto, RewritesCaffesBytes) {
  std::string path = sharedPath("data/caffe_dbs/mnist500_mean.binaryproto");
  SKIP_WITHOUT(path);
  TempFolder folder;
  Blob mean = readBinaryProto(path);
  EXPECT_EQ(mean.dims, (std::vector<int64_t>{1, 1, 28, 28}));
  writeBinaryProto(folder / "m", mean);
  EXPECT_EQ(readBytes(folder / "m"), readBytes(path));
}

TEST(V1Layers, EveryTypeHasAName) {
  using V1 = caffe::V1LayerParameter;
  for (int type = 1; type <= V1::LayerType_MAX; ++type) {
    if (V1::LayerType_IsValid(type)) {
      EXPECT_STRNE(v1LayerTypeName(static_cast<V1::LayerType>(type)), "");
    }
  }
  EXPECT_STREQ(v1LayerTypeName(V1::SOFTMAX_LOSS), "SoftmaxWithLoss");
}

// The files of other programs depend on these field numbers and defaults.
TEST(Schema, HasCaffesFieldNumbersAndDefaults) {
  EXPECT_EQ(caffe::NetParameter::kLayerFieldNumber, 100);
  EXPECT_EQ(caffe::BlobProto::kDoubleDataFieldNumber, 8);
  EXPECT_EQ(caffe::LayerParameter::kClipParamFieldNumber, 148);
  EXPECT_EQ(caffe::SolverParameter::kWeightsFieldNumber, 42);
  caffe::SolverParameter solver;
  EXPECT_EQ(solver.type(), "SGD");
  EXPECT_EQ(solver.regularization_type(), "L2");
  EXPECT_FLOAT_EQ(solver.momentum2(), 0.999f);
  EXPECT_EQ(solver.snapshot_format(), caffe::SolverParameter::BINARYPROTO);
  caffe::LayerParameter layer;
  EXPECT_EQ(layer.batch_norm_param().eps(), 1e-5f);
  EXPECT_EQ(layer.pooling_param().round_mode(), caffe::PoolingParameter::CEIL);
  EXPECT_EQ(layer.data_param().backend(), caffe::DataParameter::LEVELDB);
  EXPECT_EQ(layer.loss_param().normalization(), caffe::LossParameter::VALID);
}

} // namespace
