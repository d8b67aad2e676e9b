//===- SnapshotTest.cpp - Snapshots under fire ----------------------------===//
#include "TrainingFixture.h"

#include "formats/ProtoFile.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <csignal>
#include <sys/resource.h>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;

namespace {

const char *const kFields = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 100000 "
                            "momentum: 0.9 snapshot: 1 ";

class SnapshotTest : public test::TrainingFixture {
protected:
  caffe::NetParameter modelProto() const {
    caffe::NetParameter net;
    formats::readProtoFile(folder / "snap_iter_1.caffemodel", net,
                           "caffemodel");
    return net;
  }
};

} // namespace

TEST_F(SnapshotTest, StateNamesTheModelAndHoldsTheHistory) {
  LogLines log;
  auto trainer = make(kFields);
  trainer->step(2);
  const auto state =
      formats::readSolverState(folder / "snap_iter_2.solverstate");
  EXPECT_EQ(state.state.iter(), 2);
  EXPECT_EQ(state.state.learned_net(), folder / "snap_iter_2.caffemodel");
  ASSERT_EQ(state.history.size(), 2u); // one per parameter
  EXPECT_EQ(state.history[0].dims, (std::vector<std::int64_t>{1, 3}));
  const auto model = formats::readWeights(folder / "snap_iter_2.caffemodel");
  EXPECT_EQ(model.netName, "Linear");
  ASSERT_EQ(model.layers.size(), 1u);
  EXPECT_EQ(model.layers[0].name, "ip");
  EXPECT_EQ(model.layers[0].blobs.size(), 2u);
}

TEST_F(SnapshotTest, Hdf5GoesOnWhereTheRunStood) {
  LogLines log;
  const std::string fields =
      std::string(kFields) + "snapshot_format: HDF5 average_loss: 3 ";
  auto whole = make(fields);
  whole->step(4);
  EXPECT_EQ(log.texts("Snapshotting to HDF5 file " + (folder / "snap_iter_4") +
                      ".caffemodel.h5")
                .size(),
            1u);
  EXPECT_EQ(log.texts("Snapshotting solver state to HDF5 file ").size(), 4u);
  auto resumed = make(fields, folder / "snap_iter_2.solverstate.h5");
  EXPECT_EQ(resumed->iteration(), 2);
  resumed->step(2);
  EXPECT_EQ(weights(*resumed), weights(*whole));
  // A state holds its losses in single precision.
  EXPECT_FLOAT_EQ(float(resumed->smoothedLoss()), float(whole->smoothedLoss()));
  // The format of the next snapshot is the solver's, not the file's.
  make(kFields, folder / "snap_iter_2.solverstate.h5")->step(1);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_3.solverstate"));
}

TEST_F(SnapshotTest, GradientsAreWrittenOnRequest) {
  LogLines log;
  make(kFields)->step(1);
  EXPECT_EQ(modelProto().layer(0).blobs(0).diff_size(), 0);
  auto trainer = make(std::string(kFields) + "snapshot_diff: true");
  trainer->step(1);
  const caffe::BlobProto blob = modelProto().layer(0).blobs(0);
  ASSERT_EQ(blob.diff_size(), 3);
  // What lies in the gradient buffers; this plan's update leaves them alone.
  for (const plan::Parameter &parameter :
       sessions.back()->manifest().parameters()) {
    const formats::Blob gradient =
        trainer->parameters().read(parameter.gradient_buffer_index(), {});
    const caffe::BlobProto written =
        modelProto().layer(0).blobs(static_cast<int>(parameter.index()));
    EXPECT_EQ(gradient.floats,
              std::vector<float>(written.diff().begin(), written.diff().end()));
  }
}

// A file size limit is what a full disk is to a test without a disk of its
// own: the write fails in the middle.
TEST_F(SnapshotTest, FullDiskKeepsThePreviousSnapshot) {
  LogLines log;
  auto trainer = make(kFields);
  trainer->step(1);
  const std::string model = test::readBytes(folder / "snap_iter_1.caffemodel");
  const std::string state = test::readBytes(folder / "snap_iter_1.solverstate");
  const std::size_t before = folder.entries();

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit, small;
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 16;
  setrlimit(RLIMIT_FSIZE, &small);
  test::expectError(ExitStatus::MachineLacks, "snap_iter_2.caffemodel",
                    [&] { trainer->step(1); });
  setrlimit(RLIMIT_FSIZE, &limit);

  EXPECT_EQ(folder.entries(), before); // and nothing half written
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.caffemodel"), model);
  EXPECT_EQ(test::readBytes(folder / "snap_iter_1.solverstate"), state);
}

TEST_F(SnapshotTest, DamagedAndMissingStatesAreRefused) {
  LogLines log;
  make(kFields)->step(1);
  const std::string path = folder / "snap_iter_1.solverstate";
  const std::string bytes = test::readBytes(path);
  test::writeBytes(path, bytes.substr(0, bytes.size() / 2));
  test::expectError(ExitStatus::BadInput, path, [&] { make(kFields, path); });
  test::writeBytes(path, bytes);
  std::filesystem::remove(folder / "snap_iter_1.caffemodel");
  test::expectError(ExitStatus::MachineLacks, "snap_iter_1.caffemodel",
                    [&] { make(kFields, path); });
  test::expectError(ExitStatus::MachineLacks, "gone.solverstate",
                    [&] { make(kFields, folder / "gone.solverstate"); });
}
