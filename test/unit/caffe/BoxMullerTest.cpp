//===- BoxMullerTest.cpp - Accuracy of the Box-Muller transform -----------===//
#include "caffe/BoxMuller.h"
#include "caffe/RandomStream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace brew::caffe;

namespace {

constexpr double kUlp = 0x1p-53; // the distance of numbers in [1/2, 1)
constexpr int kSamples = 300000;

/// Returns the distance of `value` from `exact` in units of the last place of a
/// double near `exact`.
double ulps(double value, long double exact) {
  if (exact == 0)
    return value == 0 ? 0 : HUGE_VAL;
  const long double ulp = std::ldexp(1.0L, std::ilogb(exact) - 52);
  return static_cast<double>(std::fabs(value - exact) / ulp);
}

double logarithmError(double x) {
  return ulps(naturalLogarithm(x), std::log(static_cast<long double>(x)));
}

double cosineError(double v) {
  constexpr long double kTwoPi = 6.283185307179586476925286766559L;
  // Near its zeros, the cosine of a rounded angle has no accurate digits.
  const long double turns = std::fabs(v - 0.5L) - 0.25L;
  return ulps(cosineOfTurns(v), std::sin(kTwoPi * turns));
}

} // namespace

TEST(BoxMuller, LogarithmIsAccurateToOneUlp) {
  EXPECT_EQ(naturalLogarithm(1), 0);
  EXPECT_FALSE(std::signbit(naturalLogarithm(1)));
  double worst = 0;
  // The smallest arguments, those near 1, and both ends of the reduced range.
  for (double center : {0.0, 1.0, 0.5, std::sqrt(0.5), std::sqrt(0.125)})
    for (int i = -1000; i <= 1000; ++i) {
      const double x = center + i * kUlp;
      if (x > 0 && x <= 1)
        worst = std::max(worst, logarithmError(x));
    }
  const RandomStream stream(1, "logarithm");
  for (int i = 0; i < kSamples; ++i) {
    const double x = 1 - stream.uniform(i);
    worst = std::max(worst, logarithmError(x));
    worst = std::max(worst, logarithmError(std::ldexp(x, -(i % 48))));
  }
  EXPECT_LT(worst, 1);
}

TEST(BoxMuller, CosineIsAccurateToFewUlps) {
  EXPECT_EQ(cosineOfTurns(0), 1);
  EXPECT_EQ(cosineOfTurns(0.25), 0);
  EXPECT_EQ(cosineOfTurns(0.5), -1);
  EXPECT_EQ(cosineOfTurns(0.75), 0);
  double worst = 0;
  for (double center : {0.0, 0.125, 0.25, 0.5, 0.75, 1.0})
    for (int i = -1000; i <= 1000; ++i) {
      const double v = center + i * kUlp;
      if (v >= 0 && v < 1) {
        worst = std::max(worst, cosineError(v));
        EXPECT_LE(std::fabs(cosineOfTurns(v)), 1);
      }
    }
  const RandomStream stream(1, "cosine");
  for (int i = 0; i < kSamples; ++i) {
    const double v = stream.uniform(i);
    worst = std::max(worst, cosineError(v));
    ASSERT_NEAR(cosineOfTurns(v), std::cos(2 * M_PI * v), 2e-15);
    ASSERT_LE(std::fabs(cosineOfTurns(v)), 1);
  }
  EXPECT_LT(worst, 2.5);
}

TEST(BoxMuller, ExtremesAreFinite) {
  const double last = 1 - kUlp; // the largest number of a stream
  const double radius = std::sqrt(2 * 53 * std::log(2.0));
  for (double v : {0.0, 0.25, 0.5, 0.75, last})
    EXPECT_EQ(boxMuller(0, v), 0) << v;
  EXPECT_DOUBLE_EQ(boxMuller(last, 0), radius);
  EXPECT_EQ(boxMuller(last, 0.25), 0);
  EXPECT_DOUBLE_EQ(boxMuller(last, 0.5), -radius);
  EXPECT_EQ(boxMuller(last, 0.75), 0);
  EXPECT_DOUBLE_EQ(boxMuller(last, last), radius);
}
