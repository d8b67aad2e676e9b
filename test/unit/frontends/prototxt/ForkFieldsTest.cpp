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
  EXPECT_STREQ(forkOwningField("LayerParameter", "video_data_param"),
               "SSD (weiliu89/caffe)");
  EXPECT_STREQ(forkOwningField("ConvolutionParameter", "fusion_type"),
               "Intel Caffe");
  EXPECT_EQ(forkOwningField("LayerParameter", "name"), nullptr);
  EXPECT_EQ(forkOwningField("PoolingParameter", "video_data_param"), nullptr);
  EXPECT_STREQ(forkOwningValue("DB", "IMAGEDB"), "MyCaffe");
  EXPECT_STREQ(forkOwningLayerType("ROIPooling"),
               "Faster R-CNN (rbgirshick/caffe-fast-rcnn)");
  EXPECT_EQ(forkOwningLayerType("Convolution"), nullptr);
}

TEST(IneffectiveFields, AreNotReportedAsForksFields) {
  EXPECT_TRUE(isIneffectiveField("ConvolutionParameter", "conv_algorithm"));
  EXPECT_EQ(forkOwningField("ConvolutionParameter", "conv_algorithm"), nullptr);
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
      EXPECT_EQ(forkOwningField(type->name(), type->field(j)->name()), nullptr)
          << type->field(j)->full_name();
  }
}

} // namespace
