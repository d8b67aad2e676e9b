//===- DatabaseSourceTest.cpp - Data layers -------------------------------===//
#include "TestPlan.h"
#include "formats/BinaryProto.h"
#include "formats/Database.h"
#include "formats/Datum.h"
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

/// Images of 2 x 3 x 4 whose value at (c, h, w) of record n is
/// n * 24 + its row-major position; the label is n.
class DatabaseSourceTest : public testing::Test {
protected:
  void writeDatabase(int records,
                     formats::DbBackend backend = formats::DbBackend::Lmdb) {
    auto writer = formats::DbWriter::create(folder / "db", backend, true);
    for (int n = 0; n < records; ++n) {
      std::string pixels;
      for (int i = 0; i < 24; ++i)
        pixels += char(n * 24 + i);
      char key[16];
      std::snprintf(key, sizeof key, "%08d", n);
      writer->put(key, formats::encodeDatum(2, 3, 4, pixels, n));
    }
    writer->finish();
  }

  std::unique_ptr<BatchSource> open(const std::string &fields,
                                    std::vector<std::int64_t> dims,
                                    bool testPhase = true,
                                    const std::string &backend = "LMDB",
                                    std::vector<std::int64_t> strides = {},
                                    plan::DataType type = plan::F32) {
    data = test::makeBuffer("data", 0, 0, dims, strides, type);
    label = test::makeBuffer("label", 0, 0, {dims[0]});
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        "name: 'mnist' type: 'Data' top: 'data' top: 'label' "
        "data_param { source: 'db' backend: " +
        backend + " }");
    info.layer.MergeFrom(test::parse<caffe::LayerParameter>(fields));
    info.tops = {&data, &label};
    info.testPhase = testPhase;
    info.seed = {3};
    info.stream = "program/mnist";
    info.folders = {folder.path()};
    return databaseSource.open(info);
  }

  void read(BatchSource &source) {
    bytes.assign(data.size(), std::byte(0));
    labels.assign(static_cast<std::size_t>(label.dims(0)), -1);
    source.read({bytes.data(), reinterpret_cast<std::byte *>(labels.data())});
  }
  float at(std::size_t element) const {
    return reinterpret_cast<const float *>(bytes.data())[element];
  }

  test::LogLines log;
  test::TempFolder folder;
  plan::Buffer data, label;
  std::vector<std::byte> bytes;
  std::vector<float> labels;
};

using Labels = std::vector<float>;

} // namespace

TEST_F(DatabaseSourceTest, ReadsInOrderAndWrapsAround) {
  for (auto [backend, name] :
       {std::pair{formats::DbBackend::Lmdb, "LMDB"},
        std::pair{formats::DbBackend::LevelDb, "LEVELDB"}}) {
    std::filesystem::remove_all(folder / "db");
    writeDatabase(5, backend);
    auto source = open("", {3, 2, 3, 4}, true, name);
    read(*source);
    EXPECT_EQ(labels, (Labels{0, 1, 2}));
    for (int i = 0; i < 72; ++i)
      EXPECT_EQ(at(i), float(i));
    read(*source);
    EXPECT_EQ(labels, (Labels{3, 4, 0}));
    EXPECT_EQ(at(0), 72);
    EXPECT_EQ(source->position().records, 6u);
    EXPECT_EQ(source->position().epoch, 1u);
    EXPECT_EQ(source->position().position, 1u);
  }
}

TEST_F(DatabaseSourceTest, SeekContinuesExactly) {
  writeDatabase(5);
  auto source =
      open("transform_param { mirror: true crop_size: 2 }", {3, 2, 2, 2},
           /*testPhase=*/false);
  for (int i = 0; i < 4; ++i) {
    auto resumed = open("transform_param { mirror: true crop_size: 2 }",
                        {3, 2, 2, 2}, /*testPhase=*/false);
    resumed->seek(source->position());
    read(*source);
    const auto expected = bytes;
    const auto expectedLabels = labels;
    read(*resumed);
    EXPECT_EQ(bytes, expected) << i;
    EXPECT_EQ(labels, expectedLabels);
  }
  test::expectError(ExitStatus::BadInput, "has only 5", [&] {
    source->seek({100, 1, 17});
  });
}

TEST_F(DatabaseSourceTest, WritesTheBuffersLayout) {
  writeDatabase(2);
  auto source = open("", {2, 2, 3, 4}, true, "LMDB", {24, 1, 8, 2});
  read(*source);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 2; ++c)
      for (int p = 0; p < 12; ++p)
        EXPECT_EQ(at(n * 24 + p * 2 + c), float(n * 24 + c * 12 + p));
}

TEST_F(DatabaseSourceTest, WritesDoublesForAnF64Plan) {
  writeDatabase(1);
  auto source = open("transform_param { scale: 0.1 }", {1, 2, 3, 4}, true,
                     "LMDB", {}, plan::F64);
  read(*source);
  // The scale is a float, as in Caffe; the product is not rounded to float.
  EXPECT_DOUBLE_EQ(reinterpret_cast<const double *>(bytes.data())[7],
                   7 * double(0.1f));
}

TEST_F(DatabaseSourceTest, AppliesScaleMeanValueAndOldFields) {
  writeDatabase(1);
  auto source =
      open("transform_param { scale: 0.5 mean_value: 2 }", {1, 2, 3, 4});
  read(*source);
  EXPECT_EQ(at(7), (7 - 2) * 0.5f);
  source =
      open("transform_param { mean_value: 2 mean_value: 10 }", {1, 2, 3, 4});
  read(*source);
  EXPECT_EQ(at(7), 5);
  EXPECT_EQ(at(13), 3);
  // Here the settings are in the old fields of data_param.
  source = open("data_param { scale: 0.25 crop_size: 2 }", {1, 2, 2, 2});
  read(*source);
  // The centre of 3 x 4 for 2 x 2 begins at row 0, column 1.
  EXPECT_EQ(at(0), 0.25f);
  EXPECT_EQ(at(2), 5 * 0.25f);
}

TEST_F(DatabaseSourceTest, SubtractsTheMeanFileAtTheCrop) {
  writeDatabase(1);
  formats::Blob mean;
  mean.dims = {1, 2, 3, 4};
  mean.legacyShape = true;
  for (int i = 0; i < 24; ++i)
    mean.floats.push_back(float(i) - 1);
  formats::writeBinaryProto(folder / "mean.binaryproto", mean);
  auto source = open("transform_param { mean_file: 'mean.binaryproto' "
                     "crop_size: 2 scale: 3 }",
                     {1, 2, 2, 2});
  read(*source);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(at(i), 3); // every pixel is one above its mean
}

TEST_F(DatabaseSourceTest, TrainingCropsAndMirrorsAtRandom) {
  writeDatabase(1);
  auto source = open("transform_param { crop_size: 2 mirror: true }",
                     {400, 2, 2, 2}, /*testPhase=*/false);
  read(*source);
  std::set<float> corners;
  int mirrored = 0;
  for (int n = 0; n < 400; ++n) {
    const float left = at(n * 8), right = at(n * 8 + 1);
    mirrored += left > right;
    corners.insert(std::min(left, right));
    EXPECT_EQ(std::abs(left - right), 1);
    EXPECT_EQ(at(n * 8 + 2), left + 4); // the row below
  }
  // Two rows and three columns where a crop can begin; all occur in 400 draws.
  EXPECT_EQ(corners, (std::set<float>{0, 1, 2, 4, 5, 6}));
  EXPECT_NEAR(mirrored, 200, 60); // six standard deviations
}

TEST_F(DatabaseSourceTest, TestPhaseCropsTheCentre) {
  writeDatabase(1);
  auto source = open("transform_param { crop_size: 2 }", {5, 2, 2, 2}, true);
  read(*source);
  for (int n = 0; n < 5; ++n)
    EXPECT_EQ(at(n * 8), 1);
}

TEST_F(DatabaseSourceTest, RandSkipHasNoEffect) { // as in Caffe 1.0
  writeDatabase(8);
  auto source = open("data_param { rand_skip: 5 }", {1, 2, 3, 4});
  EXPECT_EQ(source->position().position, 0u);
  read(*source);
  EXPECT_EQ(labels[0], 0);
}

TEST_F(DatabaseSourceTest, ErrorOfAnotherShapeNamesShapesAndRecord) {
  writeDatabase(2);
  auto writer =
      formats::DbWriter::create(folder / "other", formats::DbBackend::Lmdb);
  writer->put("00000007", formats::encodeDatum(1, 2, 2, "abcd", 3));
  writer->finish();
  std::filesystem::remove_all(folder / "db");
  std::filesystem::rename(folder / "other", folder / "db");
  auto source = open("", {2, 2, 3, 4});
  try {
    read(*source);
    FAIL() << "an image of another shape was accepted";
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_EQ(error.status(), ExitStatus::BadInput);
    for (const char *part : {"'mnist'", "00000007", "1 x 2 x 2", "2 x 3 x 4"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(DatabaseSourceTest, ErrorsNameTheMismatch) {
  using test::expectError;
  expectError(ExitStatus::Unavailable, "db", [&] { open("", {2, 2, 3, 4}); });
  writeDatabase(2);
  const auto bad = ExitStatus::BadInput;
  auto readWith = [&](const std::string &fields) {
    auto source = open("transform_param { " + fields + " }", {1, 2, 3, 4});
    read(*source);
  };
  expectError(bad, "2 channels",
              [&] { readWith("mean_value: 1 mean_value: 2 mean_value: 3"); });
  expectError(bad, "exclude each other",
              [&] { readWith("mean_value: 1 mean_file: 'm'"); });
  expectError(ExitStatus::Unavailable, "mean file",
              [&] { readWith("mean_file: 'm'"); });
  formats::Blob mean;
  mean.dims = {1, 2, 2, 4};
  mean.floats.resize(16);
  formats::writeBinaryProto(folder / "m", mean);
  expectError(bad, "mean image of 2 x 2 x 4",
              [&] { readWith("mean_file: 'm'"); });
  expectError(bad, "smaller than crop_size", [&] {
    auto source = open("transform_param { crop_size: 9 }", {1, 2, 9, 9});
    read(*source);
  });
}

TEST_F(DatabaseSourceTest, ReadsADatabaseThatCaffeWrote) {
  const std::string path = test::sharedPath("data/caffe_dbs/mnist500_lmdb");
  SKIP_WITHOUT(path);
  data = test::makeBuffer("data", 0, 0, {64, 1, 28, 28});
  label = test::makeBuffer("label", 0, 0, {64});
  DataLayerInfo info;
  info.layer = test::parse<caffe::LayerParameter>(
      "name: 'mnist' type: 'Data' top: 'data' top: 'label' "
      "transform_param { scale: 0.00390625 } data_param { backend: LMDB }");
  info.layer.mutable_data_param()->set_source(path);
  info.tops = {&data, &label};
  info.stream = "x";
  auto source = databaseSource.open(info);
  read(*source);
  // MNIST's test set begins with these labels.
  EXPECT_EQ(Labels(labels.begin(), labels.begin() + 6),
            (Labels{7, 2, 1, 0, 4, 1}));
  float largest = 0;
  for (int i = 0; i < 28 * 28; ++i)
    largest = std::max(largest, at(i));
  EXPECT_EQ(largest, 255 / 256.0f); // the first image has a fully black pixel
}
