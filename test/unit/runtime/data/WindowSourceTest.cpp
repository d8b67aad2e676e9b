//===- WindowSourceTest.cpp - WindowData layers ---------------------------===//
#include "ImageFolder.h"
#include "runtime/data/WindowCrop.h"

#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

class WindowSourceTest : public test::ImageFolder {
protected:
  void SetUp() override {
    writeImage("a.png", 0, 20, 24);
    writeImage("b.png", 1, 16, 12);
    test::writeBytes(folder / "windows.txt",
                     "# 0\na.png\n3 20 24\n3\n5 0.9 2 3 9 10\n4 0.1 0 0 3 3\n"
                     "4 0.4 0 0 3 3\n# 1\nb.png\n3 16 12\n2\n6 0.5 1 1 6 6\n"
                     "2 0.2 4 4 11 15\n");
  }

  std::unique_ptr<BatchSource> open(const std::string &settings,
                                    std::vector<std::int64_t> dims,
                                    const std::string &transform = "",
                                    unsigned threads = 2) {
    return windowSource.open(
        info("WindowData",
             "window_data_param { source: 'windows.txt' " + settings +
                 " } transform_param { crop_size: " + std::to_string(dims[2]) +
                 " " + transform + " }",
             dims, false, threads));
  }
};

/// Returns the window from (x1, y1) to (x2, y2).
formats::Window window(int x1, int y1, int x2, int y2) {
  formats::Window result;
  result.x1 = x1;
  result.y1 = y1;
  result.x2 = x2;
  result.y2 = y2;
  return result;
}

} // namespace

TEST_F(WindowSourceTest, ReadsBackgroundsBeforeObjects) {
  auto source = open("fg_fraction: 0.3 bg_threshold: 0.3", {10, 3, 8, 8});
  std::set<float> objectLabels;
  for (int batch = 0; batch < 10; ++batch) {
    read(*source);
    for (int row = 0; row < 7; ++row)
      EXPECT_EQ(labels[static_cast<std::size_t>(row)], 0);
    for (std::size_t row = 7; row < 10; ++row)
      objectLabels.insert(labels[row]);
  }
  EXPECT_EQ(objectLabels, (std::set<float>{5, 6})); // 0.4 is neither
  EXPECT_EQ(source->position().records, 100u);
}

TEST_F(WindowSourceTest, CropsAndScalesWindowOfCropSize) {
  test::writeBytes(folder / "windows.txt",
                   "# 0\na.png\n3 20 24\n1\n5 0.9 2 3 9 10\n");
  auto source =
      open("fg_fraction: 1 scale: 0.5", {2, 3, 8, 8}, "mean_value: 4 scale: 7");
  read(*source);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(at(n, c, 5, 6), (pixel(0, c, 8, 8) - 4) * 0.5f);
}

TEST_F(WindowSourceTest, FillsOutsideWithZerosAndMirrors) {
  // Eight pixels with four of context on each side become 16; the left and
  // upper parts lie outside the image.
  test::writeBytes(folder / "windows.txt",
                   "# 0\na.png\n3 20 24\n1\n5 0.9 0 0 7 7\n");
  auto source = open("fg_fraction: 1 context_pad: 4", {32, 3, 16, 16},
                     "mirror: true mean_value: 9");
  read(*source);
  int mirrored = 0;
  for (int n = 0; n < 32; ++n) {
    const bool isMirrored = at(n, 1, 15, 15) == 0;
    mirrored += isMirrored;
    EXPECT_EQ(at(n, 1, 15, isMirrored ? 15 : 0), 0);
    EXPECT_NE(at(n, 1, 15, isMirrored ? 0 : 15), 0);
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(at(n, 2, 0, x), 0);
  }
  EXPECT_GT(mirrored, 4);
  EXPECT_LT(mirrored, 28);
}

TEST_F(WindowSourceTest, SeekContinuesExactlyAtAnyNumberOfThreads) {
  for (const char *cache : {"", " cache_images: true"}) {
    auto source = open("fg_fraction: 0.5", {6, 3, 9, 9}, "mirror: true", 1);
    read(*source);
    auto resumed = open(std::string("fg_fraction: 0.5") + cache, {6, 3, 9, 9},
                        "mirror: true", 5);
    resumed->seek(source->position());
    read(*source);
    const std::vector<float> expected = values, expectedLabels = labels;
    read(*resumed);
    EXPECT_EQ(values, expected);
    EXPECT_EQ(labels, expectedLabels);
  }
}

TEST_F(WindowSourceTest, ErrorsNameFileAndLine) {
  using test::expectError;
  expectError(ExitStatus::BadInput, "no window of at least fg_threshold", [&] {
    open("fg_threshold: 0.95", {4, 3, 8, 8});
  });
  expectError(ExitStatus::BadInput, "no window below bg_threshold", [&] {
    open("bg_threshold: 0.05", {4, 3, 8, 8});
  });
  expectError(ExitStatus::BadInput, "neither 'warp' nor 'square'", [&] {
    open("crop_mode: 'round'", {4, 3, 8, 8});
  });
  expectError(ExitStatus::BadInput, "leaves nothing of crop_size 8", [&] {
    open("context_pad: 4", {4, 3, 8, 8});
  });
  test::writeBytes(folder / "windows.txt",
                   "# 0\na.png\n3 20 24\n1\n5 0.9 20 3 24 10\n");
  auto source = open("fg_fraction: 1", {1, 3, 8, 8});
  expectError(ExitStatus::BadInput,
              "windows.txt:5: the window from (20, 3) to (24, 10) does not lie",
              [&] { read(*source); });
  test::writeBytes(folder / "windows.txt",
                   "# 0\nabsent.png\n3 20 24\n1\n5 0.9 2 3 4 10\n");
  source = open("fg_fraction: 1", {1, 3, 8, 8});
  expectError(ExitStatus::Unavailable, "windows.txt:2: image",
              [&] { read(*source); });
  test::writeBytes(folder / "windows.txt",
                   "# 0\na.png\n3 20 24\n1\n0 0.9 2 3 4 10\n");
  expectError(ExitStatus::BadInput, "windows.txt:5: an object's label is 0",
              [&] {
                open("fg_fraction: 1", {1, 3, 8, 8});
              });
}

TEST(WindowCrop, SquareWindowsAreWidenedAroundTheirCentre) {
  // 8 x 4 around (8, 10) becomes 8 x 8, rounded as in Caffe: one pixel more.
  const WindowCrop crop =
      computeCrop<float>(window(4, 8, 11, 11), 30, 30, 9, 0, true, false);
  EXPECT_EQ(crop.left, 4);
  EXPECT_EQ(crop.width, 9);
  EXPECT_EQ(crop.top, 6);
  EXPECT_EQ(crop.height, 9);
  EXPECT_EQ(crop.warpedWidth, 9);
  EXPECT_EQ(crop.offsetX, 0);
}
