//===- RepeatedStopTest.cpp - Tests of the end by a second SIGINT ---------===//
#include "RepeatedStop.h"

#include <gtest/gtest.h>

#include <csignal>

using namespace brew::run;

TEST(RepeatedStop, OnlyALaterInterruptEndsAtOnce) {
  for (const int first : {SIGINT, SIGTERM}) {
    forgetStops();
    EXPECT_FALSE(isRepeatedStop(first, 1000));
    EXPECT_FALSE(isRepeatedStop(SIGINT, 1100));
    EXPECT_FALSE(isRepeatedStop(SIGINT, 1500));
    EXPECT_FALSE(isRepeatedStop(SIGTERM, 9000));
    EXPECT_TRUE(isRepeatedStop(SIGINT, 1501));
  }
  forgetStops();
  EXPECT_FALSE(isRepeatedStop(SIGINT, 9000));
}
