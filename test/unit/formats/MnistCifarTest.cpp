//===- MnistCifarTest.cpp -------------------------------------------------===//
#include "formats/image/MnistCifar.h"
#include "test/common/TestFiles.h"

#include <zlib.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

std::string bigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// Returns an IDX file of `count` images of 2x3 pixels with values 0, 1, 2...
std::string imageFile(uint32_t count = 3) {
  std::string bytes =
      bigEndian(0x803) + bigEndian(count) + bigEndian(2) + bigEndian(3);
  for (uint32_t i = 0; i < count * 6; ++i)
    bytes += static_cast<char>(i);
  return bytes;
}

std::string labelFile(const std::string &labels) {
  return bigEndian(0x801) + bigEndian(static_cast<uint32_t>(labels.size())) +
         labels;
}

void writeGzip(const std::string &path, const std::string &bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

std::vector<int> readAllLabels(const std::string &images,
                               const std::string &labels) {
  MnistReader reader(images, labels);
  std::vector<uint8_t> pixels;
  std::vector<int> all;
  for (int label; reader.next(pixels, label);) {
    EXPECT_EQ(pixels.size(), 6u);
    EXPECT_EQ(pixels[5], all.size() * 6 + 5);
    all.push_back(label);
  }
  return all;
}

struct MnistCifar : testing::Test {
  TempFolder folder;
  std::string images = folder / "images", labels = folder / "labels";
  std::string goodLabels = std::string("\x07\x00\x09", 3);
};

TEST_F(MnistCifar, ReadsPlainAndGzippedMnist) {
  writeBytes(images, imageFile());
  writeBytes(labels, labelFile(goodLabels));
  EXPECT_EQ(readAllLabels(images, labels), (std::vector<int>{7, 0, 9}));
  writeGzip(images, imageFile());
  writeGzip(labels, labelFile(goodLabels));
  EXPECT_EQ(readAllLabels(images, labels), (std::vector<int>{7, 0, 9}));
}

TEST_F(MnistCifar, ReportsMnistErrors) {
  writeBytes(images, imageFile());
  writeBytes(labels, labelFile(goodLabels));
  expectError(ExitStatus::Unavailable, "none: file not found",
              [&] { MnistReader(folder / "none", labels); });
  expectError(ExitStatus::BadInput, "is a folder",
              [&] { MnistReader(folder.path(), labels); });
  expectError(ExitStatus::BadInput,
              "not an IDX file of images: magic number 0x00000801",
              [&] { MnistReader(labels, images); });
  writeBytes(labels, labelFile("\x01\x02"));
  expectError(ExitStatus::BadInput, "has 3 images, but",
              [&] { MnistReader(images, labels); });
  writeBytes(labels, labelFile("\x01\x02\x0a"));
  expectError(ExitStatus::BadInput, "label 2 is 10, outside [0, 10)",
              [&] { readAllLabels(images, labels); });
  writeBytes(labels, labelFile(goodLabels) + "x");
  expectError(ExitStatus::BadInput, "more than the 3 entries",
              [&] { readAllLabels(images, labels); });
  writeBytes(labels, labelFile(goodLabels));
  writeBytes(images, bigEndian(0x803) + bigEndian(3) + bigEndian(1u << 31) +
                         bigEndian(1u << 31));
  expectError(ExitStatus::BadInput, "damaged: images of",
              [&] { MnistReader(images, labels); });
}

TEST_F(MnistCifar, RefusesMnistTruncatedAtAnyLength) {
  writeBytes(labels, labelFile(goodLabels));
  std::string plainBytes = imageFile();
  for (size_t length = 0; length < plainBytes.size(); ++length) {
    writeBytes(images, plainBytes.substr(0, length));
    EXPECT_TRUE(refusedAsBadInput([&] { readAllLabels(images, labels); }));
  }
  writeGzip(images, plainBytes);
  std::string gzipBytes = readBytes(images);
  for (size_t length = 0; length < gzipBytes.size(); ++length) {
    writeBytes(images, gzipBytes.substr(0, length));
    EXPECT_TRUE(refusedAsBadInput([&] { readAllLabels(images, labels); }))
        << length;
  }
}

TEST_F(MnistCifar, RefusesMnistWithWrongGzipChecksum) {
  writeBytes(labels, labelFile(goodLabels));
  writeGzip(images, imageFile());
  std::string gzipBytes = readBytes(images);
  gzipBytes[gzipBytes.size() - 8] ^= 1; // the stored CRC
  writeBytes(images, gzipBytes);
  expectError(ExitStatus::BadInput, "gzip",
              [&] { readAllLabels(images, labels); });
}

TEST_F(MnistCifar, ReadsCifarAndReportsErrors) {
  std::string batch;
  for (int i = 0; i < 2; ++i)
    batch += std::string(1, static_cast<char>(8 + i)) +
             std::string(3072, static_cast<char>('a' + i));
  std::string path = folder / "batch.bin";
  auto readAll = [&] {
    CifarReader reader(path);
    std::array<uint8_t, CifarReader::imageBytes> pixels;
    std::vector<int> labels;
    for (int label; reader.next(pixels, label);) {
      EXPECT_EQ(pixels[3071], 'a' + static_cast<int>(labels.size()));
      labels.push_back(label);
    }
    return labels;
  };
  writeBytes(path, batch);
  EXPECT_EQ(readAll(), (std::vector<int>{8, 9}));
  writeGzip(path, batch);
  EXPECT_EQ(readAll(), (std::vector<int>{8, 9}));

  writeBytes(path, batch.substr(0, batch.size() - 1));
  expectError(ExitStatus::BadInput, "record 1 needs 1 more bytes", readAll);
  writeBytes(path, batch + "\x01");
  expectError(ExitStatus::BadInput, "record 2 needs 3072 more bytes", readAll);
  batch[3073] = 10;
  writeBytes(path, batch);
  expectError(ExitStatus::BadInput, "label of record 1 is 10", readAll);
  writeBytes(path, "");
  expectError(ExitStatus::BadInput, "empty file", readAll);
  expectError(ExitStatus::Unavailable, "not found",
              [&] { CifarReader(folder / "none"); });
}

} // namespace
