//===- DetectionScoresTest.cpp - Average precision ------------------------===//
#include "runtime/train/metrics/DetectionScores.h"

#include <gtest/gtest.h>

using namespace brew::runtime;

namespace {

// Ranked: true, false, true, false positives, of 4 objects. Precision 1, 1/2,
// 2/3, 1/2 at recall 1/4, 1/4, 1/2, 1/2.
const ScoredDetections kDetections = {
    {0.2F, false}, {0.9F, true}, {0.5F, true}, {0.7F, false}};

TEST(DetectionScores, Integral) {
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "Integral"),
                  0.25F * 1 + 0.25F * 2 / 3);
}

TEST(DetectionScores, MaximalIntegral) {
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "MaxIntegral"),
                  0.25F * 2 / 3 + 0.25F * 1);
}

TEST(DetectionScores, ElevenPoints) {
  // 1 at 0, 0.1, 0.2; 2/3 at 0.3, 0.4, 0.5.
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "11point"),
                  (3 * 1 + 3 * 2.F / 3) / 11);
}

TEST(DetectionScores, NothingFoundOrNothingToFind) {
  for (const char *version : {"Integral", "MaxIntegral", "11point"}) {
    EXPECT_EQ(averagePrecision({}, 3, version), 0);
    EXPECT_EQ(averagePrecision({{0.5F, false}}, 0, version), 0);
    EXPECT_FLOAT_EQ(averagePrecision({{0.5F, true}}, 1, version), 1);
  }
}

} // namespace
