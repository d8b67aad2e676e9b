//===- ForkFieldsTest.cpp - The table of forks' fields --------------------===//
#include "frontends/prototxt/upgrade/ForkFields.h"
#include "formats/caffe.pb.h"
#include "frontends/prototxt/upgrade/IneffectiveFields.h"

#include <google/protobuf/descriptor.h>

#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

TEST(ForkFields, FindsForksOfFieldsValuesAndTypes) {
  EXPECT_EQ(forksWithField("VideoDataParameter", "video_type"),
            "SSD (weiliu89/caffe)");
  EXPECT_EQ(forksWithField("ConvolutionParameter", "fusion_type"),
            "Intel Caffe");
  EXPECT_EQ(forksWithField("PoolingParameter", "saturate"), "Synopsys Caffe");
  EXPECT_EQ(forksWithField("LayerParameter", "name"), "");
  EXPECT_EQ(forksWithField("PoolingParameter", "video_type"), "");
  EXPECT_EQ(forksWithValue("DB", "IMAGEDB"), "MyCaffe");
  EXPECT_EQ(forksWithLayerType("ROIPooling"),
            "Faster R-CNN (rbgirshick/caffe-fast-rcnn)");
  EXPECT_EQ(forksWithLayerType("Lstm"), "caffe-lstm (junhyukoh) and MyCaffe");
  EXPECT_EQ(forksWithLayerType("Convolution"), "");
}

TEST(IneffectiveFields, AreNotReportedAsForksFields) {
  EXPECT_TRUE(isIneffectiveField("ConvolutionParameter", "conv_algorithm"));
  EXPECT_EQ(forksWithField("ConvolutionParameter", "conv_algorithm"), "");
  EXPECT_TRUE(isIneffectiveField("LayerParameter", "forward_type"));
  EXPECT_FALSE(isIneffectiveField("PoolingParameter", "forward_type"));
  EXPECT_FALSE(isIneffectiveField("ConvolutionParameter", "relu"));
  EXPECT_TRUE(isIneffectiveValue("Engine", "MKLDNN"));
  EXPECT_FALSE(isIneffectiveValue("Engine", "CUDNN"));
}

TEST(ForkFields, NoListedFieldIsInTheSchema) {
  const auto *file = caffe::LayerParameter::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    const auto *type = file->message_type(i);
    for (int j = 0; j < type->field_count(); ++j)
      EXPECT_EQ(forksWithField(type->name(), type->field(j)->name()), "")
          << type->field(j)->full_name();
  }
}

} // namespace
