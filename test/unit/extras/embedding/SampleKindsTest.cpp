//===- SampleKindsTest.cpp - .npy files, lists and labels of IDX files ----===//

#include "formats/Npy.h"
#include "formats/image/ImageEncode.h"
#include "runtime/data/Samples.h"
#include "support/Error.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace brew;
using brew::test::TempFolder;
using brew::test::writeBytes;

namespace {

/// Returns a .npy file of format 1. `values` are its raw bytes.
std::string npy(const std::string &type, const std::string &shape,
                const std::string &values, const std::string &order = "False") {
  const std::string header = "{'descr': '" + type +
                             "', 'fortran_order': " + order +
                             ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + values;
}

template <typename Value> std::string bytesOf(std::vector<Value> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Value)};
}

/// Returns the message of the error of reading a .npy file, or "" if it is
/// read.
std::string readError(const std::string &path) {
  try {
    formats::readNpy(path);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::BadInput);
    return error.what();
  }
  return "";
}

/// Returns an IDX file of these bytes.
std::string idx(std::initializer_list<unsigned> bytes) {
  return {bytes.begin(), bytes.end()};
}

} // namespace

TEST(Npy, ReadsFloatsAndIntegers) {
  TempFolder folder;
  const std::string path = folder / "a.npy";
  writeBytes(path, npy("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6.5f})));
  formats::NpyArray array = formats::readNpy(path);
  EXPECT_EQ(array.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array.values, (std::vector<float>{1, 2, 3, 4, 5, 6.5f}));
  writeBytes(path, npy("<f8", "(2,)", bytesOf<double>({-0.5, 1e10})));
  EXPECT_EQ(formats::readNpy(path).values, (std::vector<float>{-0.5f, 1e10f}));
  writeBytes(path, npy("|u1", "(3, 1)", bytesOf<std::uint8_t>({0, 7, 255})));
  EXPECT_EQ(formats::readNpy(path).values, (std::vector<float>{0, 7, 255}));
  writeBytes(path, npy("<i8", "()", bytesOf<std::int64_t>({-3})));
  EXPECT_EQ(formats::readNpy(path).values, (std::vector<float>{-3}));
}

TEST(Npy, RejectsInvalidFiles) {
  TempFolder folder;
  const std::string path = folder / "a.npy";
  auto fails = [&](const std::string &bytes, const std::string &part) {
    writeBytes(path, bytes);
    const std::string message = readError(path);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  fails("\x93NUMPY", "its header");
  fails(npy("<c8", "(1,)", "12345678"), "values of type '<c8'");
  fails(npy("<f4", "(2, 2)", std::string(16, '\0'), "True"), "column order");
  fails(npy("<f4", "(2, 2)", "1234"), "the values");
  fails(npy("<f4", "(9000000000, 9000000000)", "1234"), "too large");
  fails(npy("<f4", "(-2,)", "1234"), "not a list of");
  fails(npy("<f4", "2", "1234"), "not a list of");
  fails(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12), "format 1 to 3");
  fails(std::string("\x93NUMPY\x01\x00\x02\x00{}", 12), "no 'shape'");
}

TEST(SampleKinds, RowsOfNpyFilesAreSamples) {
  TempFolder folder;
  const std::string path = folder / "a.npy";
  writeBytes(path, npy("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6})));
  const auto source = runtime::openSamples(path, "data", {3}, {});
  runtime::Sample sample;
  ASSERT_TRUE(source->next(sample));
  ASSERT_TRUE(source->next(sample));
  EXPECT_EQ(sample.name, path + "[1]");
  EXPECT_EQ(sample.values, (std::vector<float>{4, 5, 6}));
  EXPECT_FALSE(source->next(sample));
  EXPECT_THROW(runtime::openSamples(path, "data", {2}, {}), Error);
}

TEST(SampleKinds, ListsOfImagesHaveLabels) {
  TempFolder folder;
  formats::Image image;
  image.channels = 1;
  image.height = image.width = 2;
  image.pixels = {1, 2, 3, 4};
  writeBytes(folder / "a b.png",
             formats::encodeImage(image, formats::ImageFormat::Png));
  const std::string list = folder / "list.txt";
  writeBytes(list, "a b.png 4\nmissing.png 1\n");
  const auto source = runtime::openSamples(list, "data", {1, 2, 2}, {});
  runtime::Sample sample;
  ASSERT_TRUE(source->next(sample));
  EXPECT_EQ(sample.label, 4);
  EXPECT_EQ(sample.values, (std::vector<float>{1, 2, 3, 4}));
  try {
    source->next(sample);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("list.txt:2"), std::string::npos)
        << error.what();
  }
}

TEST(SampleKinds, IdxImagesHaveTheLabelsBesideThem) {
  TempFolder folder;
  const std::string images = folder / "x-images-idx3-ubyte";
  writeBytes(images,
             idx({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 5, 6}));
  std::string labelError;
  auto readSecondLabel = [&] {
    const auto source = runtime::openSamples(images, "data", {1, 1, 1}, {});
    runtime::Sample sample;
    source->next(sample);
    source->next(sample);
    EXPECT_EQ(sample.values[0], 6);
    labelError = sample.labelError;
    return sample.label;
  };
  EXPECT_EQ(readSecondLabel(), std::nullopt);
  writeBytes(folder / "x-labels-idx1-ubyte",
             idx({0, 0, 8, 1, 0, 0, 0, 2, 3, 9}));
  EXPECT_EQ(readSecondLabel(), 9);
  EXPECT_EQ(labelError, "");
  // Damaged or mismatched labels do not prevent reading the images.
  writeBytes(folder / "x-labels-idx1-ubyte", idx({0, 0, 8, 1, 0, 0, 0, 2, 3}));
  EXPECT_EQ(readSecondLabel(), std::nullopt);
  EXPECT_NE(labelError.find("label 1"), std::string::npos) << labelError;
  writeBytes(folder / "x-labels-idx1-ubyte",
             idx({0, 0, 8, 1, 0, 0, 0, 3, 3, 9, 1}));
  EXPECT_EQ(readSecondLabel(), std::nullopt);
  EXPECT_NE(labelError.find("has 3 labels for 2 images"), std::string::npos)
      << labelError;
}
