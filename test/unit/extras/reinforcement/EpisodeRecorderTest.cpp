//===- EpisodeRecorderTest.cpp - Tests of the episode recorder ------------===//

#include "extras/reinforcement/EpisodeRecorder.h"
#include "formats/image/ImageDecode.h"
#include "support/Error.h"

#include "test/common/TestFiles.h"

#include <gif_lib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace brew::reinforcement;
using brew::formats::Image;
using brew::test::TempFolder;

namespace {

std::string contentOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Plays an episode that pushes to the right until the pole has fallen. Returns
/// the number of steps.
int playUntilFall(Environment &environment, std::uint64_t seed) {
  float observation[4];
  environment.reset(seed, observation);
  for (int steps = 1;; ++steps)
    if (environment.step(1, observation).ended())
      return steps;
}

/// A GIF's pictures as displayed.
struct Animation {
  std::vector<Image> pictures;
  std::vector<int> times; ///< of each picture, in hundredths of a second
};

Animation readGif(const std::string &path) {
  int error = 0;
  GifFileType *file = DGifOpenFileName(path.c_str(), &error);
  EXPECT_TRUE(file) << GifErrorString(error);
  Animation animation;
  if (!file)
    return animation;
  EXPECT_EQ(DGifSlurp(file), GIF_OK);
  Image screen;
  screen.channels = 3;
  screen.width = file->SWidth;
  screen.height = file->SHeight;
  screen.pixels.resize(std::size_t(screen.width) * screen.height * 3);
  for (int i = 0; i < file->ImageCount; ++i) {
    GraphicsControlBlock control{};
    EXPECT_EQ(DGifSavedExtensionToGCB(file, i, &control), GIF_OK);
    const SavedImage &image = file->SavedImages[i];
    const GifImageDesc &area = image.ImageDesc;
    for (int y = 0; y < area.Height; ++y)
      for (int x = 0; x < area.Width; ++x) {
        const GifColorType colour =
            area.ColorMap->Colors[image.RasterBits[y * area.Width + x]];
        std::uint8_t *pixel =
            screen.pixels.data() +
            3 * (std::size_t(area.Top + y) * screen.width + area.Left + x);
        pixel[0] = colour.Blue;
        pixel[1] = colour.Green;
        pixel[2] = colour.Red;
      }
    animation.pictures.push_back(screen);
    animation.times.push_back(control.DelayTime);
  }
  DGifCloseFile(file, &error);
  return animation;
}

/// Expects that no recorder is created, with the usage error `text`.
void expectUsageError(const std::string &path,
                      const EpisodeRecorderOptions &options,
                      const std::string &text) {
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  try {
    const EpisodeRecorder recorder(environment, path, options);
    FAIL() << path;
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Usage);
    EXPECT_EQ(error.what(), text);
  }
}

} // namespace

/// A GIF restores the exact pixels if few pixels change between pictures.
TEST(GifEncoder, KeepsFewColoursExactly) {
  TempFolder folder;
  std::vector<Image> pictures;
  for (int i = 0; i < 4; ++i) {
    Image &picture = pictures.emplace_back();
    picture.channels = 3;
    picture.width = 40;
    picture.height = 30;
    picture.pixels.assign(40 * 30 * 3, 250);
    for (int k = 0; k < 90 && i != 2; ++k) // picture 2 is copied from 1 below
      picture.pixels[static_cast<std::size_t>(300 + 7 * k + i)] =
          static_cast<std::uint8_t>(17 * k + i);
  }
  pictures[2] = pictures[1];
  GifEncoder encoder(40, 30);
  for (const Image &picture : pictures)
    encoder.add(picture, 7);
  brew::test::writeBytes(folder / "x.gif", encoder.finish());
  const Animation animation = readGif((folder / "x.gif"));
  ASSERT_EQ(animation.pictures.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(animation.pictures[i].pixels == pictures[i].pixels) << i;
  EXPECT_EQ(animation.times, std::vector<int>(4, 7));
}

TEST(GifEncoder, RoundsTooManyColours) {
  TempFolder folder;
  Image picture;
  picture.channels = 3;
  picture.width = picture.height = 32;
  for (int i = 0; i < 32 * 32 * 3; ++i)
    picture.pixels.push_back(static_cast<std::uint8_t>(i * 31 % 251));
  GifEncoder encoder(32, 32);
  encoder.add(picture, 1);
  brew::test::writeBytes(folder / "x.gif", encoder.finish());
  const Animation animation = readGif((folder / "x.gif"));
  ASSERT_EQ(animation.pictures.size(), 1u);
  // The coarsest palette has 4 shades of blue, 85 apart.
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    ASSERT_NEAR(animation.pictures[0].pixels[i], picture.pixels[i], 63) << i;
}

TEST(EpisodeRecorder, RecordsTheFirstEpisodeInRealTime) {
  TempFolder folder;
  const std::string path = (folder / "fall.gif");
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  int steps;
  {
    EpisodeRecorder recorder(environment, path, {});
    steps = playUntilFall(environment, 1);
    playUntilFall(environment, 2); // not recorded
    recorder.finish();
  }
  const Animation animation = readGif(path);
  // The initial state, every second step, and the last step.
  ASSERT_EQ(animation.pictures.size(), std::size_t(steps / 2 + 1 + steps % 2));
  EXPECT_EQ(animation.times.front(), 4);
  EXPECT_EQ(animation.times.back(), 100);
  EXPECT_EQ(animation.pictures[0].width, 300);
  EXPECT_EQ(animation.pictures[0].height, 200);
  EXPECT_FALSE(animation.pictures.front().pixels ==
               animation.pictures.back().pixels);
  for (const Image &picture : animation.pictures) // the last row is white
    EXPECT_EQ(std::count(picture.pixels.end() - 300, picture.pixels.end(), 255),
              300);
}

/// The drawn cart and pole are where the state says, with the pole inclined to
/// either side.
TEST(EpisodeRecorder, DrawsTheState) {
  TempFolder folder;
  for (const int action : {0, 1}) {
    const std::string path = (folder / "one.png");
    ObservedEnvironment environment(makeEnvironment("cartpole"));
    EpisodeRecorderOptions options;
    options.pictures = 1; // the end of the episode
    EpisodeRecorder recorder(environment, path, options);
    float observation[4];
    environment.reset(1, observation);
    while (!environment.step(action, observation).ended())
      ;
    recorder.finish();
    Image image;
    const std::string bytes = contentOf(path);
    brew::formats::decodeImage(bytes.data(), bytes.size(),
                               brew::formats::ImageColor::Color, path, image);
    ASSERT_EQ(image.width, 300);
    ASSERT_EQ(image.height, 200);
    // Sums of x coordinates, and numbers of pixels.
    double poleSum = 0, cartSum = 0, polePixels = 0, cartPixels = 0;
    for (int y = 20; y < 200; ++y)
      for (int x = 0; x < 300; ++x) {
        const std::uint8_t *pixel = &image.pixels[std::size_t(y * 300 + x) * 3];
        if (pixel[2] > 180 && pixel[0] < 110) { // brown
          poleSum += x;
          ++polePixels;
        } else if (pixel[2] < 70) { // dark
          cartSum += x;
          ++cartPixels;
        }
      }
    ASSERT_GT(polePixels, 50);
    ASSERT_GT(cartPixels, 50);
    const double metre = 300 / 5.4; // in pixels
    EXPECT_NEAR(cartSum / cartPixels, 150 + observation[0] * metre, 4);
    EXPECT_NEAR(poleSum / polePixels - cartSum / cartPixels,
                std::sin(observation[2]) * metre / 2, 5);
  }
}

TEST(EpisodeRecorder, PictureOfALongEpisodeIsBounded) {
  TempFolder folder;
  const std::string path = (folder / "long.png");
  ObservedEnvironment environment(makeEnvironment("cartpole-mycaffe"));
  EpisodeRecorder recorder(environment, path, {});
  float observation[4];
  environment.reset(1, observation);
  for (int i = 0; i < 5000; ++i) // continues long after the pole has fallen
    environment.step(i % 2, observation);
  recorder.finish();
  Image image;
  const std::string bytes = contentOf(path);
  brew::formats::decodeImage(bytes.data(), bytes.size(),
                             brew::formats::ImageColor::Color, path, image);
  // Four pictures per row, with gaps of 2 pixels.
  EXPECT_EQ(image.width, 4 * 302 - 2);
  EXPECT_GE(image.height, 200);
}

TEST(EpisodeRecorder, UnfinishedRecorderLeavesNoFile) {
  TempFolder folder;
  const std::string path = (folder / "x.gif");
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  {
    EpisodeRecorder recorder(environment, path, {});
    EXPECT_THROW(recorder.finish(), brew::Error); // no episode has begun
    playUntilFall(environment, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  playUntilFall(environment, 1); // the environment is no longer observed
}

TEST(EpisodeRecorder, RejectsInvalidOptions) {
  expectUsageError("x.jpg", {},
                   "x.jpg: pictures of an episode are written as .gif or .png");
  EpisodeRecorderOptions options;
  options.width = 31;
  expectUsageError("x.gif", options,
                   "the width of an episode must be 32 to 2048, not 31");
  options = {};
  options.pictures = 65;
  expectUsageError(
      "x.PNG", options,
      "the number of pictures of an episode must be 1 to 64, not 65");
}
