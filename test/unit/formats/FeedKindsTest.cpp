//===- FeedKindsTest.cpp --------------------------------------------------===//
#include "formats/FeedKinds.h"

#include <gtest/gtest.h>

using namespace brew::formats;

namespace {

TEST(FeedKinds, EverySourceHasOneType) {
  for (FeedSource source :
       {FeedSource::Input, FeedSource::Memory, FeedSource::Database,
        FeedSource::Hdf5, FeedSource::Fillers, FeedSource::Matrix,
        FeedSource::RandomKey}) {
    const FeedKind *kind = findFeedKind(feedTypeOf(source));
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->source, source);
  }
  EXPECT_EQ(findFeedKind("WindowData"), nullptr);
  EXPECT_EQ(findFeedKind(""), nullptr);
}

TEST(FeedKinds, WhatIsReadAnewNeedsNoBytesOfItsOwn) {
  for (const char *type : {"Data", "HDF5Data", "Random"})
    EXPECT_TRUE(findFeedKind(type)->isRefilled) << type;
  for (const char *type : {"DummyData", "Input", "MemoryData", "InfogainLoss"})
    EXPECT_FALSE(findFeedKind(type)->isRefilled) << type;
}

TEST(FeedKinds, OnlyTheCallerHasInputs) {
  for (const char *type : {"Input", "MemoryData"})
    EXPECT_TRUE(findFeedKind(type)->isCallers()) << type;
  for (const char *type : {"Data", "DummyData", "HDF5Data", "InfogainLoss"})
    EXPECT_FALSE(findFeedKind(type)->isCallers()) << type;
}

TEST(FeedKinds, RecordsAreImagesWithALabel) {
  const FeedKind &data = *findFeedKind("Data");
  EXPECT_TRUE(data.hasImages());
  EXPECT_FALSE(data.isLabel(0));
  EXPECT_TRUE(data.isLabel(1));
  EXPECT_FALSE(findFeedKind("HDF5Data")->hasImages());
  EXPECT_FALSE(findFeedKind("HDF5Data")->isLabel(1));
}

} // namespace
