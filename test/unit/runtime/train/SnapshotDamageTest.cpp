//===- SnapshotDamageTest.cpp - Damaged snapshots -------------------------===//
#include "TrainingFixture.h"

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <filesystem>
#include <string>
#include <vector>

using namespace brew;
using test::LogLines;

namespace {

const char *const kFields = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 100000 "
                            "momentum: 0.9 snapshot: 1 ";

class SnapshotDamageTest : public test::TrainingFixture {};

} // namespace

TEST_F(SnapshotDamageTest, RefusesDamagedAndMissingStates) {
  LogLines log;
  make(kFields)->step(1);
  const std::string path = folder / "snap_iter_1.solverstate";
  const std::string bytes = test::readBytes(path);
  test::writeBytes(path, bytes.substr(0, bytes.size() / 2));
  test::expectError(ExitStatus::BadInput, path, [&] { make(kFields, path); });
  test::writeBytes(path, bytes);
  std::filesystem::remove(folder / "snap_iter_1.caffemodel");
  test::expectError(ExitStatus::Unavailable, "snap_iter_1.caffemodel",
                    [&] { make(kFields, path); });
  test::expectError(ExitStatus::Unavailable, "gone.solverstate",
                    [&] { make(kFields, folder / "gone.solverstate"); });
}

TEST_F(SnapshotDamageTest, RefusesChangedBits) {
  LogLines log;
  for (const char *format : {"BINARYPROTO", "HDF5"}) {
    const std::string fields =
        std::string(kFields) + "snapshot_format: " + format;
    make(fields)->step(1);
    const std::string extension = format[0] == 'H' ? ".h5" : "";
    const std::string state = folder / ("snap_iter_1.solverstate" + extension);
    const std::string model = folder / ("snap_iter_1.caffemodel" + extension);
    for (const std::string &path : {state, model}) {
      const std::string bytes = test::readBytes(path);
      // Only the checksum detects a change here, because any number is valid.
      const std::vector<float> values =
          path == state ? formats::readSolverState(path).history[0].floats
                        : formats::readWeights(path).layers[0].blobs[0].floats;
      const std::string valueBytes(
          reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(float));
      const std::size_t at = bytes.find(valueBytes);
      ASSERT_NE(at, std::string::npos) << path;
      std::string changed = bytes;
      changed[at + 1] ^= 4;
      test::writeBytes(path, changed);
      test::expectError(ExitStatus::BadInput, "checksum is wrong",
                        [&] { make(fields, state); });
      test::writeBytes(path, bytes);
    }
    EXPECT_EQ(make(fields, state)->iteration(), 1);
  }
}

// A changed bit in a name could make the file look like a state of Caffe, with
// other random numbers and unverified weights, or like a state without weights.
TEST_F(SnapshotDamageTest, RefusesChangedNames) {
  LogLines log;
  for (const char *format : {"BINARYPROTO", "HDF5"}) {
    const std::string fields =
        std::string(kFields) + "snapshot_format: " + format;
    make(fields)->step(1);
    const std::string extension = format[0] == 'H' ? ".h5" : "";
    const std::string path = folder / ("snap_iter_1.solverstate" + extension);
    const std::string bytes = test::readBytes(path);
    int changedNames = 0;
    for (const std::string name :
         {"brew_state", "learned_net", "/checksum", "/weights"}) {
      const std::size_t at = bytes.find(name);
      if (at == std::string::npos)
        continue;
      ++changedNames;
      std::string changed = bytes;
      changed[at + name.size() - 1] ^= 4;
      test::writeBytes(path, changed);
      test::expectError(ExitStatus::BadInput, path + ": damaged solverstate",
                        [&] { make(fields, path); });
    }
    EXPECT_EQ(changedNames, format[0] == 'H' ? 4 : 2);
    test::writeBytes(path, bytes);
    EXPECT_EQ(make(fields, path)->iteration(), 1);
  }
}

TEST_F(SnapshotDamageTest, RefusesStatesTruncatedAtAnyLength) {
  LogLines log;
  make(kFields)->step(1);
  const std::string path = folder / "snap_iter_1.solverstate";
  const std::string bytes = test::readBytes(path);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    test::writeBytes(path, bytes.substr(0, length));
    EXPECT_TRUE(test::refusedAsBadInput([&] {
      formats::readSolverState(path);
    })) << length
        << " of " << bytes.size();
  }
}
