//===- InitialValuesTest.cpp ----------------------------------------------===//
#include "caffe/weights/InitialValues.h"

#include "formats/caffe.pb.h"
#include "test/common/NoMoreThreads.h"

#include <gtest/gtest.h>

#include <vector>

using namespace brew;

namespace {

constexpr std::int64_t kCount = 1 << 20; // of several threads

std::vector<float> initial(int threads) {
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
  const std::vector<float> one = initial(1);
  EXPECT_EQ(initial(3), one);
  const test::NoMoreThreads now;
  EXPECT_EQ(initial(4), one);
}

} // namespace
