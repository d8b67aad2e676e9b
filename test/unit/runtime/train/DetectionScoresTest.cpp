//===- DetectionScoresTest.cpp - Average precision ------------------------===//
#include "runtime/train/metrics/DetectionScores.h"

#include <gtest/gtest.h>

using namespace brew::runtime;

namespace {

// Sorted by score, these are a true, a false, a true and a false positive. With
// 4 objects, the precisions are 1, 1/2, 2/3 and 1/2, at recalls of 1/4, 1/4,
// 1/2 and 1/2.
const ScoredDetections kDetections = {
    {0.2F, false}, {0.9F, true}, {0.5F, true}, {0.7F, false}};

TEST(DetectionScores, AveragesByIntegral) {
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "Integral"),
                  0.25F * 1 + 0.25F * 2 / 3);
}

TEST(DetectionScores, AveragesByMaximalIntegral) {
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "MaxIntegral"),
                  0.25F * 2 / 3 + 0.25F * 1);
}

TEST(DetectionScores, AveragesAtElevenPoints) {
  // The precision is 1 at recalls 0, 0.1 and 0.2, and 2/3 at 0.3, 0.4 and 0.5.
  EXPECT_FLOAT_EQ(averagePrecision(kDetections, 4, "11point"),
                  (3 * 1 + 3 * 2.F / 3) / 11);
}

TEST(DetectionScores, HandlesNoDetectionsAndNoObjects) {
  for (const char *version : {"Integral", "MaxIntegral", "11point"}) {
    EXPECT_EQ(averagePrecision({}, 3, version), 0);
    EXPECT_EQ(averagePrecision({{0.5F, false}}, 0, version), 0);
    EXPECT_FLOAT_EQ(averagePrecision({{0.5F, true}}, 1, version), 1);
  }
}

} // namespace
