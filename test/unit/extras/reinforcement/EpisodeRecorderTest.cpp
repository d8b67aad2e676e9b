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

/// Pushes to the right until the pole has fallen.
int fall(Environment &environment, std::uint64_t seed) {
  float seen[4];
  environment.reset(seed, seen);
  for (int steps = 1;; ++steps)
    if (environment.step(1, seen).ended())
      return steps;
}

/// Returns a GIF's pictures as displayed, with their times in hundredths.
struct Shown {
  std::vector<Image> pictures;
  std::vector<int> times;
};

Shown shownOf(const std::string &path) {
  int error = 0;
  GifFileType *file = DGifOpenFileName(path.c_str(), &error);
  EXPECT_TRUE(file) << GifErrorString(error);
  Shown shown;
  if (!file)
    return shown;
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
    shown.pictures.push_back(screen);
    shown.times.push_back(control.DelayTime);
  }
  DGifCloseFile(file, &error);
  return shown;
}

void expectUsage(const std::string &path, const EpisodeRecorderOptions &options,
                 const std::string &text) {
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  try {
    const EpisodeRecorder film(environment, path, options);
    FAIL() << path;
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Usage);
    EXPECT_EQ(error.what(), text);
  }
}

} // namespace

/// Decoding restores the exact pixels, for any small set of changed pixels.
TEST(GifEncoder, KeepsColours) {
  TempFolder folder;
  std::vector<Image> pictures;
  for (int i = 0; i < 4; ++i) {
    Image &picture = pictures.emplace_back();
    picture.channels = 3;
    picture.width = 40;
    picture.height = 30;
    picture.pixels.assign(40 * 30 * 3, 250);
    for (int k = 0; k < 90 && i != 2; ++k) // the third is the second
      picture.pixels[static_cast<std::size_t>(300 + 7 * k + i)] =
          static_cast<std::uint8_t>(17 * k + i);
  }
  pictures[2] = pictures[1];
  GifEncoder encoder(40, 30);
  for (const Image &picture : pictures)
    encoder.add(picture, 7);
  brew::test::writeBytes(folder / "x.gif", encoder.finish());
  const Shown shown = shownOf((folder / "x.gif"));
  ASSERT_EQ(shown.pictures.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(shown.pictures[i].pixels == pictures[i].pixels) << i;
  EXPECT_EQ(shown.times, std::vector<int>(4, 7));
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
  const Shown shown = shownOf((folder / "x.gif"));
  ASSERT_EQ(shown.pictures.size(), 1u);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    ASSERT_NEAR(shown.pictures[0].pixels[i], picture.pixels[i], 63) << i;
}

TEST(EpisodeRecorder, ShowsTheFirstEpisodeInItsTime) {
  TempFolder folder;
  const std::string path = (folder / "fall.gif");
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  int steps;
  {
    EpisodeRecorder film(environment, path, {});
    steps = fall(environment, 1);
    fall(environment, 2); // not of it
    film.finish();
  }
  const Shown shown = shownOf(path);
  // The beginning, every second step, and the end.
  ASSERT_EQ(shown.pictures.size(), std::size_t(steps / 2 + 1 + steps % 2));
  EXPECT_EQ(shown.times.front(), 4);
  EXPECT_EQ(shown.times.back(), 100);
  EXPECT_EQ(shown.pictures[0].width, 300);
  EXPECT_EQ(shown.pictures[0].height, 200);
  EXPECT_FALSE(shown.pictures.front().pixels == shown.pictures.back().pixels);
  for (const Image &picture : shown.pictures) // white stays so
    EXPECT_EQ(std::count(picture.pixels.end() - 300, picture.pixels.end(), 255),
              300);
}

/// The drawn pole follows the state: above the cart to the left or right.
TEST(EpisodeRecorder, DrawsTheState) {
  TempFolder folder;
  for (const int action : {0, 1}) {
    const std::string path = (folder / "one.png");
    ObservedEnvironment environment(makeEnvironment("cartpole"));
    EpisodeRecorderOptions options;
    options.pictures = 1; // the last
    EpisodeRecorder film(environment, path, options);
    float seen[4];
    environment.reset(1, seen);
    while (!environment.step(action, seen).ended())
      ;
    film.finish();
    Image image;
    const std::string bytes = contentOf(path);
    brew::formats::decodeImage(bytes.data(), bytes.size(),
                               brew::formats::ImageColor::Color, path, image);
    ASSERT_EQ(image.width, 300);
    ASSERT_EQ(image.height, 200);
    double pole = 0, cart = 0, poles = 0, carts = 0;
    for (int y = 20; y < 200; ++y)
      for (int x = 0; x < 300; ++x) {
        const std::uint8_t *at = &image.pixels[std::size_t(y * 300 + x) * 3];
        if (at[2] > 180 && at[0] < 110) { // brown
          pole += x;
          ++poles;
        } else if (at[2] < 70) { // dark
          cart += x;
          ++carts;
        }
      }
    ASSERT_GT(poles, 50);
    ASSERT_GT(carts, 50);
    const double metre = 300 / 5.4;
    EXPECT_NEAR(cart / carts, 150 + seen[0] * metre, 4);
    EXPECT_NEAR(pole / poles - cart / carts, std::sin(seen[2]) * metre / 2, 5);
  }
}

TEST(EpisodeRecorder, OfALongEpisodeIsBounded) {
  TempFolder folder;
  const std::string path = (folder / "long.png");
  ObservedEnvironment environment(makeEnvironment("cartpole-mycaffe"));
  EpisodeRecorder film(environment, path, {});
  float seen[4];
  environment.reset(1, seen);
  for (int i = 0; i < 5000; ++i) // has fallen long since, and goes on
    environment.step(i % 2, seen);
  film.finish();
  Image image;
  const std::string bytes = contentOf(path);
  brew::formats::decodeImage(bytes.data(), bytes.size(),
                             brew::formats::ImageColor::Color, path, image);
  EXPECT_EQ(image.width, 4 * 302 - 2);
  EXPECT_GE(image.height, 200);
}

TEST(EpisodeRecorder, WithoutAnEndLeavesNoFile) {
  TempFolder folder;
  const std::string path = (folder / "x.gif");
  ObservedEnvironment environment(makeEnvironment("cartpole"));
  {
    EpisodeRecorder film(environment, path, {});
    EXPECT_THROW(film.finish(), brew::Error); // no episode
    fall(environment, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  fall(environment, 1); // without observers
}

TEST(EpisodeRecorder, ReportsErrors) {
  expectUsage("x.jpg", {},
              "x.jpg: pictures of an episode are written as .gif or .png");
  EpisodeRecorderOptions options;
  options.width = 31;
  expectUsage("x.gif", options,
              "the width of an episode must be 32 to 2048, not 31");
  options = {};
  options.pictures = 65;
  expectUsage("x.PNG", options,
              "the number of pictures of an episode must be 1 to 64, not 65");
}
