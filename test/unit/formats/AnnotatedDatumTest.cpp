//===- AnnotatedDatumTest.cpp - Tests of annotated records ----------------===//
#include "formats/AnnotatedDatum.h"
#include "formats/Datum.h"
#include "formats/caffe.pb.h"
#include "support/Error.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

using namespace brew;
using namespace brew::formats;

namespace {

/// Returns a record of a 2x1x2 image with label 5 and two groups of objects: 3
/// with label 3 and 7 with label 7.
caffe::AnnotatedDatum exampleRecord() {
  caffe::AnnotatedDatum record;
  record.set_type(caffe::AnnotatedDatum::BBOX);
  record.mutable_datum()->ParseFromString(
      encodeDatum(2, 1, 2, std::string("\1\2\3\4"), 5));
  for (int label : {3, 7}) {
    caffe::AnnotationGroup &group = *record.add_annotation_group();
    group.set_group_label(label);
    for (int i = 0; i < label; ++i)
      group.add_annotation()->set_instance_id(i);
  }
  return record;
}

TEST(AnnotatedDatum, DecodesInterleavedPixelsAndObjects) {
  AnnotatedRecord record;
  const std::string bytes = exampleRecord().SerializeAsString();
  decodeAnnotatedDatum(bytes, ImageColor::Native, "r", record);
  EXPECT_EQ(record.image.pixels, (std::vector<uint8_t>{1, 3, 2, 4}));
  EXPECT_TRUE(record.hasType && record.hasLabel);
  EXPECT_EQ(record.label, 5);
  ASSERT_EQ(record.objects.size(), 10U);
  EXPECT_EQ(record.objects[3].label, 7);
  EXPECT_EQ(record.objects[9].instance, 6);
  EXPECT_EQ(countObjects(bytes, "r"), 10U);
}

TEST(AnnotatedDatum, IsDistinguishedFromADatum) {
  EXPECT_TRUE(isAnnotatedDatum(exampleRecord().SerializeAsString()));
  EXPECT_FALSE(isAnnotatedDatum(encodeDatum(1, 1, 1, "x", 0)));
  EXPECT_FALSE(isAnnotatedDatum(""));
}

TEST(AnnotatedDatum, RejectsDamagedRecordsAndFloatImages) {
  AnnotatedRecord record;
  const std::string bytes = exampleRecord().SerializeAsString();
  for (const std::string &damaged :
       {bytes.substr(0, bytes.size() - 1), std::string("\xff\xff")}) {
    test::expectError(ExitStatus::BadInput, "r: damaged record", [&] {
      decodeAnnotatedDatum(damaged, ImageColor::Native, "r", record);
    });
    test::expectError(ExitStatus::BadInput, "r: damaged record",
                      [&] { countObjects(damaged, "r"); });
  }
  caffe::AnnotatedDatum floats = exampleRecord();
  floats.mutable_datum()->clear_data();
  for (int i = 0; i < 4; ++i)
    floats.mutable_datum()->add_float_data(1);
  test::expectError(ExitStatus::BadInput, "an image of floats", [&] {
    decodeAnnotatedDatum(floats.SerializeAsString(), ImageColor::Native, "r",
                         record);
  });
}

} // namespace
