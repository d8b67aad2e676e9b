//===- BufferLayoutTest.cpp - Values in strided buffers -------------------===//
#include "caffe/weights/BufferLayout.h"
#include "TestPlan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

using namespace brew;
using namespace brew::caffe;
using test::makeBuffer;

namespace {

/// Returns 1, 2, 3, ...
std::vector<float> countingValues(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

template <typename Element>
std::vector<Element> elementsOf(const std::vector<std::byte> &bytes) {
  std::vector<Element> result(bytes.size() / sizeof(Element));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

} // namespace

TEST(Layout, ChannelsLastIsAPermutation) {
  // N 2, C 3, H 2, W 2 stored as N, H, W, C.
  const auto buffer = makeBuffer("x", 0, 0, {2, 3, 2, 2}, {12, 1, 6, 3});
  std::vector<std::byte> bytes(buffer.size());
  const auto values = countingValues(24);
  store(buffer, values.data(), bytes.data());
  const auto memory = elementsOf<float>(bytes);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int h = 0; h < 2; ++h)
        for (int w = 0; w < 2; ++w)
          EXPECT_EQ(memory[((n * 2 + h) * 2 + w) * 3 + c],
                    values[((n * 3 + c) * 2 + h) * 2 + w]);
  std::vector<float> back(24);
  load(buffer, bytes.data(), back.data());
  EXPECT_EQ(back, values);
}

TEST(Layout, ASplitDimensionPermutesItsParts) {
  // Weights 2 x (3*4) of an inner product after a channels-last blob. The 12
  // columns are C 3 x HW 4 in the file and HW 4 x C 3 in memory.
  const auto buffer = makeBuffer("w", 0, 0, {2, 3, 4}, {12, 1, 3});
  std::vector<std::byte> bytes(buffer.size());
  const auto values = countingValues(24);
  store(buffer, values.data(), bytes.data());
  const auto memory = elementsOf<float>(bytes);
  EXPECT_EQ(memory[0], values[0]);
  EXPECT_EQ(memory[1], values[4]); // channel 1, position 0
  EXPECT_EQ(memory[3], values[1]); // channel 0, position 1
  EXPECT_EQ(memory[12 + 5], values[12 + 2 * 4 + 1]);
}

TEST(Layout, GapsAreNotWritten) {
  const auto buffer = makeBuffer("x", 0, 0, {2, 2}, {3, 1});
  std::vector<std::byte> bytes(6 * sizeof(float), std::byte(0x11));
  const auto values = countingValues(4);
  store(buffer, values.data(), bytes.data());
  EXPECT_EQ(bytes[2 * sizeof(float)], std::byte(0x11));
  std::vector<float> back(4);
  load(buffer, bytes.data(), back.data());
  EXPECT_EQ(back, values);
}

TEST(Layout, ConvertsTypes) {
  const auto buffer = makeBuffer("x", 0, 0, {2, 2}, {1, 2}, plan::F64);
  std::vector<std::byte> bytes(buffer.size());
  const double values[] = {0.1, 0.2, 0.3, 0.4};
  store(buffer, values, bytes.data());
  EXPECT_EQ(elementsOf<double>(bytes),
            (std::vector<double>{0.1, 0.3, 0.2, 0.4}));
  float back[4];
  load(buffer, bytes.data(), back);
  EXPECT_EQ(back[1], 0.2f);
}

TEST(Layout, ShortFloatsRoundToTheNearest) {
  // 2^-24 and 65504 are the smallest and the largest number of binary16.
  // 1 + 2^-11 and 1 + 3 * 2^-11 are halfway between two numbers of binary16,
  // 1 + 2^-8 between two numbers of bfloat16.
  const std::vector<float> values = {
      0,           -1.5f,        65504,          65520,
      -70000,      0x1p-24f,     0x1p-25f,       0x1.8p-25f,
      0x1p-14f,    0x1.ff8p-15f, 1.00048828125f, 1.00146484375f,
      1.00390625f, 1e38f,        INFINITY,       3.14159265f};
  const auto count = static_cast<std::int64_t>(values.size());
  auto roundTrip = [&](plan::DataType type) {
    const auto buffer = makeBuffer("x", 0, 0, {count}, {1}, type);
    std::vector<std::byte> bytes(buffer.size());
    store(buffer, values.data(), bytes.data());
    std::vector<float> back(values.size());
    load(buffer, bytes.data(), back.data());
    return back;
  };
  EXPECT_EQ(
      roundTrip(plan::F16),
      (std::vector<float>{0, -1.5f, 65504, INFINITY, -INFINITY, 0x1p-24f, 0,
                          0x1p-24f, 0x1p-14f, 0x1.ff8p-15f, 1, 1.001953125f,
                          1.00390625f, INFINITY, INFINITY, 3.140625f}));
  EXPECT_EQ(roundTrip(plan::BF16),
            (std::vector<float>{0, -1.5f, 65536, 65536, -70144, 0x1p-24f,
                                0x1p-25f, 0x1.8p-25f, 0x1p-14f, 0x1p-14f, 1, 1,
                                1, 0x1.2cp+126f, INFINITY, 3.140625f}));
  const double nan = NAN;
  const auto scalar = makeBuffer("x", 0, 0, {}, {}, plan::BF16);
  std::vector<std::byte> bytes(scalar.size());
  store(scalar, &nan, bytes.data());
  double back = 0;
  load(scalar, bytes.data(), &back);
  EXPECT_TRUE(std::isnan(back));
}

TEST(Layout, StoresSomeRowsOfABatch) {
  const auto buffer = makeBuffer("x", 0, 0, {3, 2, 2}, {4, 1, 2});
  std::vector<std::byte> bytes(buffer.size());
  const auto values = countingValues(4);
  brew::caffe::storeRows(buffer, 1, 1, values.data(), bytes.data());
  EXPECT_EQ(elementsOf<float>(bytes),
            (std::vector<float>{0, 0, 0, 0, 1, 3, 2, 4, 0, 0, 0, 0}));
}

TEST(Layout, StridesOfScalarsAndExtentsOfOneAreIrrelevant) {
  const auto scalar = makeBuffer("s", 0, 0, {});
  std::vector<std::byte> bytes(sizeof(float));
  const float value = 7;
  store(scalar, &value, bytes.data());
  float back = 0;
  load(scalar, bytes.data(), &back);
  EXPECT_EQ(back, 7);
  // The dimension of extent 1 has the stride 1 instead of 3.
  EXPECT_TRUE(
      brew::caffe::ElementOrder(makeBuffer("x", 0, 0, {2, 1, 3}, {3, 1, 1}))
          .contiguous());
  EXPECT_EQ(brew::caffe::shapeText(std::vector<std::int64_t>{}), "a scalar");
  EXPECT_EQ(brew::caffe::shapeText(std::vector<std::int64_t>{2, 3}), "2 x 3");
}
