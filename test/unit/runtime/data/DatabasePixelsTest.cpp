//===- DatabasePixelsTest.cpp - Images passed to devices as bytes ---------===//
//
// Compares the conversion by a device's kernel, which is simulated here, with
// the host's conversion of the same records.
//
//===----------------------------------------------------------------------===//
#include "TestPlan.h"
#include "formats/BinaryProto.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "runtime/data/BatchSource.h"
#include "runtime/executor/PixelBlock.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

using namespace brew;
using namespace brew::runtime;

namespace {

struct Record {
  int rows, columns;
  bool areBytes = true;
};

constexpr int kChannels = 2;

class DatabasePixels : public testing::Test {
protected:
  /// Writes records. Values increase by 7 (modulo 256), over all channels, rows
  /// and columns of all records.
  void writeDatabase(const std::vector<Record> &records) {
    auto writer = formats::DbWriter::create(folder / "db",
                                            formats::DbBackend::Lmdb, true);
    int value = 0, number = 0;
    for (const Record &record : records) {
      std::string pixels;
      caffe::Datum datum;
      datum.set_channels(kChannels);
      datum.set_height(record.rows);
      datum.set_width(record.columns);
      datum.set_label(number);
      for (int i = 0; i < kChannels * record.rows * record.columns; ++i) {
        const auto pixel = static_cast<unsigned char>(value++ * 7);
        pixels += static_cast<char>(pixel);
        datum.add_float_data(pixel);
      }
      char key[16];
      std::snprintf(key, sizeof key, "%08d", number);
      writer->put(key, record.areBytes ? formats::encodeDatum(
                                             kChannels, record.rows,
                                             record.columns, pixels, number)
                                       : datum.SerializeAsString());
      ++number;
    }
    writer->finish();
  }

  void writeMean(int rows, int columns) {
    formats::Blob mean;
    mean.dims = {1, kChannels, rows, columns};
    mean.legacyShape = true;
    for (int i = 0; i < kChannels * rows * columns; ++i)
      mean.floats.push_back(float(i) * 0.37f + 11);
    formats::writeBinaryProto(folder / "mean.binaryproto", mean);
  }

  /// Opens a source of batches of `batch` images of `rows` x `columns`. The
  /// device receives them as images of size `image`.
  std::unique_ptr<BatchSource> open(const std::string &transform,
                                    std::int64_t batch, std::int64_t rows,
                                    std::int64_t columns,
                                    std::array<std::int64_t, 2> image) {
    data = test::makeBuffer("data", 0, 0, {batch, kChannels, rows, columns});
    conversion.clear_image_dims();
    for (std::int64_t dim : image)
      conversion.add_image_dims(dim);
    layout = PixelBlock::of(data, conversion);
    block.assign(layout.size, std::byte(0xee));
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        "name: 'in' type: 'Data' top: 'data' data_param { source: 'db' "
        "backend: LMDB } transform_param { " +
        transform + " }");
    info.tops = {&data};
    info.seed = {3};
    info.stream = "program/in";
    info.folders = {folder.path()};
    info.pixels = &conversion;
    return databaseSource.open(info);
  }

  /// Reads a batch converted by the host.
  std::vector<float> read(BatchSource &source) {
    std::vector<float> values(data.size() / sizeof(float), -1);
    source.read({reinterpret_cast<std::byte *>(values.data())});
    return values;
  }

  /// Returns (pixel - mean) * scale of the block's images, as a kernel computes
  /// it.
  std::vector<float> convert(const PixelMean &mean, float constant,
                             float scale) {
    std::vector<float> values;
    const std::int64_t rows = data.dims(2), columns = data.dims(3);
    for (std::int64_t n = 0; n < data.dims(0); ++n)
      for (std::int64_t c = 0; c < kChannels; ++c)
        for (std::int64_t h = 0; h < rows; ++h)
          for (std::int64_t w = 0; w < columns; ++w) {
            const std::int32_t *crop = layout.cropOf(n, block.data());
            const std::int64_t column = crop[0] ? columns - 1 - w : w;
            const std::int64_t top = layout.hasFullRecords ? crop[1] : 0;
            const std::int64_t left = layout.hasFullRecords ? crop[2] : 0;
            const std::uint8_t pixel = layout.image(
                n, block.data())[(c * layout.rows + top + h) * layout.columns +
                                 left + column];
            float subtracted = constant;
            if (mean.dims.size() == 3 && mean.dims[1] == 1)
              subtracted = mean.values[static_cast<std::size_t>(c)];
            else if (mean.dims.size() == 3)
              subtracted = mean.values[static_cast<std::size_t>(
                  (c * mean.dims[1] + crop[1] + h) * mean.dims[2] + crop[2] +
                  column)];
            values.push_back((float(pixel) - subtracted) * scale);
          }
    return values;
  }

  bool readPixels(BatchSource &source, std::vector<float> &converted) {
    converted.assign(data.size() / sizeof(float), -1);
    return source.readPixels({reinterpret_cast<std::byte *>(converted.data())},
                             block.data());
  }

  test::LogLines log;
  test::TempFolder folder;
  plan::Buffer data;
  plan::PixelConversion conversion;
  PixelBlock layout;
  std::vector<std::byte> block;
};

} // namespace

TEST_F(DatabasePixels, DeviceAndHostCropRecordsAlike) {
  writeDatabase({{5, 7}, {5, 7}, {5, 7}});
  writeMean(5, 7);
  struct {
    const char *fields;
    float constant;
  } cases[] = {{"crop_size: 4 mirror: true mean_value: 7 scale: 0.3", 7},
               {"crop_size: 4 mean_value: 3 mean_value: 9 scale: 0.3", 0},
               {"crop_size: 4 mirror: true mean_file: 'mean.binaryproto' "
                "scale: 0.3",
                0}};
  for (const auto &[fields, constant] : cases)
    // Full records, and crops made by the host.
    for (std::array<std::int64_t, 2> image :
         {std::array<std::int64_t, 2>{5, 7}, {4, 4}}) {
      auto host = open(fields, 20, 4, 4, image);
      auto device = open(fields, 20, 4, 4, image);
      for (int round = 0; round < 2; ++round) {
        const std::vector<float> expected = read(*host);
        std::vector<float> unwritten;
        ASSERT_TRUE(readPixels(*device, unwritten));
        EXPECT_EQ(unwritten, std::vector<float>(unwritten.size(), -1));
        EXPECT_EQ(convert(*device->pixelMean(), constant, 0.3f), expected)
            << fields << " " << image[0];
      }
    }
}

TEST_F(DatabasePixels, PassesFullRecordsWithTheirCrops) {
  writeDatabase({{3, 4}});
  auto source = open("crop_size: 2", 50, 2, 2, {3, 4});
  std::vector<float> unwritten;
  ASSERT_TRUE(readPixels(*source, unwritten));
  EXPECT_EQ(layout.imageSize, 24u);
  EXPECT_EQ(layout.cropsOffset % 64, 0u);
  std::vector<bool> seenCrops(6);
  for (int n = 0; n < 50; ++n) {
    for (int i = 0; i < 24; ++i)
      EXPECT_EQ(layout.image(n, block.data())[i], i * 7);
    const std::int32_t *crop = layout.cropOf(n, block.data());
    EXPECT_EQ(crop[0], 0);
    ASSERT_TRUE(crop[1] >= 0 && crop[1] < 2 && crop[2] >= 0 && crop[2] < 3);
    seenCrops[static_cast<std::size_t>(crop[1] * 3 + crop[2])] = true;
  }
  EXPECT_EQ(seenCrops, std::vector<bool>(6, true));
}

TEST_F(DatabasePixels, HostCropsRecordsOfAnotherSize) {
  writeDatabase({{3, 4}, {6, 5}, {3, 3}, {4, 4}});
  const char *fields = "crop_size: 3 mirror: true mean_value: 5 scale: 2";
  auto host = open(fields, 12, 3, 3, {3, 4});
  auto device = open(fields, 12, 3, 3, {3, 4});
  const std::vector<float> expected = read(*host);
  std::vector<float> unwritten;
  ASSERT_TRUE(readPixels(*device, unwritten));
  EXPECT_EQ(convert({}, 5, 2), expected);
  const std::int32_t *crop = layout.cropOf(1, block.data());
  EXPECT_EQ(crop[1], 0);
  EXPECT_EQ(crop[2], 0);
}

TEST_F(DatabasePixels, BytesAreConvertedIfALaterRecordHasFloats) {
  writeDatabase({{5, 7}, {5, 7}, {5, 7, false}});
  writeMean(5, 7);
  for (const char *fields :
       {"crop_size: 4 mirror: true mean_file: 'mean.binaryproto'",
        "crop_size: 4 mirror: true mean_value: 2 mean_value: 4"})
    for (std::array<std::int64_t, 2> image :
         {std::array<std::int64_t, 2>{5, 7}, {4, 4}}) {
      auto host = open(fields, 3, 4, 4, image);
      auto device = open(fields, 3, 4, 4, image);
      const std::vector<float> expected = read(*host);
      std::vector<float> converted;
      EXPECT_FALSE(readPixels(*device, converted));
      EXPECT_EQ(converted, expected) << fields;
    }
}

TEST_F(DatabasePixels, DoesNotStoreUnwantedImages) {
  writeDatabase({{3, 4}});
  auto source = open("crop_size: 2", 1, 2, 2, {3, 4});
  EXPECT_FALSE(source->readPixels({nullptr}, block.data()));
  EXPECT_EQ(block[0], std::byte(0xee));
}
