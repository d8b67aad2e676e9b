//===- RankSourcesTest.cpp - Records shared by ranks ----------------------===//
#include "TestPlan.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/hdf5/Hdf5.h"
#include "runtime/data/BatchSource.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

/// Writes a database and an HDF5 file of seven records whose labels are their
/// numbers.
class RankSourcesTest : public testing::TestWithParam<const char *> {
protected:
  static constexpr int kRecords = 7;

  RankSourcesTest() {
    auto writer = formats::DbWriter::create(folder / "db",
                                            formats::DbBackend::Lmdb, true);
    std::vector<float> values, labels;
    for (int n = 0; n < kRecords; ++n) {
      char key[16];
      std::snprintf(key, sizeof key, "%08d", n);
      writer->put(key,
                  formats::encodeDatum(1, 1, 1, std::string(1, char(n)), n));
      values.push_back(float(n));
      labels.push_back(float(n));
    }
    writer->finish();
    formats::Hdf5Writer file(folder / "a.h5");
    file.write("data", {kRecords, 1, 1, 1}, values.data());
    file.write("label", {kRecords}, labels.data());
    file.commit();
    test::writeBytes(folder / "list.txt", "a.h5\n");
  }

  std::unique_ptr<BatchSource> open(std::uint64_t rank, std::uint64_t ranks,
                                    bool testPhase = false,
                                    const std::string &hdf5Fields = "") {
    data = test::makeBuffer("data", 0, 0, {2, 1, 1, 1});
    label = test::makeBuffer("label", 0, 0, {2});
    const bool isDatabase = GetParam() == std::string("Data");
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        std::string("name: 'd' top: 'data' top: 'label' type: '") + GetParam() +
        "' " +
        (isDatabase ? "data_param { source: 'db' backend: LMDB }"
                    : "hdf5_data_param { source: 'list.txt' batch_size: 2 " +
                          hdf5Fields + " }"));
    info.tops = {&data, &label};
    info.testPhase = testPhase;
    info.seed = {5, rank};
    info.stream = "program/d";
    info.folders = {folder.path()};
    info.readerOptions.rank = rank;
    info.readerOptions.ranks = ranks;
    return isDatabase ? databaseSource.open(info) : hdf5Source.open(info);
  }

  std::vector<int> read(BatchSource &source, int batches = 1) {
    std::vector<int> result;
    for (int i = 0; i < batches; ++i) {
      std::vector<float> x(2), y(2);
      source.read({reinterpret_cast<std::byte *>(x.data()),
                   reinterpret_cast<std::byte *>(y.data())});
      result.insert(result.end(), y.begin(), y.end());
    }
    return result;
  }

  test::LogLines log;
  test::TempFolder folder;
  plan::Buffer data, label;
};

} // namespace

TEST_P(RankSourcesTest, RecordIGoesToRankIModuloN) {
  for (std::uint64_t ranks : {1, 2, 3, 4, 9})
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      auto source = open(rank, ranks);
      std::vector<int> expected;
      // Records are counted across passes.
      for (std::uint64_t i = 0; i < 8; ++i)
        expected.push_back(int((i * ranks + rank) % kRecords));
      EXPECT_EQ(read(*source, 4), expected) << rank << " of " << ranks;
      EXPECT_EQ(source->position().records, 8u);
      EXPECT_EQ(source->position().epoch, 8 * ranks / kRecords);
      EXPECT_EQ(source->position().position, 8 * ranks % kRecords);
    }
}

TEST_P(RankSourcesTest, TestsReadEveryRecord) {
  EXPECT_EQ(read(*open(1, 2, /*testPhase=*/true), 2),
            (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(RankSourcesTest, PositionsFitAnyNumberOfRanks) {
  auto first = open(0, 2);
  read(*first); // 0, 2; the other rank has read 1, 3
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    auto resumed = open(rank, 3);
    resumed->seek(first->position());
    EXPECT_EQ(read(*resumed).front(), int(4 + rank));
  }
}

TEST_P(RankSourcesTest, IdentityIsTheSameForAllRanks) {
  const std::string identity = open(0, 2)->identity();
  EXPECT_EQ(open(1, 2)->identity(), identity);
  EXPECT_NE(identity, "");
}

INSTANTIATE_TEST_SUITE_P(Layers, RankSourcesTest,
                         testing::Values("Data", "HDF5Data"));

/// Ranks that shuffle share the rows of a pass.
using RankShuffleTest = RankSourcesTest;
TEST_P(RankShuffleTest, RanksReadEveryRowOnce) {
  std::multiset<int> all;
  for (std::uint64_t rank = 0; rank < 7; ++rank)
    all.insert(read(*open(rank, 7, false, "shuffle: true")).front());
  EXPECT_EQ(all, (std::multiset<int>{0, 1, 2, 3, 4, 5, 6}));
}
INSTANTIATE_TEST_SUITE_P(Layers, RankShuffleTest, testing::Values("HDF5Data"));
