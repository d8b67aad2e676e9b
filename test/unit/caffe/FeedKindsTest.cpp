//===- FeedKindsTest.cpp --------------------------------------------------===//
#include "formats/FeedKinds.h"

#include "formats/caffe.pb.h"

#include <gtest/gtest.h>

using namespace brew::formats;

namespace {

TEST(FeedKinds, EverySourceHasOneType) {
  for (FeedSource source :
       {FeedSource::Input, FeedSource::Memory, FeedSource::Database,
        FeedSource::Annotated, FeedSource::Images, FeedSource::Windows,
        FeedSource::Hdf5, FeedSource::Fillers, FeedSource::Matrix,
        FeedSource::Weights, FeedSource::RandomKey}) {
    const FeedKind *kind = findFeedKind(feedTypeOf(source));
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->source, source);
  }
  EXPECT_EQ(findFeedKind("VideoData"), nullptr);
  EXPECT_EQ(findFeedKind(""), nullptr);
}

TEST(FeedKinds, WhatIsReadAnewNeedsNoBytesOfItsOwn) {
  for (const char *type : {"AnnotatedData", "Data", "HDF5Data", "ImageData",
                           "Random", "WindowData"})
    EXPECT_TRUE(findFeedKind(type)->isRefilled) << type;
  for (const char *type :
       {"DummyData", "Input", "MemoryData", "InfogainLoss", "SoftmaxWithLoss"})
    EXPECT_FALSE(findFeedKind(type)->isRefilled) << type;
}

TEST(FeedKinds, DummyDataIsRefilledUnlessItIsConstant) {
  const FeedKind &dummy = *findFeedKind("DummyData");
  brew::caffe::LayerParameter layer;
  EXPECT_FALSE(isRefilled(dummy, layer, 0)); // zeros
  auto &settings = *layer.mutable_dummy_data_param();
  settings.add_data_filler()->set_type("gaussian");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_TRUE(isRefilled(dummy, layer, 1)); // one filler is for all tops
  settings.add_data_filler()->set_type("constant");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_FALSE(isRefilled(dummy, layer, 1));
  EXPECT_TRUE(isRefilled(*findFeedKind("Data"), layer, 1));
  EXPECT_FALSE(isRefilled(*findFeedKind("Input"), layer, 0));
}

TEST(FeedKinds, OnlyTheCallerHasInputs) {
  for (const char *type : {"Input", "MemoryData"})
    EXPECT_TRUE(findFeedKind(type)->isCallers()) << type;
  for (const char *type : {"Data", "DummyData", "HDF5Data", "InfogainLoss"})
    EXPECT_FALSE(findFeedKind(type)->isCallers()) << type;
}

TEST(FeedKinds, RecordsAreImagesWithALabel) {
  for (const char *type : {"Data", "ImageData"}) {
    const FeedKind &data = *findFeedKind(type);
    EXPECT_TRUE(data.hasImages());
    EXPECT_FALSE(data.isLabel(0));
    EXPECT_TRUE(data.isLabel(1));
  }
  // Windows are cut and warped before they could travel as bytes.
  EXPECT_FALSE(findFeedKind("WindowData")->hasImages());
  EXPECT_TRUE(findFeedKind("WindowData")->isLabel(1));
  EXPECT_FALSE(findFeedKind("HDF5Data")->hasImages());
  EXPECT_FALSE(findFeedKind("HDF5Data")->isLabel(1));
}

} // namespace
