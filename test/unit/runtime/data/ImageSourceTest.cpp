//===- ImageSourceTest.cpp - ImageData layers -----------------------------===//
#include "ImageFolder.h"

#include <algorithm>
#include <array>
#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

class ImageSourceTest : public test::ImageFolder {
protected:
  /// Writes the images 0 to count - 1, and a list with their numbers as labels.
  void writeList(int count) {
    std::string lines;
    for (int n = 0; n < count; ++n) {
      const std::string name = "image " + std::to_string(n) + ".png";
      writeImage(name, n);
      lines += name + " " + std::to_string(n) + "\n";
    }
    test::writeBytes(folder / "list.txt", lines);
  }

  std::unique_ptr<BatchSource> open(const std::string &settings,
                                    std::vector<std::int64_t> dims,
                                    const std::string &otherFields = "",
                                    bool testPhase = true,
                                    unsigned threads = 2) {
    return imageSource.open(info("ImageData",
                                 "image_data_param { source: 'list.txt' " +
                                     settings + " } " + otherFields,
                                 std::move(dims), testPhase, threads));
  }

  void expectReadError(BatchSource &source, ExitStatus status,
                       const std::string &message) {
    test::expectError(status, message, [&] { read(source); });
  }
};

using Labels = std::vector<float>;

} // namespace

TEST_F(ImageSourceTest, ReadsInOrderAndWrapsAround) {
  writeList(5);
  auto source = open("", {3, 3, 4, 5});
  read(*source);
  EXPECT_EQ(labels, (Labels{0, 1, 2}));
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(at(n, c, 2, 3), pixel(n, c, 2, 3));
  read(*source);
  EXPECT_EQ(labels, (Labels{3, 4, 0}));
  EXPECT_EQ(source->position().records, 6u);
  EXPECT_EQ(source->position().epoch, 1u);
  EXPECT_EQ(source->position().position, 1u);
}

TEST_F(ImageSourceTest, ResizesAndConvertsToGray) {
  writeList(1);
  auto source =
      open("new_height: 7 new_width: 2 is_color: false", {1, 1, 7, 2});
  read(*source);
  // Channels differ by 100; their weights for gray are 0.114, 0.587, 0.299. The
  // first pixel lies at column 0.75 of the source.
  EXPECT_NEAR(at(0, 0, 0, 0), pixel(0, 0, 0, 0) + 58.7 + 59.8 + 0.75, 1.5);
  test::expectError(ExitStatus::BadInput, "set both or neither of new_height",
                    [&] {
                      open("new_height: 7", {1, 3, 7, 2});
                    });
}

TEST_F(ImageSourceTest, ShufflesEachPass) {
  writeList(6);
  auto source = open("shuffle: true", {6, 3, 4, 5}, "", false);
  std::set<Labels> orders;
  for (int pass = 0; pass < 4; ++pass) {
    read(*source);
    orders.insert(labels);
    Labels sorted = labels;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (Labels{0, 1, 2, 3, 4, 5})); // each once
  }
  EXPECT_EQ(orders.size(), 4u);
}

TEST_F(ImageSourceTest, SeekContinuesExactlyAtAnyNumberOfThreads) {
  writeList(7);
  const std::string settings = "shuffle: true";
  const std::string otherFields =
      "transform_param { mirror: true crop_size: 3 }";
  auto source = open(settings, {4, 3, 3, 3}, otherFields, false, 1);
  for (int i = 0; i < 5; ++i) {
    auto resumed = open(settings, {4, 3, 3, 3}, otherFields, false, 1 + i);
    resumed->seek(source->position());
    read(*source);
    const std::vector<float> expected = values, expectedLabels = labels;
    read(*resumed);
    EXPECT_EQ(values, expected);
    EXPECT_EQ(labels, expectedLabels);
    EXPECT_EQ(resumed->position().position, source->position().position);
  }
  SourcePosition beyond;
  beyond.position = 7;
  test::expectError(ExitStatus::BadInput, "lists only 7",
                    [&] { source->seek(beyond); });
}

TEST_F(ImageSourceTest, RandSkipStartsWithinItsRange) {
  writeList(5);
  auto source = open("rand_skip: 4", {1, 3, 4, 5});
  EXPECT_LT(source->position().position, 4u);
  const auto first = float(source->position().position);
  read(*source);
  EXPECT_EQ(labels[0], first);
  // This seed skips more images than the list has.
  test::expectError(ExitStatus::BadInput, "not enough to skip", [&] {
    open("rand_skip: 4000000000", {1, 3, 4, 5});
  });
}

TEST_F(ImageSourceTest, ErrorsNameFileAndLine) {
  writeList(3);
  test::writeBytes(folder / "list.txt", "image 0.png 0\nabsent.png 1\n");
  auto source = open("", {2, 3, 4, 5});
  expectReadError(*source, ExitStatus::Unavailable, "list.txt:2: image");

  test::writeBytes(folder / "list.txt", "image 0.png 0\nimage 1.png 1\n");
  const std::string bytes = test::readBytes(folder / "image 1.png");
  test::writeBytes(folder / "image 1.png", bytes.substr(0, bytes.size() / 2));
  source = open("", {2, 3, 4, 5});
  expectReadError(*source, ExitStatus::BadInput, "list.txt:2: ");

  writeImage("image 1.png", 1, 6, 6);
  source = open("", {2, 3, 4, 5});
  expectReadError(*source, ExitStatus::BadInput,
                  "3 x 6 x 6, but the plan was built for images of 3 x 4 x 5");

  test::writeBytes(folder / "list.txt", "image 0.png 0\n\n");
  source = open("", {2, 3, 4, 5});
  expectReadError(*source, ExitStatus::BadInput, "list.txt:2: names no image");
}

TEST_F(ImageSourceTest, ReplacesBadRecordsByTheNextOnes) {
  writeList(9);
  for (int n : {1, 2, 7}) {
    const std::string name = folder / ("image " + std::to_string(n) + ".png");
    test::writeBytes(name, test::readBytes(name).substr(0, 60));
  }
  std::filesystem::remove(folder / "image 5.png");
  for (unsigned threads : {1u, 4u}) {
    auto layerInfo =
        info("ImageData", "image_data_param { source: 'list.txt' }",
             {4, 3, 4, 5}, true, threads);
    layerInfo.readerOptions.skipBadRecords = true;
    auto source = imageSource.open(layerInfo);
    // 4 replaces the damaged 1. 6 replaces 2, because 5 is missing.
    read(*source);
    EXPECT_EQ(labels, (Labels{0, 4, 6, 3}));
    EXPECT_EQ(at(1, 2, 3, 4), pixel(4, 2, 3, 4));
    EXPECT_EQ(source->skippedRecords(), 3u);
    EXPECT_EQ(source->position().position, 7u);
    EXPECT_EQ(source->position().records, 4u);
  }
  // Fails if no image is left.
  for (int n : {0, 3, 4, 6, 8})
    std::filesystem::remove(folder / ("image " + std::to_string(n) + ".png"));
  auto layerInfo = info("ImageData", "image_data_param { source: 'list.txt' }",
                        {4, 3, 4, 5}, true, 2);
  layerInfo.readerOptions.skipBadRecords = true;
  auto source = imageSource.open(layerInfo);
  test::expectError(ExitStatus::Unavailable, "no intact record is left",
                    [&] { read(*source); });
}

TEST_F(ImageSourceTest, PrependsRootFolderToNames) {
  writeList(1);
  test::writeBytes(folder / "list.txt", "age 0.png 4\n");
  auto source = open("root_folder: 'im'", {1, 3, 4, 5});
  read(*source);
  EXPECT_EQ(labels, Labels{4});
}

TEST_F(ImageSourceTest, ReadsImagesOfSeveralSizes) {
  const std::vector<std::array<int, 2>> sizes = {{4, 5}, {2, 6}, {3, 3}};
  std::string lines;
  for (int n = 0; n < 3; ++n) {
    const std::string name = std::to_string(n) + ".png";
    writeImage(name, n, sizes[n][0], sizes[n][1]);
    lines += name + " " + std::to_string(n) + "\n";
  }
  test::writeBytes(folder / "list.txt", lines);
  for (const plan::DataType type : {plan::F32, plan::F64}) {
    DataLayerInfo layer =
        info("ImageData", "image_data_param { source: 'list.txt' }",
             {1, 3, 4, 6}, /*testPhase=*/false, /*threads=*/3);
    layer.imageSizesVary = true;
    data.set_type(type);
    std::vector<double> memory(3 * 4 * 6);
    auto source = imageSource.open(layer);
    for (int n : {0, 1, 2, 0}) {
      float label = -1;
      source->read({reinterpret_cast<std::byte *>(memory.data()),
                    reinterpret_cast<std::byte *>(&label)});
      const auto [height, width] = sizes[n];
      EXPECT_EQ(source->shapes(), (BatchShapes{{1, 3, height, width}, {1}}));
      EXPECT_EQ(label, n);
      std::size_t index = 0;
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x, ++index)
            EXPECT_EQ(type == plan::F64
                          ? memory[index]
                          : reinterpret_cast<float *>(memory.data())[index],
                      pixel(n, c, y, x));
    }
    writeImage("1.png", 1, 5, 2);
    test::expectError(
        ExitStatus::BadInput,
        "1.png is an image of 3 x 5 x 2, but the images had at "
        "most 3 x 4 x 6 when the plan was built",
        [&] {
          source->read({reinterpret_cast<std::byte *>(memory.data()), nullptr});
        });
    writeImage("1.png", 1, 2, 6);
  }
  EXPECT_TRUE(open("", {1, 3, 4, 5})->shapes().empty());
}
