//===- FeedKindsTest.cpp --------------------------------------------------===//
#include "caffe/FeedKinds.h"

#include "formats/caffe.pb.h"

#include <gtest/gtest.h>

using namespace brew::caffe;

namespace {

TEST(FeedKinds, EverySourceHasOneType) {
  for (brew::caffe::FeedSource source :
       {brew::caffe::FeedSource::Input, brew::caffe::FeedSource::Memory,
        brew::caffe::FeedSource::Database, brew::caffe::FeedSource::Annotated,
        brew::caffe::FeedSource::Images, brew::caffe::FeedSource::Windows,
        brew::caffe::FeedSource::Hdf5, brew::caffe::FeedSource::Fillers,
        brew::caffe::FeedSource::Matrix, brew::caffe::FeedSource::Weights,
        brew::caffe::FeedSource::RandomKey}) {
    const brew::caffe::FeedKind *kind =
        brew::caffe::findFeedKind(feedTypeOf(source));
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->source, source);
  }
  EXPECT_EQ(brew::caffe::findFeedKind("VideoData"), nullptr);
  EXPECT_EQ(brew::caffe::findFeedKind(""), nullptr);
}

TEST(FeedKinds, WhatIsReadAnewNeedsNoBytesOfItsOwn) {
  for (const char *type : {"AnnotatedData", "Data", "HDF5Data", "ImageData",
                           "Random", "WindowData"})
    EXPECT_TRUE(brew::caffe::findFeedKind(type)->isRefilled) << type;
  for (const char *type :
       {"DummyData", "Input", "MemoryData", "InfogainLoss", "SoftmaxWithLoss"})
    EXPECT_FALSE(brew::caffe::findFeedKind(type)->isRefilled) << type;
}

TEST(FeedKinds, DummyDataIsRefilledUnlessItIsConstant) {
  const brew::caffe::FeedKind &dummy = *brew::caffe::findFeedKind("DummyData");
  brew::caffe::LayerParameter layer;
  EXPECT_FALSE(isRefilled(dummy, layer, 0)); // zeros
  auto &settings = *layer.mutable_dummy_data_param();
  settings.add_data_filler()->set_type("gaussian");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_TRUE(isRefilled(dummy, layer, 1)); // one filler is for all tops
  settings.add_data_filler()->set_type("constant");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_FALSE(isRefilled(dummy, layer, 1));
  EXPECT_TRUE(isRefilled(*brew::caffe::findFeedKind("Data"), layer, 1));
  EXPECT_FALSE(isRefilled(*brew::caffe::findFeedKind("Input"), layer, 0));
}

TEST(FeedKinds, OnlyTheCallerHasInputs) {
  for (const char *type : {"Input", "MemoryData"})
    EXPECT_TRUE(brew::caffe::findFeedKind(type)->isCallers()) << type;
  for (const char *type : {"Data", "DummyData", "HDF5Data", "InfogainLoss"})
    EXPECT_FALSE(brew::caffe::findFeedKind(type)->isCallers()) << type;
}

TEST(FeedKinds, RecordsAreImagesWithALabel) {
  for (const char *type : {"Data", "ImageData"}) {
    const brew::caffe::FeedKind &data = *brew::caffe::findFeedKind(type);
    EXPECT_TRUE(data.hasImages());
    EXPECT_FALSE(data.isLabel(0));
    EXPECT_TRUE(data.isLabel(1));
  }
  // Windows are cut and warped before they could travel as bytes.
  EXPECT_FALSE(brew::caffe::findFeedKind("WindowData")->hasImages());
  EXPECT_TRUE(brew::caffe::findFeedKind("WindowData")->isLabel(1));
  EXPECT_FALSE(brew::caffe::findFeedKind("HDF5Data")->hasImages());
  EXPECT_FALSE(brew::caffe::findFeedKind("HDF5Data")->isLabel(1));
}

} // namespace
