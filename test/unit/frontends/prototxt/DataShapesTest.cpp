//===- DataShapesTest.cpp - Shapes of data layers -------------------------===//

#include "frontends/prototxt/data/DataShapes.h"

#include "Parse.h"
#include "formats/BinaryProto.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/image/ImageEncode.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace brew {
namespace {

using Shapes = std::vector<prototxt::DataShape>;
using prototxt::TemporaryFolder;

caffe::LayerParameter layerOf(const std::string &text) {
  caffe::LayerParameter layer;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &layer));
  return layer;
}

prototxt::DataShapeOptions optionsOf(const std::vector<std::string> &shapes,
                                     int64_t batch = 0) {
  return {prototxt::parseInputShapes(shapes), batch};
}

/// Returns the shapes of the layer's tops.
Shapes shapesOf(caffe::LayerParameter &layer,
                const std::vector<std::string> &folders = {},
                const prototxt::DataShapeOptions &options = {}) {
  return prototxt::inferDataShapes(layer, folders, options).tops;
}

/// Returns the status and text of the error that `call` throws, or Success and
/// an empty text.
template <typename Call> std::pair<ExitStatus, std::string> errorOf(Call call) {
  try {
    call();
  } catch (const Error &error) {
    return {error.status(), error.what()};
  }
  return {ExitStatus::Success, ""};
}

TEST(DataShapes, readsInputShapeFlags) {
  auto shapes = prototxt::parseInputShapes({"data=1,3,4,4", "x=2"});
  EXPECT_EQ(shapes.at("data"), (prototxt::DataShape{1, 3, 4, 4}));
  EXPECT_EQ(shapes.at("x"), prototxt::DataShape{2});
  // The list may have been split at its commas.
  EXPECT_EQ(prototxt::parseInputShapes({"data=1", "3", "x=2"}).at("data"),
            (prototxt::DataShape{1, 3}));
  EXPECT_EQ(prototxt::parseInputShapes({"s="}).at("s"), prototxt::DataShape{});
  for (const char *bad :
       {"data", "3,data=1", "data=0", "data=-1", "data=1,,2", "data=1x2", "=1",
        "data=2147483648", "a=1,a=2", "data=,1", "a=,b=1"})
    EXPECT_EQ(errorOf([&] { prototxt::parseInputShapes({bad}); }).first,
              ExitStatus::Usage)
        << bad;
}

TEST(DataShapes, takesInputsAsWritten) {
  auto layer = layerOf("type: 'Input' top: 'a' top: 'b' input_param { shape { "
                       "dim: 2 dim: 3 } shape { } }");
  EXPECT_EQ(shapesOf(layer, {}, {}), (Shapes{{2, 3}, {}}));
  EXPECT_EQ(shapesOf(layer, {}, optionsOf({"b=7,5"}, 4)),
            (Shapes{{4, 3}, {4, 5}}));
  // Changed shapes are written back.
  EXPECT_EQ(layer.input_param().shape(1).dim(0), 4);

  auto withoutShape = layerOf("type: 'Input' top: 'a'");
  EXPECT_NE(errorOf([&] {
              shapesOf(withoutShape, {}, {});
            }).second.find("--input-shape a="),
            std::string::npos);
  EXPECT_EQ(shapesOf(withoutShape, {}, optionsOf({"a=1,2"})), (Shapes{{1, 2}}));
}

TEST(DataShapes, takesDummyAndMemoryDataAsWritten) {
  auto dummy = layerOf("type: 'DummyData' top: 'a' top: 'b' dummy_data_param "
                       "{ num: 2 num: 3 channels: 4 height: 5 width: 6 }");
  EXPECT_EQ(shapesOf(dummy, {}, {}), (Shapes{{2, 4, 5, 6}, {3, 4, 5, 6}}));
  EXPECT_EQ(dummy.dummy_data_param().num_size(), 0);
  EXPECT_EQ(shapesOf(dummy, {}, optionsOf({}, 9)),
            (Shapes{{9, 4, 5, 6}, {9, 4, 5, 6}}));
  auto memory =
      layerOf("type: 'MemoryData' top: 'a' top: 'b' memory_data_param { "
              "batch_size: 2 channels: 3 height: 4 width: 5 }");
  EXPECT_EQ(shapesOf(memory, {}, {}), (Shapes{{2, 3, 4, 5}, {2}}));
  EXPECT_EQ(shapesOf(memory, {}, optionsOf({}, 7)),
            (Shapes{{7, 3, 4, 5}, {7}}));
}

/// A database with one image of 3 x 4 x 6 in a temporary folder.
struct DatabaseSource : testing::Test {
  DatabaseSource() {
    auto writer =
        formats::DbWriter::create(folder.path("db"), formats::DbBackend::Lmdb);
    writer->put("0", formats::encodeDatum(3, 4, 6, std::string(72, 'x'), 5));
    writer->finish();
  }

  caffe::LayerParameter dataLayer(const std::string &transform = "",
                                  const std::string &source = "db") const {
    return layerOf("name: 'd' type: 'Data' top: 'data' top: 'label' "
                   "transform_param { " +
                   transform + " } data_param { source: '" + source +
                   "' batch_size: 8 backend: LMDB }");
  }
  Shapes inferShapes(caffe::LayerParameter layer,
                     const prototxt::DataShapeOptions &options = {}) const {
    return shapesOf(layer, {folder.path("")}, options);
  }
  void writeMean(const std::string &name, std::vector<int64_t> dims) const {
    formats::Blob blob;
    blob.dims = dims;
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    blob.floats.assign(count, 0);
    formats::writeBinaryProto(folder.path(name), blob);
  }

  TemporaryFolder folder;
};

TEST_F(DatabaseSource, readsTheFirstRecord) {
  EXPECT_EQ(inferShapes(dataLayer()), (Shapes{{8, 3, 4, 6}, {8}}));
  EXPECT_EQ(inferShapes(dataLayer("crop_size: 4")),
            (Shapes{{8, 3, 4, 4}, {8}}));
  EXPECT_EQ(inferShapes(dataLayer(), optionsOf({}, 2)),
            (Shapes{{2, 3, 4, 6}, {2}}));
  auto [status, text] =
      errorOf([&] { inferShapes(dataLayer("crop_size: 5")); });
  EXPECT_EQ(status, ExitStatus::BadInput);
  EXPECT_NE(text.find("crop_size 5 is larger than the images"),
            std::string::npos);
}

TEST_F(DatabaseSource, suggestsInputShapeForMissingSources) {
  auto [status, text] = errorOf([&] { inferShapes(dataLayer("", "none")); });
  EXPECT_EQ(status, ExitStatus::Unavailable);
  EXPECT_NE(text.find("LMDB database 'none' not found; looked for "),
            std::string::npos);
  EXPECT_NE(text.find(folder.path("none")), std::string::npos) << text;
  EXPECT_NE(text.find("--input-shape data=N,C,H,W"), std::string::npos);
  // One option applies to every batch size.
  EXPECT_EQ(inferShapes(dataLayer("", "none"), optionsOf({"data=1,3,32,32"})),
            (Shapes{{8, 3, 32, 32}, {8}}));
}

TEST_F(DatabaseSource, comparesInputShapeOptionWithSource) {
  EXPECT_EQ(inferShapes(dataLayer(), optionsOf({"data=1,3,4,6"})),
            (Shapes{{8, 3, 4, 6}, {8}}));
  EXPECT_NE(
      errorOf([&] { inferShapes(dataLayer(), optionsOf({"data=1,1,4,6"})); })
          .second.find("images of 1x4x6, but " + folder.path("db") +
                       " has images of 3x4x6"),
      std::string::npos);
  EXPECT_EQ(
      errorOf([&] { inferShapes(dataLayer(), optionsOf({"data=1,3"})); }).first,
      ExitStatus::BadInput);
  EXPECT_NE(errorOf([&] {
              inferShapes(dataLayer("crop_size: 4", "none"),
                          optionsOf({"data=1,3,5,5"}));
            }).second.find("but the crop makes them 4x4"),
            std::string::npos);
}

TEST_F(DatabaseSource, stacksImagesOfAnItemAsChannels) {
  auto pairs =
      dataLayer("crop_size: 4 mean_value: 1 mean_value: 2 mean_value: 3");
  pairs.mutable_data_param()->set_images_per_blob(2);
  EXPECT_EQ(inferShapes(pairs), (Shapes{{8, 6, 4, 4}, {8}}));
  EXPECT_EQ(inferShapes(pairs, optionsOf({"data=1,6,4,4"})),
            (Shapes{{8, 6, 4, 4}, {8}}));
  pairs.mutable_data_param()->set_output_all_labels(true);
  EXPECT_EQ(inferShapes(pairs), (Shapes{{8, 6, 4, 4}, {8, 2}}));
  EXPECT_NE(
      errorOf([&] {
        inferShapes(pairs, optionsOf({"data=1,3,4,4"}));
      }).second.find("3 channels, which images_per_blob 2 does not divide"),
      std::string::npos);
  pairs.mutable_data_param()->set_source("none");
  EXPECT_EQ(inferShapes(pairs, optionsOf({"data=1,6,4,4"})),
            (Shapes{{8, 6, 4, 4}, {8, 2}}));
}

TEST_F(DatabaseSource, appliesShapesOfLabels) {
  // The leading dimension is the layer's batch size, as for images.
  EXPECT_EQ(inferShapes(dataLayer(), optionsOf({"label=1"})),
            (Shapes{{8, 3, 4, 6}, {8}}));
  EXPECT_EQ(
      errorOf([&] { inferShapes(dataLayer(), optionsOf({"label=8,2"})); }),
      std::pair(ExitStatus::BadInput,
                std::string("--input-shape gives 'label' as 8x2, but the "
                            "layer makes it 8")));
}

TEST(DataShapes, appliesShapesOfEveryTop) {
  auto memory = [] {
    return layerOf("type: 'MemoryData' top: 'a' top: 'b' memory_data_param { "
                   "batch_size: 2 channels: 3 height: 4 width: 5 }");
  };
  auto infer = [](caffe::LayerParameter layer,
                  const prototxt::DataShapeOptions &options) {
    return shapesOf(layer, {}, options);
  };
  EXPECT_EQ(infer(memory(), optionsOf({"b=7"})), (Shapes{{7, 3, 4, 5}, {7}}));
  EXPECT_EQ(infer(memory(), optionsOf({"a=7,1,1,1", "b=7"})),
            (Shapes{{7, 1, 1, 1}, {7}}));
  EXPECT_EQ(infer(memory(), optionsOf({"b=7"}, 9)),
            (Shapes{{9, 3, 4, 5}, {9}}));
  EXPECT_EQ(errorOf([&] {
              infer(memory(), optionsOf({"a=7,1,1,1", "b=6"}));
            }).second,
            "--input-shape gives 'b' as 6, but the layer makes it 7");
  for (const char *bad : {"b=2,1", "b="})
    EXPECT_EQ(errorOf([&] { infer(memory(), optionsOf({bad})); }).first,
              ExitStatus::BadInput)
        << bad;
}

TEST_F(DatabaseSource, checksMeans) {
  writeMean("fits", {1, 3, 4, 6});
  writeMean("wrong", {1, 1, 4, 6});
  EXPECT_EQ(inferShapes(dataLayer("mean_file: 'fits' crop_size: 2")).size(),
            2u);
  EXPECT_EQ(inferShapes(dataLayer("mean_file: 'absent'")).size(), 2u);
  const std::string text =
      errorOf([&] { inferShapes(dataLayer("mean_file: 'wrong'")); }).second;
  EXPECT_EQ(text, "the mean image in " + folder.path("wrong") +
                      " is 1x4x6, but the images of " + folder.path("db") +
                      " are 3x4x6");
  EXPECT_NE(errorOf([&] {
              inferShapes(dataLayer("mean_value: 1 mean_value: 2"));
            }).second.find("2 times for images of 3 channels"),
            std::string::npos);
}

TEST_F(DatabaseSource, readsRecordsOfSeveralSizes) {
  auto writer =
      formats::DbWriter::create(folder.path("sizes"), formats::DbBackend::Lmdb);
  writer->put("0", formats::encodeDatum(3, 4, 6, std::string(72, 'x'), 5));
  writer->put("1", "damaged");
  writer->put("2", formats::encodeDatum(3, 5, 2, std::string(30, 'x'), 5));
  writer->put("3", formats::encodeDatum(1, 5, 2, std::string(10, 'x'), 5));
  writer->finish();
  auto layer = [&](int batch, const std::string &transform = "") {
    auto result = dataLayer(transform, "sizes");
    result.mutable_data_param()->set_batch_size(batch);
    return result;
  };
  prototxt::DataShapeOptions options;
  const auto [status, text] = errorOf([&] { inferShapes(layer(1)); });
  EXPECT_EQ(status, ExitStatus::ShapesVary);
  EXPECT_NE(text.find("'0' is 3x4x6, '2' is 3x5x2; a plan computes one size"),
            std::string::npos)
      << text;
  EXPECT_EQ(inferShapes(layer(2))[0],
            (prototxt::DataShape{2, 3, 4, 6})); // not checked
  EXPECT_EQ(inferShapes(layer(1, "crop_size: 2"))[0],
            (prototxt::DataShape{1, 3, 2, 2}));
  options.imageSizes = prototxt::ImageSizes::First;
  EXPECT_EQ(inferShapes(layer(1), options)[0],
            (prototxt::DataShape{1, 3, 4, 6}));
  options.imageSizes = prototxt::ImageSizes::Any;
  EXPECT_EQ(inferShapes(layer(1), options), (Shapes{{1, 3, 5, 6}, {1}}));
  EXPECT_NE(errorOf([&] {
              inferShapes(layer(1, "mean_file: 'absent'"), options);
            }).second.find("mean_file fits only one size"),
            std::string::npos);
  auto vary = [&](caffe::LayerParameter of) {
    return prototxt::inferDataShapes(of, {folder.path("")}, options).sizesVary;
  };
  EXPECT_TRUE(vary(layer(1)));
  EXPECT_FALSE(vary(layer(2)));
  auto equal = dataLayer();
  equal.mutable_data_param()->set_batch_size(1);
  EXPECT_FALSE(vary(equal));
}

TEST_F(DatabaseSource, refusesDatabaseOfAnotherBackend) {
  auto layer = dataLayer();
  layer.mutable_data_param()->set_backend(caffe::DataParameter::LEVELDB);
  EXPECT_EQ(errorOf([&] { inferShapes(layer); }).first, ExitStatus::BadInput);
}

TEST(DataShapes, readsHdf5Files) {
  TemporaryFolder folder;
  {
    formats::Hdf5Writer writer(folder.path("a.h5"));
    const std::vector<float> values(5 * 2 * 3);
    writer.write("x", {5, 2, 3}, values.data());
    writer.write("l", {5}, values.data());
    writer.write("s", {}, values.data());
    writer.commit();
  }
  folder.write("list.txt", "a.h5\n");
  auto layer = layerOf("type: 'HDF5Data' top: 'x' top: 'l' hdf5_data_param { "
                       "source: 'list.txt' batch_size: 4 }");
  const std::vector<std::string> folders = {folder.path("")};
  EXPECT_EQ(shapesOf(layer, folders, {}), (Shapes{{4, 2, 3}, {4}}));
  EXPECT_EQ(shapesOf(layer, folders, optionsOf({}, 6)),
            (Shapes{{6, 2, 3}, {6}}));
  EXPECT_EQ(layer.hdf5_data_param().batch_size(), 6u);
  EXPECT_EQ(
      errorOf([&] { shapesOf(layer, folders, optionsOf({"x=1,2,4"})); }).first,
      ExitStatus::BadInput);
  // Without the files every top needs its shape.
  EXPECT_EQ(shapesOf(layer, {}, optionsOf({"x=1,2,3", "l=1"})),
            (Shapes{{6, 2, 3}, {6}}));
  EXPECT_NE(errorOf([&] {
              shapesOf(layer, {}, optionsOf({"x=1,2,3"}));
            }).second.find("--input-shape l=N,..."),
            std::string::npos);

  auto scalar = layerOf("type: 'HDF5Data' top: 's' hdf5_data_param { "
                        "source: 'list.txt' batch_size: 4 }");
  EXPECT_NE(errorOf([&] {
              shapesOf(scalar, folders, {});
            }).second.find("is a single value"),
            std::string::npos);
}

TEST(DataShapes, boundsElementCounts) {
  auto layer = layerOf("type: 'Input' top: 'a' input_param { shape { dim: "
                       "65536 dim: 32767 } }");
  EXPECT_EQ(shapesOf(layer, {}, {}).size(), 1u);
  EXPECT_EQ(errorOf([&] { shapesOf(layer, {}, optionsOf({}, 65540)); }).first,
            ExitStatus::BadInput);
}

//===----------------------------------------------------------------------===//
// Image files
//===----------------------------------------------------------------------===//

class ImageSource : public testing::Test {
protected:
  void SetUp() override {
    formats::Image image;
    image.channels = 3;
    image.height = 6;
    image.width = 9;
    image.pixels.resize(6 * 9 * 3);
    writeFileAtomically(folder.path("a.png"),
                        formats::encodeImage(image, formats::ImageFormat::Png));
    writeFileAtomically(folder.path("list"), "a.png 3\n");
  }

  Shapes inferShapes(const std::string &settings,
                     const std::string &otherFields = "",
                     const prototxt::DataShapeOptions &options = {}) {
    auto layer = layerOf("type: 'ImageData' top: 'd' top: 'l' image_data_param "
                         "{ batch_size: 4 " +
                         settings + " } " + otherFields);
    return shapesOf(layer, {folder.path("")}, options);
  }

  TemporaryFolder folder;
};

TEST_F(ImageSource, readsTheFirstImageUnlessTheSizeIsSet) {
  EXPECT_EQ(inferShapes("source: 'list'"), (Shapes{{4, 3, 6, 9}, {4}}));
  EXPECT_EQ(inferShapes("source: 'list' is_color: false"),
            (Shapes{{4, 1, 6, 9}, {4}}));
  EXPECT_EQ(inferShapes("source: 'list'", "", optionsOf({}, 2)),
            (Shapes{{2, 3, 6, 9}, {2}}));
  EXPECT_EQ(inferShapes("source: 'list' images_per_blob: 2"),
            (Shapes{{4, 6, 6, 9}, {4}}));
  // These layers do not need their list file.
  EXPECT_EQ(inferShapes("source: 'absent' new_height: 5 new_width: 7"),
            (Shapes{{4, 3, 5, 7}, {4}}));
  EXPECT_EQ(
      inferShapes("source: 'absent'", "transform_param { crop_size: 11 }"),
      (Shapes{{4, 3, 11, 11}, {4}}));
  EXPECT_EQ(inferShapes("source: 'absent'", "", optionsOf({"d=1,3,8,8"})),
            (Shapes{{4, 3, 8, 8}, {4}}));
}

TEST_F(ImageSource, reportsMissingAndTooSmallImages) {
  auto [status, text] = errorOf([&] { inferShapes("source: 'absent'"); });
  EXPECT_EQ(status, ExitStatus::Unavailable);
  EXPECT_NE(text.find("--input-shape d=N,C,H,W"), std::string::npos) << text;
  writeFileAtomically(folder.path("list"), "b.png 3\n");
  std::tie(status, text) = errorOf([&] { inferShapes("source: 'list'"); });
  EXPECT_EQ(status, ExitStatus::Unavailable);
  EXPECT_NE(text.find("list:1: image 'b.png' not found"), std::string::npos)
      << text;
  std::tie(status, text) = errorOf([&] {
    inferShapes("source: 'list' new_height: 5 new_width: 7",
                "transform_param { crop_size: 6 }");
  });
  EXPECT_NE(text.find("crop_size 6 is larger"), std::string::npos) << text;
}

TEST_F(ImageSource, windowsAreAsLargeAsTheirCrops) {
  auto layer = layerOf("type: 'WindowData' top: 'd' top: 'l' "
                       "window_data_param { source: 'absent' batch_size: 5 } "
                       "transform_param { crop_size: 8 }");
  EXPECT_EQ(shapesOf(layer, {}, {}), (Shapes{{5, 3, 8, 8}, {5}}));
}

} // namespace
} // namespace brew
