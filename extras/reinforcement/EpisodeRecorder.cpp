//===- EpisodeRecorder.cpp - Recorder of episodes as images ---------------===//

#include "extras/reinforcement/EpisodeRecorder.h"

#include "formats/image/ImageEncode.h"
#include "runtime/opencv/OpenCv.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace brew::reinforcement {
namespace {

constexpr int kLeastSide = 32, kMostSide = 2048, kMostSteps = 1000,
              kMostOnSheet = 64;
/// One minute of Cart-Pole at two steps per picture.
constexpr int kMostInGif = 1500;
/// All drawable environments have steps of 20 ms.
constexpr int kHundredthsPerStep = 2;
/// Display time of the last picture, before the GIF repeats.
constexpr int kHundredthsOfLast = 100;
/// Pixels between the pictures of a sheet.
constexpr int kGap = 2;

std::string lowerExtension(const std::string &path) {
  std::string extension = std::filesystem::path(path).extension();
  for (char &c : extension)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

void requireRange(const char *what, int value, int least, int most) {
  if (value < least || value > most)
    throw usageError("the " + std::string(what) + " of an episode must be " +
                     std::to_string(least) + " to " + std::to_string(most) +
                     ", not " + std::to_string(value));
}

formats::Image blank(int width, int height, std::uint8_t shade) {
  formats::Image image;
  image.channels = 3;
  image.width = width;
  image.height = height;
  image.pixels.assign(static_cast<std::size_t>(width) * height * 3, shade);
  return image;
}

/// Copies `image` into a larger one, at (top, left).
void copyInto(formats::Image &larger, const formats::Image &image, int top,
              int left) {
  const auto row = static_cast<std::size_t>(image.width) * 3;
  for (int y = 0; y < image.height; ++y) {
    const std::size_t to =
        (static_cast<std::size_t>(top + y) * larger.width + left) * 3;
    std::copy_n(image.pixels.begin() + y * row, row,
                larger.pixels.begin() + to);
  }
}

} // namespace

EpisodeRecorder::EpisodeRecorder(ObservedEnvironment &seen, std::string file,
                                 const EpisodeRecorderOptions &given)
    : environment(seen), path(std::move(file)), options(given) {
  const std::string extension = lowerExtension(path);
  if (extension != ".gif" && extension != ".png")
    throw usageError(path + ": pictures of an episode are written as .gif or "
                            ".png");
  requireRange("width", options.width, kLeastSide, kMostSide);
  requireRange("height", options.height, kLeastSide, kMostSide);
  requireRange("steps per picture", options.steps, 1, kMostSteps);
  requireRange("number of pictures", options.pictures, 1, kMostOnSheet);
  formats::Image test = blank(options.width, options.height, 255);
  if (!environment.draw(test))
    throw usageError("the environment '" + environment.name() +
                     "' cannot be drawn");
  runtime::openCvPlugin("draw an episode");
  if (extension == ".gif")
    gif.emplace(options.width, options.height);
  observer =
      environment.add([this](const EnvironmentState &state) { see(state); });
}

EpisodeRecorder::~EpisodeRecorder() { environment.remove(observer); }

void EpisodeRecorder::see(const EnvironmentState &state) {
  if (state.step == 0) {
    ended |= begun; // the next episode
    begun = true;
  }
  if (ended || !begun)
    return;
  if (gif)
    addToGif(state);
  else
    keep(state);
  ended |= state.last.ended();
}

formats::Image EpisodeRecorder::drawn(std::int64_t step) const {
  formats::Image image = blank(options.width, options.height, 255);
  environment.draw(image);
  runtime::openCvPlugin("draw an episode")
      .drawCaption(image, "step " + std::to_string(step));
  return image;
}

void EpisodeRecorder::addToGif(const EnvironmentState &state) {
  const bool isLast = state.last.ended();
  if ((state.step % options.steps && !isLast) || pictures == kMostInGif)
    return;
  ++pictures;
  gif->add(drawn(state.step),
           isLast ? kHundredthsOfLast : kHundredthsPerStep * options.steps);
}

/// The length of the episode is unknown in advance, so every second picture is
/// dropped whenever there are too many.
void EpisodeRecorder::keep(const EnvironmentState &state) {
  if (state.step % each == 0) {
    kept.push_back({state.step, drawn(state.step)});
    last.reset();
  } else if (state.last.ended()) {
    last = Picture{state.step, drawn(state.step)};
  }
  if (static_cast<int>(kept.size()) <= 2 * options.pictures)
    return;
  std::size_t left = 0;
  for (std::size_t i = 0; i < kept.size(); i += 2, ++left)
    if (left != i)
      kept[left] = std::move(kept[i]);
  kept.resize(left);
  each *= 2;
}

/// Arranges up to `options.pictures` pictures, including the first and the
/// last, in rows.
std::string EpisodeRecorder::sheet() const {
  std::vector<const Picture *> all;
  for (const Picture &picture : kept)
    all.push_back(&picture);
  if (last)
    all.push_back(&*last);
  const auto count = std::min<std::size_t>(
      all.size(), static_cast<std::size_t>(options.pictures));
  std::vector<const Picture *> shown;
  for (std::size_t i = 0; i < count; ++i)
    shown.push_back(count == 1 ? all.back()
                               : all[i * (all.size() - 1) / (count - 1)]);
  const int columns = std::min(4, static_cast<int>(count)),
            rows = (static_cast<int>(count) + columns - 1) / columns;
  formats::Image sheet = blank(columns * (options.width + kGap) - kGap,
                               rows * (options.height + kGap) - kGap, 200);
  const formats::Image empty = blank(options.width, options.height, 255);
  for (int i = 0; i < rows * columns; ++i)
    copyInto(sheet,
             i < static_cast<int>(count)
                 ? shown[static_cast<std::size_t>(i)]->image
                 : empty,
             i / columns * (options.height + kGap),
             i % columns * (options.width + kGap));
  return formats::encodeImage(sheet, formats::ImageFormat::Png);
}

void EpisodeRecorder::finish() {
  if (!begun)
    throw usageError(path + ": there is no episode to draw");
  writeFileAtomically(path, gif ? gif->finish() : sheet());
}

} // namespace brew::reinforcement
