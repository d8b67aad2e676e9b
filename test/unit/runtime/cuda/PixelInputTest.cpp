//===- PixelInputTest.cpp - Images that a device converts -----------------===//
//
// The kernel adds 1000 to every pixel, which shows which images were
// transferred as bytes.
//
//===----------------------------------------------------------------------===//
#include "OnSimulator.h"
#include "TestPlan.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "runtime/data/DataPipeline.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

using namespace brew;
using namespace brew::runtime;

namespace {

class PixelInput : public testing::Test {
protected:
  /// Writes records of three values, as bytes or as floats. Value i of record n
  /// is 3n + i.
  void writeDatabase(const std::vector<bool> &areBytes) {
    auto writer = formats::DbWriter::create(folder / "db",
                                            formats::DbBackend::Lmdb, true);
    for (std::size_t n = 0; n < areBytes.size(); ++n) {
      const int first = static_cast<int>(n) * 3;
      std::string record;
      if (areBytes[n]) {
        const std::string pixels = {char(first), char(first + 1),
                                    char(first + 2)};
        record = formats::encodeDatum(3, 1, 1, pixels, int(n));
      } else {
        auto datum =
            test::parse<caffe::Datum>("channels: 3 height: 1 width: 1");
        for (int i = 0; i < 3; ++i)
          datum.add_float_data(float(first + i));
        datum.set_label(int(n));
        record = datum.SerializeAsString();
      }
      writer->put(std::to_string(n), record);
    }
    writer->finish();
  }

  /// Returns the linear model's plan with a PixelConversion. Its kernel reads a
  /// mean of the dimensions `mean` unless they are empty.
  plan::Manifest model(const std::string &transform,
                       const std::vector<std::int64_t> &mean = {}) {
    plan::Manifest manifest = test::linearModel(
        "name: 'd' type: 'Data' top: 'x' top: 'target' "
        "data_param { source: '" +
            (folder / "db") + "' batch_size: 4 backend: LMDB } " + transform,
        "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
    *manifest.mutable_buffers(0) = test::makeBuffer("x", 0, 0, {4, 3, 1, 1});
    plan::Kernel &kernel = *manifest.add_kernels();
    kernel = manifest.kernels(0);
    kernel.set_symbol(mean.empty() ? "test_pixels" : "test_mean_pixels");
    kernel.set_argument_count(mean.empty() ? 3 : 4);
    plan::PixelConversion &pixels = *manifest.mutable_programs(0)
                                         ->mutable_data_inputs(0)
                                         ->mutable_pixel_conversion();
    pixels.set_kernel_index(
        static_cast<std::uint32_t>(manifest.kernels_size() - 1));
    *pixels.mutable_mean_dims() = {mean.begin(), mean.end()};
    pixels.add_image_dims(1);
    pixels.add_image_dims(1);
    return manifest;
  }

  static std::vector<float> readImages(Executor &executor) {
    std::vector<float> values(12);
    executor.download(0, reinterpret_cast<std::byte *>(values.data()));
    return values;
  }

  test::OnSimulator simulator;
  test::LogLines log;
  test::TempFolder folder;
};

using Images = std::vector<float>;

} // namespace

TEST_F(PixelInput, KernelConvertsBytes) {
  writeDatabase({true, true, true, true, true, true});
  Executor executor(test::loadPlan(model("")));
  DataPipeline pipeline(executor, 0, {1}, "");
  pipeline.feedData();
  EXPECT_EQ(readImages(executor), (Images{1000, 1001, 1002, 1003, 1004, 1005,
                                          1006, 1007, 1008, 1009, 1010, 1011}));
  pipeline.feedData();
  executor.run(0);
  EXPECT_EQ(readImages(executor), (Images{1012, 1013, 1014, 1015, 1016, 1017,
                                          1000, 1001, 1002, 1003, 1004, 1005}));
}

TEST_F(PixelInput, HostConvertsBatchesWithOtherRecords) {
  writeDatabase({true, true, true, true, true, false, true, true});
  Executor executor(test::loadPlan(model("")));
  DataPipeline pipeline(executor, 0, {1}, "");
  pipeline.feedData();
  EXPECT_EQ(readImages(executor)[11], 1011);
  pipeline.feedData();
  EXPECT_EQ(readImages(executor),
            (Images{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  pipeline.feedData();
  EXPECT_EQ(readImages(executor)[0], 1000);
}

TEST_F(PixelInput, DoesNotConvertInputsOfTheCaller) {
  writeDatabase({true});
  Executor executor(test::loadPlan(model("")));
  DataPipeline pipeline(executor, 0, {1}, "");
  const Images callerValues(12, 5);
  pipeline.set("x", callerValues.data(), 12);
  pipeline.feedData();
  EXPECT_EQ(readImages(executor), callerValues);
}

TEST_F(PixelInput, HostWritesZerosIntoZeroGaps) {
  writeDatabase({true});
  plan::Manifest manifest = model("");
  plan::Buffer &x = *manifest.mutable_buffers(0);
  for (auto [dim, stride] : {std::pair(0, 4), {1, 1}, {2, 4}, {3, 4}})
    x.set_strides(dim, stride);
  x.set_size(4 * 4 * sizeof(float));
  x.set_zero_gaps(true);
  Executor executor(test::loadPlan(manifest));
  const auto readWords = [&] {
    Images values(16);
    executor.download(0, reinterpret_cast<std::byte *>(values.data()));
    return values;
  };
  const Images before(16, 7);
  executor.uploadBytes(0, 0, before.data(), 16 * sizeof(float));
  ASSERT_EQ(readWords(), before);
  DataPipeline pipeline(executor, 0, {1}, "");
  const Images callerValues(12, 5);
  pipeline.set("x", callerValues.data(), 12);
  pipeline.feedData();
  const Images padded = {5, 5, 5, 0, 5, 5, 5, 0, 5, 5, 5, 0, 5, 5, 5, 0};
  EXPECT_EQ(readWords(), padded);
  // upload() writes the zeros, too.
  executor.uploadBytes(0, 0, before.data(), 16 * sizeof(float));
  executor.upload(0, reinterpret_cast<const std::byte *>(padded.data()));
  EXPECT_EQ(readWords(), padded);
}

TEST_F(PixelInput, KernelCropsFullRecords) {
  auto writer =
      formats::DbWriter::create(folder / "db", formats::DbBackend::Lmdb, true);
  for (int n = 0; n < 2; ++n) {
    std::string pixels;
    for (int i = 0; i < 6; ++i) // row r of channel c: 100 n + 10 c + r
      pixels += char(100 * n + 10 * (i / 2) + i % 2);
    writer->put(std::to_string(n), formats::encodeDatum(3, 2, 1, pixels, n));
  }
  writer->finish();
  plan::Manifest manifest = model("transform_param { crop_size: 1 }");
  manifest.mutable_kernels(manifest.kernels_size() - 1)
      ->set_symbol("test_record_pixels");
  manifest.mutable_programs(0)
      ->mutable_data_inputs(0)
      ->mutable_pixel_conversion()
      ->set_image_dims(0, 2);
  Executor executor(test::loadPlan(manifest));
  DataPipeline pipeline(executor, 0, {1}, "");
  int rowCounts[2] = {0, 0};
  for (int batch = 0; batch < 8; ++batch) {
    pipeline.feedData();
    const Images result = readImages(executor);
    for (int n = 0; n < 4; ++n) {
      const int row = int(result[n * 3]) % 10;
      ASSERT_TRUE(row == 0 || row == 1);
      ++rowCounts[row];
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(result[n * 3 + c], 1000 + 100 * (n % 2) + 10 * c + row);
    }
  }
  EXPECT_TRUE(rowCounts[0] && rowCounts[1]);
}

TEST_F(PixelInput, KernelReadsTheMeanOfTheSource) {
  writeDatabase({true});
  const char *means = "transform_param { mean_value: 1 mean_value: 2 "
                      "mean_value: 4 }";
  {
    Executor executor(test::loadPlan(model(means, {3, 1, 1})));
    DataPipeline pipeline(executor, 0, {1}, "");
    pipeline.feedData();
    EXPECT_EQ(readImages(executor)[5], 1000 + 2 - 4);
  }
  // The kernel subtracts no mean, so the host does.
  Executor executor(test::loadPlan(model(means)));
  DataPipeline pipeline(executor, 0, {1}, "");
  pipeline.feedData();
  EXPECT_EQ(readImages(executor)[5], 2 - 4);
}
