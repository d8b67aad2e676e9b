//===- WatchComponentsTest.cpp - TFRecords, summaries, scans --------------===//
#include "TestPlan.h"
#include "formats/image/ImageDecode.h"
#include "plan/Contract.h"
#include "runtime/train/watch/FiniteScan.h"
#include "runtime/train/watch/NanCheck.h"
#include "runtime/train/watch/Summaries.h"
#include "runtime/train/watch/TfRecordFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace brew;
using namespace brew::runtime;

// The checksums of 32 equal bytes are from RFC 3720, section B.4. The
// checksum of "123456789" is the usual check value of CRC-32C.
TEST(RecordFrames, ChecksumsEqualIscsi) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(RecordFrames, MasksRotateAndAdd) {
  EXPECT_EQ(maskedCrc32c(""), 0xa282ead8u);
  // 0xe3069283 rotated right by 15 is 0x2507c60d.
  EXPECT_EQ(maskedCrc32c("123456789"), 0x2507c60du + 0xa282ead8u);
  const std::string frame = frameRecord("abc");
  ASSERT_EQ(frame.size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(frame[0], 3);
  EXPECT_EQ(frame.substr(12, 3), "abc");
}

TEST(FiniteScan, FindsTheFirstInRowMajorOrder) {
  // The buffer is 2 x 3 and transposed in memory.
  const plan::Buffer buffer = test::makeBuffer("b", 0, 0, {2, 3}, {1, 2});
  float values[6] = {0, 1, 2, 3, 4, 5};
  const auto *bytes = reinterpret_cast<const std::byte *>(values);
  const Threads threads(1);
  EXPECT_TRUE(allFinite(buffer, bytes, threads));
  EXPECT_FALSE(firstNonFinite(buffer, bytes));
  values[1] = NAN;                                     // element 3
  values[4] = -std::numeric_limits<float>::infinity(); // element 2
  EXPECT_FALSE(allFinite(buffer, bytes, threads));
  const auto found = firstNonFinite(buffer, bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->position, 2);
  EXPECT_EQ(found->value, -INFINITY);
}

TEST(FiniteScan, SupportsEveryType) {
  const Threads threads(2);
  auto isFinite = [&](plan::DataType type, auto value) {
    const std::byte *bytes = reinterpret_cast<const std::byte *>(&value);
    return allFinite(test::makeBuffer("b", 0, 0, {}, {}, type), bytes, threads);
  };
  EXPECT_TRUE(isFinite(plan::F64, std::numeric_limits<double>::max()));
  EXPECT_FALSE(isFinite(plan::F64, std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(isFinite(plan::F32, std::numeric_limits<float>::lowest()));
  EXPECT_TRUE(isFinite(plan::F16, std::uint16_t(0x7bff)));
  EXPECT_FALSE(isFinite(plan::F16, std::uint16_t(0xfc00)));
  EXPECT_TRUE(isFinite(plan::BF16, std::uint16_t(0x7f7f)));
  EXPECT_FALSE(isFinite(plan::BF16, std::uint16_t(0x7fc0)));
  EXPECT_TRUE(isFinite(plan::I32, std::int32_t(-1)));
}

TEST(Summaries, HistogramsCountFiniteValues) {
  formats::Blob blob;
  blob.dims = {5};
  blob.floats = {-1, 0, 0.5, 1, NAN};
  const auto histogram = histogramOf(blob);
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->num(), 4);
  EXPECT_EQ(histogram->min(), -1);
  EXPECT_EQ(histogram->max(), 1);
  EXPECT_EQ(histogram->sum(), 0.5);
  EXPECT_EQ(histogram->sum_squares(), 2.25);
  EXPECT_EQ(histogram->bucket(0), 1);
  EXPECT_EQ(histogram->bucket(32), 1); // 0
  EXPECT_EQ(histogram->bucket(48), 1); // 0.5
  EXPECT_EQ(histogram->bucket(63), 1);
  EXPECT_EQ(histogram->bucket_limit(63), 1);
  blob.floats = {2, 2};
  EXPECT_EQ(histogramOf(blob)->bucket_size(), 1);
  blob.floats = {NAN};
  EXPECT_FALSE(histogramOf(blob));
  blob.floats = {-3.4e38f, 3.4e38f};
  EXPECT_EQ(histogramOf(blob)->bucket(0), 1);
}

TEST(Summaries, DrawsFiltersAsTiles) {
  formats::Blob blob;
  blob.dims = {2, 1, 2, 2};
  blob.floats = {0, 1, 2, 3, 4, 5, 6, 8.5f};
  const auto image = filterImage(blob);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->width(), 5);
  EXPECT_EQ(image->height(), 2);
  EXPECT_EQ(image->colorspace(), 1);
  formats::Image pixels;
  formats::decodeImage(image->encoded_image_string().data(),
                       image->encoded_image_string().size(),
                       formats::ImageColor::Native, "filters", pixels);
  EXPECT_EQ(pixels.pixels, (std::vector<std::uint8_t>{0, 30, 0, 120, 150, 60,
                                                      90, 0, 180, 255}));
  blob.dims = {1, 3, 1, 1};
  blob.floats = {0, 1, 2};
  EXPECT_EQ(filterImage(blob)->colorspace(), 3);
  blob.dims = {3};
  EXPECT_FALSE(filterImage(blob));
}

TEST(Summaries, GraphsNameTheProducersOfInputs) {
  const auto program = test::parse<plan::Program>(R"(
    layers { name: 'data' type: 'Data' tops: 'x' tops: 'l' shapes { dims: 4 dims: 3 } shapes { dims: 4 } }
    layers { name: 'in place' type: 'ReLU' bottoms: 'x' tops: 'x' shapes { dims: 4 dims: 3 } source_location: 'n.prototxt:3:1' }
    layers { name: 'loss' type: 'EuclideanLoss' bottoms: 'x' bottoms: 'l' tops: 'loss' shapes {} }
    layers { name: 'loss' type: 'Silence' bottoms: 'loss' } )");
  const tensorboard::GraphDef graph = graphOf(program);
  ASSERT_EQ(graph.node_size(), 4);
  EXPECT_EQ(graph.node(1).name(), "in_place");
  EXPECT_EQ(graph.node(1).input(0), "data");
  EXPECT_EQ(graph.node(1).attr().at("source").s(), "n.prototxt:3:1");
  EXPECT_EQ(graph.node(2).input(0), "in_place");
  EXPECT_EQ(graph.node(2).input(1), "data:1");
  EXPECT_EQ(graph.node(2).attr().at("_output_shapes").list().shape_size(), 1);
  EXPECT_EQ(graph.node(3).name(), "loss_1");
}

TEST(NanCheck, NamesStateThatIsNotFiniteBeforeTheIteration) {
  plan::Manifest manifest =
      test::linearModel("name: 'd' type: 'Input' top: 'x' top: 'target'",
                        "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
  const auto index = static_cast<std::uint32_t>(manifest.buffers_size());
  plan::NamedBuffer &persistent = *manifest.add_persistent();
  persistent.set_name("lstm.cell");
  persistent.set_buffer_index(index);
  *manifest.add_buffers() = test::makeBuffer("lstm.cell", 1, 128, {});
  Session session(test::loadPlan(manifest));
  NanCheck check(session);
  const std::vector<float> values(12);
  session.dataPipeline(0).set("x", values.data(), 12);
  session.dataPipeline(0).set("target", values.data(), 4);
  check.begin();
  EXPECT_EQ(check.find(1).order, NanCheck::kNotReproduced);
  session.executor().modify(index, [](std::byte *memory) {
    const float nan = NAN;
    std::memcpy(memory, &nan, sizeof nan);
  });
  check.begin();
  EXPECT_EQ(check.find(1).text, "the value 'lstm.cell' of the plan is nan at "
                                "position 0 before the iteration");
}

// In f16, the loss scale handles gradients that are not finite.
TEST(NanCheck, LeavesScaledGradientsToTheScale) {
  plan::Manifest manifest =
      test::linearModel("name: 'd' type: 'Input' top: 'x' top: 'target'",
                        "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
  for (const char *name :
       {plan::loss_scale::kValue, plan::loss_scale::kNonFiniteGradients}) {
    plan::NamedBuffer &persistent = *manifest.add_persistent();
    persistent.set_name(name);
    persistent.set_buffer_index(
        static_cast<std::uint32_t>(manifest.buffers_size()));
    *manifest.add_buffers() = test::makeBuffer(
        name, 1, 128 + 64 * (manifest.persistent_size() - 1), {});
  }
  Session session(test::loadPlan(manifest));
  auto write = [&](int position, float value) {
    session.executor().modify(
        manifest.persistent(position).buffer_index(),
        [&](std::byte *memory) { std::memcpy(memory, &value, sizeof value); });
  };
  const NanCheck check(session);
  write(0, 1024);
  EXPECT_FALSE(check.foundNonFinite(1));
  EXPECT_TRUE(
      check.foundNonFinite(INFINITY)); // no gradient explains the infinite loss
  write(1, 2);
  EXPECT_FALSE(check.foundNonFinite(1));
  EXPECT_FALSE(check.foundNonFinite(NAN));
  write(0, 1); // the scale cannot be halved further
  EXPECT_TRUE(check.foundNonFinite(1));
}
