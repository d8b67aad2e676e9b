//===- Hdf5SourceTest.cpp - Order of rows across files --------------------===//
#include "TestPlan.h"
#include "formats/hdf5/Hdf5.h"
#include "runtime/data/BatchSource.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

/// Writes files whose rows are numbered across files. Row n has the data
/// (n, n + 0.5) and the label n.
class Hdf5SourceTest : public testing::Test {
protected:
  void writeFile(const std::string &name, int rows) {
    std::vector<float> data, labels;
    for (int i = 0; i < rows; ++i, ++nextRow) {
      data.push_back(float(nextRow));
      data.push_back(float(nextRow) + 0.5f);
      labels.push_back(float(nextRow));
    }
    formats::Hdf5Writer writer(folder / name);
    writer.write("data", {rows, 2}, data.data());
    writer.write("label", {rows}, labels.data());
    writer.commit();
    list += name + "\n";
    test::writeBytes(folder / "list.txt", list);
  }

  std::unique_ptr<BatchSource> open(int batch, bool shuffle,
                                    std::uint64_t seed = 1) {
    data = test::makeBuffer("data", 0, 0, {batch, 2});
    label = test::makeBuffer("label", 0, 0, {batch});
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        "name: 'data' type: 'HDF5Data' top: 'data' top: 'label' "
        "hdf5_data_param { source: 'list.txt' batch_size: 1 shuffle: " +
        std::string(shuffle ? "true" : "false") + " }");
    info.tops = {&data, &label};
    info.seed = {seed};
    info.stream = "program/data";
    info.folders = {folder.path()};
    return hdf5Source.open(info);
  }

  /// Returns the labels of the next batch. Checks that the data match.
  std::vector<int> read(BatchSource &source) {
    std::vector<float> x(data.size() / sizeof(float)), y(x.size() / 2);
    source.read({reinterpret_cast<std::byte *>(x.data()),
                 reinterpret_cast<std::byte *>(y.data())});
    std::vector<int> result;
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(x[2 * i], y[i]);
      EXPECT_EQ(x[2 * i + 1], y[i] + 0.5f);
      result.push_back(int(y[i]));
    }
    return result;
  }

  test::LogLines log;
  test::TempFolder folder;
  std::string list;
  int nextRow = 0;
  plan::Buffer data, label;
};

using Rows = std::vector<int>;

} // namespace

TEST_F(Hdf5SourceTest, BatchesContinueAcrossFilesAndPasses) {
  writeFile("a.h5", 3);
  writeFile("b.h5", 2);
  auto source = open(4, false);
  EXPECT_EQ(read(*source), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(read(*source), (Rows{4, 0, 1, 2}));
  EXPECT_EQ(read(*source), (Rows{3, 4, 0, 1}));
  EXPECT_EQ(source->position().records, 12u);
  EXPECT_EQ(source->position().epoch, 2u);
  EXPECT_EQ(source->position().position, 2u);
}

TEST_F(Hdf5SourceTest, OneFileWrapsWithinABatch) {
  writeFile("a.h5", 3);
  auto source = open(7, false);
  EXPECT_EQ(read(*source), (Rows{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(read(*source), (Rows{1, 2, 0, 1, 2, 0, 1}));
}

TEST_F(Hdf5SourceTest, ShuffledPassesContainEveryRowOnce) {
  writeFile("a.h5", 30);
  writeFile("b.h5", 20);
  auto source = open(50, true);
  const Rows first = read(*source), second = read(*source);
  EXPECT_EQ(std::set<int>(first.begin(), first.end()).size(), 50u);
  EXPECT_EQ(std::set<int>(second.begin(), second.end()).size(), 50u);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  // As in Caffe, rows of different files are not mixed.
  const bool aFirst = first[0] < 30;
  for (int i = 0; i < (aFirst ? 30 : 20); ++i)
    EXPECT_EQ(first[i] < 30, aFirst);
  auto sameSeed = open(50, true);
  EXPECT_EQ(read(*sameSeed), first);
  auto otherSeed = open(50, true, 2);
  EXPECT_NE(read(*otherSeed), first);
}

TEST_F(Hdf5SourceTest, SeekContinuesExactly) {
  writeFile("a.h5", 3);
  writeFile("b.h5", 2);
  for (bool shuffle : {false, true}) {
    auto source = open(4, shuffle);
    for (int batches = 0; batches < 6; ++batches) {
      auto resumed = open(4, shuffle);
      resumed->seek(source->position());
      const Rows expected = read(*source);
      EXPECT_EQ(read(*resumed), expected) << shuffle << " " << batches;
      EXPECT_EQ(resumed->position().records, source->position().records);
    }
  }
  auto source = open(4, false);
  test::expectError(ExitStatus::BadInput, "which have fewer", [&] {
    source->seek({100, 1, 9});
  });
}

TEST_F(Hdf5SourceTest, ReportsFileOfAnotherShape) {
  writeFile("a.h5", 3);
  formats::Hdf5Writer writer(folder / "b.h5");
  const std::vector<float> values(9);
  writer.write("data", {3, 3}, values.data());
  writer.write("label", {3}, values.data());
  writer.commit();
  test::writeBytes(folder / "list.txt", "a.h5\nb.h5\n");
  auto source = open(2, false);
  read(*source);
  try {
    read(*source);
    FAIL() << "the file of another shape was accepted";
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_EQ(error.status(), ExitStatus::BadInput);
    for (const char *part : {"'data'", "b.h5", "3 x 3", "rows of 2"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(Hdf5SourceTest, ReportsMissingFilesAndTransformations) {
  test::expectError(ExitStatus::Unavailable, "list.txt",
                    [&] { open(2, false); });
  test::writeBytes(folder / "list.txt", "gone.h5\n");
  test::expectError(ExitStatus::Unavailable, "gone.h5",
                    [&] { open(2, false); });
  DataLayerInfo info;
  info.layer = test::parse<caffe::LayerParameter>(
      "name: 'd' type: 'HDF5Data' top: 'data' transform_param { scale: 2 }");
  data = test::makeBuffer("data", 0, 0, {1, 2});
  info.tops = {&data};
  test::expectError(ExitStatus::BadInput, "does not transform",
                    [&] { hdf5Source.open(info); });
}
