//===- InitialValuesTest.cpp - Filling of parameters by threads -----------===//
#include "caffe/weights/InitialValues.h"

#include "formats/caffe.pb.h"
#include "test/common/NoMoreThreads.h"

#include <gtest/gtest.h>

#include <vector>

using namespace brew;

namespace {

constexpr std::int64_t kCount = 1 << 20; // enough for several threads

std::vector<float> initialValues(int threads) {
  plan::Manifest manifest;
  plan::Buffer &buffer = *manifest.add_buffers();
  buffer.set_type(plan::F32);
  buffer.add_dims(kCount);
  buffer.add_strides(1);
  plan::Parameter parameter;
  parameter.set_layer("ip");
  parameter.add_file_dims(kCount);
  caffe::FillerParameter filler;
  filler.set_type("uniform");
  parameter.set_filler(filler.SerializeAsString());
  std::vector<float> values(kCount, -1);
  caffe::writeInitialValues(manifest, parameter, nullptr, 7, threads,
                            reinterpret_cast<std::byte *>(values.data()));
  return values;
}

TEST(InitialValues, DoNotDependOnThreads) {
  const std::vector<float> expected = initialValues(1);
  EXPECT_EQ(initialValues(3), expected);
  const test::NoMoreThreads noMoreThreads;
  EXPECT_EQ(initialValues(4), expected);
}

} // namespace
