//===- OtherSchemaTest.cpp - Another caffe.proto in the process -----------===//
//
// Protobuf aborts a process in which two files register the same name; then
// this program would not reach main.
//
//===----------------------------------------------------------------------===//

#include "formats/ProtoFile.h"
#include "formats/caffe.pb.h"
#include "other/caffe.pb.h"

#include <gtest/gtest.h>

using google::protobuf::DescriptorPool;

TEST(OtherSchema, CoexistsWithBrewsSchema) {
  brew::caffe::NetParameter ours;
  ours.set_name("ours");
  ours.add_layer()->set_type("ReLU");
  caffe::NetParameter theirs;
  theirs.set_title("theirs");

  EXPECT_NE(ours.GetDescriptor(), theirs.GetDescriptor());
  EXPECT_EQ(theirs.GetDescriptor()->file()->name(), "caffe.proto");
  EXPECT_EQ(DescriptorPool::generated_pool()->FindMessageTypeByName(
                "caffe.NetParameter"),
            theirs.GetDescriptor());
  ASSERT_TRUE(theirs.ParseFromString(theirs.SerializeAsString()));
  EXPECT_EQ(theirs.title(), "theirs");
  brew::caffe::NetParameter copy;
  ASSERT_TRUE(copy.ParseFromString(ours.SerializeAsString()));
  EXPECT_EQ(copy.layer(0).type(), "ReLU");
}
