//===- AnnotatedSourceTest.cpp - AnnotatedData ----------------------------===//
#include "TestPlan.h"
#include "formats/Database.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/annotated/AnnotatedObjects.h"
#include "runtime/data/annotated/ImageAugmentation.h"
#include "support/Error.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

/// Three records with images of 3 x 4 x 8. Pixel (c, y, x) of record n is
/// 8 * y + x + 10 * n. Record n has n objects with the labels 1 to n, all from
/// (1/4, 1/4) to (3/4, 3/4).
class AnnotatedSourceTest : public testing::Test {
protected:
  void SetUp() override {
    auto writer = formats::DbWriter::create(folder / "db",
                                            formats::DbBackend::Lmdb, true);
    for (int n = 0; n < 3; ++n) {
      caffe::AnnotatedDatum record;
      record.set_type(caffe::AnnotatedDatum::BBOX);
      caffe::Datum &datum = *record.mutable_datum();
      datum.set_channels(3);
      datum.set_height(4);
      datum.set_width(8);
      datum.set_label(n);
      std::string pixels;
      for (int i = 0; i < 3 * 32; ++i)
        pixels += char(i % 32 + 10 * n);
      datum.set_data(pixels);
      for (int k = 0; k < n; ++k) {
        caffe::AnnotationGroup &group = *record.add_annotation_group();
        group.set_group_label(k + 1);
        caffe::NormalizedBBox &box = *group.add_annotation()->mutable_bbox();
        box.set_xmin(0.25);
        box.set_ymin(0.25);
        box.set_xmax(0.75);
        box.set_ymax(0.75);
        box.set_difficult(k == 1);
      }
      writer->put("key" + std::to_string(n), record.SerializeAsString());
    }
    writer->finish();
  }

  std::unique_ptr<BatchSource> open(const std::string &fields,
                                    std::vector<std::int64_t> image,
                                    std::int64_t boxes, bool testPhase,
                                    unsigned threads = 1,
                                    const std::string &dataFields = "",
                                    std::vector<std::int64_t> lists = {}) {
    data = test::makeBuffer("data", 0, 0, image, {}, plan::F32);
    label = test::makeBuffer(
        "label", 0, 0,
        lists.empty() ? std::vector<std::int64_t>{1, 1, boxes, 8} : lists);
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        "name: 'd' type: 'AnnotatedData' top: 'data' top: 'label' data_param { "
        "source: 'db' backend: LMDB " +
        dataFields + " } " + fields);
    info.tops = {&data, &label};
    info.testPhase = testPhase;
    info.seed = {3};
    info.stream = "program/d";
    info.folders = {folder.path()};
    info.readerOptions.threads = threads;
    return annotatedSource.open(info);
  }

  /// Returns the lists of boxes of a batch of three images.
  std::vector<float> readLists(const std::string &fields) {
    auto source = open("annotated_data_param { yolo_data_type: 1 " + fields,
                       {3, 3, 4, 8}, 2, true, 1, "", {3, 1, 2, 5});
    bytes.assign(data.size(), std::byte(0));
    rows.assign(3 * 2 * 5, 7);
    source->read({bytes.data(), reinterpret_cast<std::byte *>(rows.data())});
    return rows;
  }

  void read(BatchSource &source) {
    bytes.assign(data.size(), std::byte(0));
    rows.assign(static_cast<std::size_t>(label.dims(2)) * 8, 7);
    source.read({bytes.data(), reinterpret_cast<std::byte *>(rows.data())});
  }
  float at(std::size_t element) const {
    return reinterpret_cast<const float *>(bytes.data())[element];
  }
  std::vector<float> row(std::size_t n) const {
    return {rows.begin() + static_cast<std::ptrdiff_t>(n * 8),
            rows.begin() + static_cast<std::ptrdiff_t>(n * 8 + 8)};
  }

  test::TempFolder folder;
  plan::Buffer data, label;
  std::vector<std::byte> bytes;
  std::vector<float> rows;
};

using Row = std::vector<float>;

} // namespace

TEST_F(AnnotatedSourceTest, RowsNameTheImageInTheBatch) {
  auto source =
      open("transform_param { scale: 2 mean_value: 1 }", {3, 3, 4, 8}, 5, true);
  read(*source);
  EXPECT_EQ(at(0), -2);
  EXPECT_EQ(at(96 + 9), (19 - 1) * 2);
  EXPECT_EQ(row(0), (Row{1, 1, 0, .25, .25, .75, .75, 0}));
  EXPECT_EQ(row(1), (Row{2, 1, 0, .25, .25, .75, .75, 0}));
  EXPECT_EQ(row(2), (Row{2, 2, 0, .25, .25, .75, .75, 1}));
  EXPECT_EQ(row(3), Row(8, -1));
  EXPECT_EQ(row(4), Row(8, -1));
}

TEST_F(AnnotatedSourceTest, ListsOfBoxesForYolo) {
  const Row object = {0, .5, .5, .5, .5}, other = {1, .5, .5, .5, .5};
  Row expected(30, 0);
  std::copy(object.begin(), object.end(), expected.begin() + 10);
  std::copy(object.begin(), object.end(), expected.begin() + 20);
  Row withoutDifficult = expected;
  std::copy(other.begin(), other.end(), expected.begin() + 25);
  EXPECT_EQ(readLists("yolo_data_jitter: 0 }"), expected);
  EXPECT_EQ(readLists("yolo_data_jitter: 0 train_diffcult: false }"),
            withoutDifficult);
}

TEST_F(AnnotatedSourceTest, RefusesTooLongLists) {
  auto source = open("annotated_data_param { yolo_data_type: 1 "
                     "yolo_data_jitter: 0 }",
                     {3, 3, 4, 8}, 1, true, 1, "", {3, 1, 1, 5});
  rows.assign(15, 0);
  bytes.assign(data.size(), std::byte(0));
  EXPECT_THROW(
      source->read({bytes.data(), reinterpret_cast<std::byte *>(rows.data())}),
      Error);
}

TEST_F(AnnotatedSourceTest, JitterCropsAndScalesBoxes) {
  // At least half of the crop is part of an object around its centre.
  auto source = open("transform_param { resize_param { height: 4 width: 8 } "
                     "emit_constraint { emit_type: CENTER } } "
                     "annotated_data_param { yolo_data_type: 1 "
                     "yolo_data_jitter: 0.9 }",
                     {3, 3, 4, 8}, 1, false, 1, "", {3, 1, 2, 5});
  std::set<float> widths;
  for (int i = 0; i < 30; ++i) {
    rows.assign(30, 7);
    bytes.assign(data.size(), std::byte(0));
    source->read({bytes.data(), reinterpret_cast<std::byte *>(rows.data())});
    const float *box = rows.data() + 10 + 1;
    if (box[2] == 0)
      continue; // the crop does not contain the centre
    EXPECT_GE(box[2], 0.5F - 1e-6F);
    EXPECT_LE(box[0] + box[2] / 2, 1 + 1e-6F);
    EXPECT_GE(box[1] - box[3] / 2, -1e-6F);
    widths.insert(box[2]);
  }
  EXPECT_GT(widths.size(), 5u);
  EXPECT_EQ(*widths.begin(), 0.5F); // a fifth of the images is not cropped
}

TEST_F(AnnotatedSourceTest, CropsCutBoxes) {
  // The crop is the centre 2 x 4 of 4 x 8, which is exactly the object.
  auto source =
      open("transform_param { crop_h: 2 crop_w: 4 }", {3, 3, 2, 4}, 3, true);
  read(*source);
  EXPECT_EQ(at(0), 8 + 2);
  EXPECT_EQ(row(0), (Row{1, 1, 0, 0, 0, 1, 1, 0}));
}

TEST_F(AnnotatedSourceTest, ResizesAndPads) {
  // 4 x 8 fits into 8 x 8 with two rows of padding above and below.
  auto source = open("transform_param { resize_param { height: 8 width: 8 "
                     "resize_mode: FIT_LARGE_SIZE_AND_PAD pad_value: 99 } }",
                     {2, 3, 8, 8}, 3, true);
  read(*source);
  EXPECT_EQ(at(0), 99);
  EXPECT_EQ(at(2 * 8 + 1), 1);
  EXPECT_EQ(row(0), (Row{1, 1, 0, .25, .375, .75, .625, 0}));
}

TEST_F(AnnotatedSourceTest, MirrorsBoxesWithTheirImages) {
  auto source = open("transform_param { mirror: true crop_h: 4 crop_w: 6 }",
                     {3, 3, 4, 6}, 9, false);
  bool wasSeen[2] = {};
  for (int i = 0; i < 12; ++i) {
    read(*source);
    // The first pixel identifies the crop's origin and mirroring.
    const bool mirrored = at(72) > at(73);
    const float left = (mirrored ? at(72 + 5) : at(72)) - 10;
    wasSeen[mirrored] = true;
    const float boxLeft = (2 - left) / 6, boxRight = (6 - left) / 6;
    EXPECT_NEAR(row(0)[3], mirrored ? 1 - boxRight : boxLeft, 1e-6);
    EXPECT_NEAR(row(0)[5], mirrored ? 1 - boxLeft : boxRight, 1e-6);
  }
  EXPECT_TRUE(wasSeen[0] && wasSeen[1]);
}

TEST_F(AnnotatedSourceTest, ThreadsAndResumingDoNotChangeDraws) {
  const std::string fields =
      "transform_param { mirror: true resize_param { height: 6 width: 6 "
      "interp_mode: AREA interp_mode: CUBIC } distort_param { hue_prob: 0.5 "
      "hue_delta: 18 saturation_prob: 0.5 saturation_lower: 0.5 "
      "saturation_upper: 1.5 random_order_prob: 0.5 } expand_param { "
      "max_expand_ratio: 3 } noise_param { saltpepper: true saltpepper_param { "
      "fraction: 0.1 value: 255 } jpeg: 60 hist_eq: true clahe: true } } "
      "annotated_data_param { batch_sampler { sampler { min_scale: 0.3 } "
      "sample_constraint { min_jaccard_overlap: 0.1 } max_sample: 1 } }";
  auto source = open(fields, {4, 3, 6, 6}, 12, false);
  read(*source);
  read(*source);
  const SourcePosition position = source->position();
  read(*source);
  const auto pixels = bytes;
  const auto boxes = rows;
  auto resumed = open(fields, {4, 3, 6, 6}, 12, false, 4);
  resumed->seek(position);
  read(*resumed);
  EXPECT_EQ(bytes, pixels);
  EXPECT_EQ(rows, boxes);
}

TEST_F(AnnotatedSourceTest, RejectsTooLargeExpansions) {
  // brewc rejects such a ratio, but a plan may come from elsewhere.
  auto source = open("transform_param { resize_param { height: 4 width: 8 } "
                     "expand_param { prob: 1 max_expand_ratio: 1e30 } }",
                     {3, 3, 4, 8}, 5, false);
  test::expectError(ExitStatus::BadInput, "times is too large",
                    [&] { read(*source); });
}

TEST_F(AnnotatedSourceTest, ShufflesButRefusesBalancingAndPairs) {
  auto source = open("", {3, 3, 4, 8}, 5, true, 2, "shuffle: true");
  std::set<std::vector<std::byte>> orders;
  for (int i = 0; i < 12; ++i) {
    read(*source);
    orders.insert(bytes);
    auto resumed = open("", {3, 3, 4, 8}, 5, true, 1, "shuffle: true");
    resumed->seek(source->position());
    read(*source);
    const auto expected = bytes;
    read(*resumed);
    EXPECT_EQ(bytes, expected);
  }
  EXPECT_GT(orders.size(), 2u);
  for (const char *fields : {"balance: LABEL", "images_per_blob: 2"})
    test::expectError(ExitStatus::BadInput, "", [&] {
      open("", {3, 3, 4, 8}, 5, true, 1, fields);
    });
}

TEST_F(AnnotatedSourceTest, RefusesMoreObjectsThanThePlanAllows) {
  auto source = open("", {3, 3, 4, 8}, 2, true);
  test::expectError(ExitStatus::BadInput,
                    "has 3 objects; the plan was built "
                    "for 2",
                    [&] { read(*source); });
}

TEST(AnnotatedObjects, CropsMeetTheirConstraints) {
  const Objects objects = {{1, 0, 0.2F, 0.2F, 0.6F, 0.6F, false}};
  google::protobuf::RepeatedPtrField<caffe::BatchSampler> samplers;
  caffe::BatchSampler &sampler = *samplers.Add();
  sampler = test::parse<caffe::BatchSampler>(
      "sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 "
      "max_aspect_ratio: 2 } sample_constraint { min_jaccard_overlap: 0.4 } "
      "max_trials: 200");
  const brew::caffe::RandomStream stream(1, "test");
  RandomDraws draws(stream, 5);
  const std::vector<Box<float>> crops = drawCrops(samplers, objects, draws);
  ASSERT_FALSE(crops.empty());
  EXPECT_LT(crops.size(), 200U);
  for (const Box<float> &crop : crops) {
    EXPECT_GE(intersectionOverUnion(crop, boxOf(objects[0])), 0.4F);
    EXPECT_GE(crop.left, 0);
    EXPECT_LE(crop.bottom, 1 + 1e-6F);
  }
}

TEST(AnnotatedObjects, CropsKeepOverlappingObjects) {
  const Objects objects = {{1, 0, 0.0F, 0.0F, 0.4F, 0.4F, false},
                           {2, 0, 0.4F, 0.4F, 0.8F, 0.8F, false}};
  const Box<float> crop = {0.3F, 0.3F, 0.8F, 0.8F};
  EXPECT_EQ(objectsInCrop(crop, objects, nullptr).size(), 2U);
  caffe::EmitConstraint centre;
  EXPECT_EQ(objectsInCrop(crop, objects, &centre).size(), 1U);
  caffe::EmitConstraint minOverlap;
  minOverlap.set_emit_type(caffe::EmitConstraint::MIN_OVERLAP);
  minOverlap.set_emit_overlap(
      0.05F); // 1 / 16 of the first object lies in the crop
  EXPECT_EQ(objectsInCrop(crop, objects, &minOverlap).size(), 2U);
  minOverlap.set_emit_overlap(0.07F);
  EXPECT_EQ(objectsInCrop(crop, objects, &minOverlap).size(), 1U);
}

TEST(ImageAugmentation, ExpandsWithTheMean) {
  formats::Image image;
  image.channels = 1;
  image.height = image.width = 1;
  image.pixels = {9};
  const formats::Image large = expandImage(image, 2, 3, 1, 2, {103.6F});
  EXPECT_EQ(large.pixels,
            (std::vector<std::uint8_t>{104, 104, 104, 104, 104, 9}));
}

TEST(ImageAugmentation, DecolorizingNeedsThreeChannels) {
  formats::Image image;
  image.channels = 1;
  image.height = image.width = 2;
  image.pixels = {1, 2, 3, 4};
  const brew::caffe::RandomStream stream(1, "test");
  RandomDraws draws(stream, 0);
  caffe::NoiseParameter noise;
  noise.set_inverse(true);
  addNoise(image, noise, draws);
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{254, 253, 252, 251}));
  noise.set_decolorize(true);
  test::expectError(ExitStatus::BadInput,
                    "decolorize needs images of 3 channels, not 1",
                    [&] { addNoise(image, noise, draws); });
}
