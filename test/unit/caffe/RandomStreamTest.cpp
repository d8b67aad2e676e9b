//===- RandomStreamTest.cpp - Counter-based random numbers ----------------===//
#include "caffe/RandomStream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace brew::caffe;

// The known-answer tests that the authors of the generator published.
TEST(Philox, ReturnsThePublishedAnswers) {
  EXPECT_EQ(brew::caffe::philox({0, 0, 0, 0}, {0, 0}),
            (brew::caffe::RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                      0x9b00dbd8}));
  EXPECT_EQ(brew::caffe::philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (brew::caffe::RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                      0x6d5451fd}));
  EXPECT_EQ(
      brew::caffe::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          {0xa4093822, 0x299f31d0}),
      (brew::caffe::RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                0x24126ea1}));
}

TEST(RandomStream, DependsOnSeedNameAndIndexOnly) {
  brew::caffe::RandomStream a(7, "conv1/0"), equal(7, "conv1/0");
  EXPECT_EQ(a.block(1234567890123), equal.block(1234567890123));
  EXPECT_NE(a.block(5), a.block(6));
  EXPECT_NE(a.block(5), brew::caffe::RandomStream(8, "conv1/0").block(5));
  EXPECT_NE(a.block(5), brew::caffe::RandomStream(7, "conv1/1").block(5));
  // The upper 32 bits of the seed count, too.
  EXPECT_NE(a.block(5),
            brew::caffe::RandomStream(7 + (1ull << 32), "conv1/0").block(5));
}

TEST(RandomStream, UniformCoversTheUnitInterval) {
  brew::caffe::RandomStream stream(1, "uniform");
  constexpr int kCount = 200000;
  double sum = 0, squares = 0;
  int low = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = stream.uniform(i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    low += u < 0.1;
  }
  // The tolerances are five standard errors; that of the mean is
  // 0.289 / sqrt(200000) = 6.5e-4.
  EXPECT_NEAR(sum / kCount, 0.5, 3.3e-3);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 3.4e-3);
  EXPECT_NEAR(low / double(kCount), 0.1, 3.4e-3);
}

TEST(RandomStream, GaussianHasTheMomentsOfANormal) {
  brew::caffe::RandomStream stream(1, "gaussian");
  constexpr int kCount = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (int i = 0; i < kCount; ++i) {
    const double g = stream.gaussian(i);
    ASSERT_TRUE(std::isfinite(g));
    m1 += g;
    m2 += g * g;
    m3 += g * g * g;
    m4 += g * g * g * g;
  }
  // The tolerances are five standard errors: the variances of g, g^2, g^3 and
  // g^4 are 1, 2, 15 and 96.
  const double root = std::sqrt(double(kCount));
  EXPECT_NEAR(m1 / kCount, 0, 5 / root);
  EXPECT_NEAR(m2 / kCount, 1, 5 * std::sqrt(2) / root);
  EXPECT_NEAR(m3 / kCount, 0, 5 * std::sqrt(15) / root);
  EXPECT_NEAR(m4 / kCount, 3, 5 * std::sqrt(96) / root);
}

TEST(RandomStream, FillsHaveTheBitsOfSingleNumbers) {
  brew::caffe::RandomStream stream(5, "fill");
  // The last positions need a carry into the upper 32 bits or wrap around.
  for (std::uint64_t first :
       {0ull, 1ull, 7ull, 1013ull, (1ull << 32) - 5, ~0ull - 5})
    for (std::size_t count : {0, 1, 2, 3, 7, 8, 9, 31, 255, 256, 257, 1001}) {
      std::vector<double> uniform(count + 1, -1), gaussian(count + 1, -1);
      stream.fillUniform(first, count, uniform.data());
      stream.fillGaussian(first, count, gaussian.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(uniform[i], stream.uniform(first + i)) << first << ' ' << i;
        ASSERT_EQ(gaussian[i], stream.gaussian(first + i)) << first << ' ' << i;
      }
      EXPECT_EQ(uniform[count], -1);
      EXPECT_EQ(gaussian[count], -1);
    }
}

TEST(RandomStream, BelowReachesEveryValueEqually) {
  brew::caffe::RandomStream stream(3, "below");
  int counts[5] = {};
  for (int i = 0; i < 50000; ++i)
    ++counts[stream.below(i, 5)];
  // The tolerance is five standard deviations.
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 5 * std::sqrt(50000 * 0.2 * 0.8));
  EXPECT_EQ(stream.below(9, 1), 0u);
}
