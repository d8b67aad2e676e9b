//===- DataLayerKindsTest.cpp - Properties of data layer types ------------===//
#include "caffe/DataLayerKinds.h"

#include "formats/caffe.pb.h"

#include <gtest/gtest.h>

using namespace brew::caffe;

namespace {

TEST(DataLayerKinds, EverySourceHasOneType) {
  for (brew::caffe::DataLayerSource source :
       {brew::caffe::DataLayerSource::Input,
        brew::caffe::DataLayerSource::Memory,
        brew::caffe::DataLayerSource::Database,
        brew::caffe::DataLayerSource::Annotated,
        brew::caffe::DataLayerSource::Images,
        brew::caffe::DataLayerSource::LabeledPixels,
        brew::caffe::DataLayerSource::Videos,
        brew::caffe::DataLayerSource::Windows,
        brew::caffe::DataLayerSource::Hdf5, brew::caffe::DataLayerSource::Text,
        brew::caffe::DataLayerSource::Fillers}) {
    const brew::caffe::DataLayerKind *kind =
        brew::caffe::findDataLayerKind(dataLayerType(source));
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->source, source);
  }
  EXPECT_EQ(brew::caffe::findDataLayerKind("CPMData"), nullptr);
  EXPECT_EQ(brew::caffe::findDataLayerKind(""), nullptr);
  EXPECT_EQ(brew::caffe::findDataLayerKind("SoftmaxWithLoss"), nullptr);
}

TEST(DataLayerKinds, DataSourcesAreRefilledInEachPass) {
  for (const char *type :
       {"AnnotatedData", "Data", "DenseImageData", "HDF5Data", "ImageData",
        "ImageLabelmapData", "ImageSegData", "MultiLabelImageData",
        "TokenizedData", "VideoData", "WindowData"})
    EXPECT_TRUE(brew::caffe::findDataLayerKind(type)->isRefilled) << type;
  for (const char *type : {"DummyData", "Input", "MemoryData"})
    EXPECT_FALSE(brew::caffe::findDataLayerKind(type)->isRefilled) << type;
}

TEST(DataLayerKinds, DummyDataIsRefilledUnlessItIsConstant) {
  const brew::caffe::DataLayerKind &dummy =
      *brew::caffe::findDataLayerKind("DummyData");
  brew::caffe::LayerParameter layer;
  EXPECT_FALSE(isRefilled(dummy, layer, 0)); // filled with zeros
  auto &settings = *layer.mutable_dummy_data_param();
  settings.add_data_filler()->set_type("gaussian");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_TRUE(isRefilled(dummy, layer, 1)); // one filler for all tops
  settings.add_data_filler()->set_type("constant");
  EXPECT_TRUE(isRefilled(dummy, layer, 0));
  EXPECT_FALSE(isRefilled(dummy, layer, 1));
  EXPECT_TRUE(isRefilled(*brew::caffe::findDataLayerKind("Data"), layer, 1));
  EXPECT_FALSE(isRefilled(*brew::caffe::findDataLayerKind("Input"), layer, 0));
}

TEST(DataLayerKinds, OnlyInputsComeFromTheCaller) {
  for (const char *type : {"Input", "MemoryData"})
    EXPECT_TRUE(brew::caffe::findDataLayerKind(type)->isFromCaller()) << type;
  for (const char *type : {"Data", "DummyData", "HDF5Data"})
    EXPECT_FALSE(brew::caffe::findDataLayerKind(type)->isFromCaller()) << type;
}

TEST(DataLayerKinds, RecordsAreImagesWithALabel) {
  for (const char *type : {"Data", "ImageData"}) {
    const brew::caffe::DataLayerKind &data =
        *brew::caffe::findDataLayerKind(type);
    EXPECT_TRUE(data.hasImages());
    EXPECT_FALSE(data.isLabel(0));
    EXPECT_TRUE(data.isLabel(1));
  }
  // Windows are cropped and warped on the host.
  EXPECT_FALSE(brew::caffe::findDataLayerKind("WindowData")->hasImages());
  EXPECT_TRUE(brew::caffe::findDataLayerKind("WindowData")->isLabel(1));
  EXPECT_FALSE(brew::caffe::findDataLayerKind("VideoData")->hasImages());
  EXPECT_TRUE(brew::caffe::findDataLayerKind("VideoData")->isLabel(1));
  EXPECT_FALSE(brew::caffe::findDataLayerKind("HDF5Data")->hasImages());
  EXPECT_FALSE(brew::caffe::findDataLayerKind("HDF5Data")->isLabel(1));
}

} // namespace
