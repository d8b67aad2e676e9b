//===- NumberTextTest.cpp - Locale-independent text of numbers ------------===//
#include "support/NumberText.h"

#include "test/common/CommaLocale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace brew::formats {
namespace {

TEST(NumberText, RoundTrips) {
  EXPECT_EQ(shortestText(0.1), "0.1");
  EXPECT_EQ(shortestText(0.1f), "0.1");
  EXPECT_EQ(shortestText(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(shortestText(1.0f / 3), "0.33333334");
  EXPECT_EQ(shortestText(1e300), "1e+300");
  EXPECT_EQ(shortestText(-2.5f, 6), "-2.5");
  EXPECT_EQ(shortestText(123456789.0), "123456789");
  for (float value : {1e-45f, 3.4028235e38f, 16777217.0f, 0.7f})
    EXPECT_EQ(parseFloat(shortestText(value)), value);
  EXPECT_EQ(fixedText(1234.56, 1), "1234.6");
  EXPECT_EQ(fixedText(-0.0004, 3), "-0.000");
}

TEST(NumberText, ReadsOnlyDecimalNumbers) {
  EXPECT_EQ(parseFloat("1e-3"), 1e-3f);
  EXPECT_EQ(parseFloat("+0.5"), 0.5f);
  EXPECT_EQ(parseFloat(".5"), 0.5f);
  EXPECT_EQ(parseFloat("1e-60"), 0.0f);
  EXPECT_EQ(parseFloat("1e60"), std::numeric_limits<float>::infinity());
  for (const char *wrong : {"", "+", "+-1", "1,5", "0.1x", "x", " 1", "1 "})
    EXPECT_FALSE(parseFloat(wrong)) << wrong;
}

TEST(NumberText, IsIndependentOfTheLocale) {
  const test::CommaLocale locale;
  if (!locale)
    GTEST_SKIP() << "no locale with commas, and localedef created none";
  EXPECT_EQ(shortestText(0.1f), "0.1");
  EXPECT_EQ(fixedText(1234.56, 1), "1234.6");
  EXPECT_EQ(parseDouble("0.25"), 0.25);
  EXPECT_FALSE(parseDouble("0,25"));
}

} // namespace
} // namespace brew::formats
