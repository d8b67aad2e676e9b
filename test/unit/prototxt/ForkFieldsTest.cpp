//===- ForkFieldsTest.cpp - The table of forks' fields --------------------===//
#include "frontends/prototxt/ForkFields.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;

namespace {

TEST(ForkFields, LookUps) {
  EXPECT_STREQ(forkOwningField("LayerParameter", "prior_box_param"),
               "SSD (weiliu89/caffe)");
  EXPECT_STREQ(forkOwningField("ConvolutionParameter", "conv_algorithm"),
               "Intel Caffe");
  EXPECT_EQ(forkOwningField("LayerParameter", "name"), nullptr);
  EXPECT_EQ(forkOwningField("PoolingParameter", "prior_box_param"), nullptr);
  EXPECT_STREQ(forkOwningValue("DB", "IMAGEDB"), "MyCaffe");
  EXPECT_STREQ(forkOwningLayerType("ROIPooling"),
               "Faster R-CNN (rbgirshick/caffe-fast-rcnn)");
  EXPECT_EQ(forkOwningLayerType("Convolution"), nullptr);
}

} // namespace
