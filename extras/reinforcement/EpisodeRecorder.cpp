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

constexpr int kMinSide = 32, kMaxSide = 2048, kMaxStepsPerPicture = 1000,
              kMaxSheetPictures = 64;
/// One minute of Cart-Pole at two steps per picture.
constexpr int kMaxGifPictures = 1500;
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

void requireRange(const char *quantity, int value, int minimum, int maximum) {
  if (value < minimum || value > maximum)
    throw usageError("the " + std::string(quantity) +
                     " of an episode must be " + std::to_string(minimum) +
                     " to " + std::to_string(maximum) + ", not " +
                     std::to_string(value));
}

formats::Image makeBlankImage(int width, int height, std::uint8_t shade) {
  formats::Image image;
  image.channels = 3;
  image.width = width;
  image.height = height;
  image.pixels.assign(static_cast<std::size_t>(width) * height * 3, shade);
  return image;
}

/// Copies `image` into the larger `target`, at (top, left).
void copyInto(formats::Image &target, const formats::Image &image, int top,
              int left) {
  const auto row = static_cast<std::size_t>(image.width) * 3;
  for (int y = 0; y < image.height; ++y) {
    const std::size_t to =
        (static_cast<std::size_t>(top + y) * target.width + left) * 3;
    std::copy_n(image.pixels.begin() + y * row, row,
                target.pixels.begin() + to);
  }
}

} // namespace

EpisodeRecorder::EpisodeRecorder(ObservedEnvironment &observed,
                                 std::string file,
                                 const EpisodeRecorderOptions &recorderOptions)
    : environment(observed), path(std::move(file)), options(recorderOptions) {
  const std::string extension = lowerExtension(path);
  if (extension != ".gif" && extension != ".png")
    throw usageError(path + ": pictures of an episode are written as .gif or "
                            ".png");
  requireRange("width", options.width, kMinSide, kMaxSide);
  requireRange("height", options.height, kMinSide, kMaxSide);
  requireRange("steps per picture", options.steps, 1, kMaxStepsPerPicture);
  requireRange("number of pictures", options.pictures, 1, kMaxSheetPictures);
  formats::Image test = makeBlankImage(options.width, options.height, 255);
  if (!environment.draw(test))
    throw usageError("the environment '" + environment.name() +
                     "' cannot be drawn");
  runtime::openCvPlugin("draw an episode");
  if (extension == ".gif")
    gif.emplace(options.width, options.height);
  observer =
      environment.add([this](const EnvironmentState &state) { record(state); });
}

EpisodeRecorder::~EpisodeRecorder() { environment.remove(observer); }

void EpisodeRecorder::record(const EnvironmentState &state) {
  if (state.step == 0) {
    ended |= begun; // this is the next episode
    begun = true;
  }
  if (ended || !begun)
    return;
  if (gif)
    addToGif(state);
  else
    addToSheet(state);
  ended |= state.last.ended();
}

formats::Image EpisodeRecorder::drawPicture(std::int64_t step) const {
  formats::Image image = makeBlankImage(options.width, options.height, 255);
  environment.draw(image);
  runtime::openCvPlugin("draw an episode")
      .drawCaption(image, "step " + std::to_string(step));
  return image;
}

void EpisodeRecorder::addToGif(const EnvironmentState &state) {
  const bool isLast = state.last.ended();
  if ((state.step % options.steps && !isLast) || pictures == kMaxGifPictures)
    return;
  ++pictures;
  gif->add(drawPicture(state.step),
           isLast ? kHundredthsOfLast : kHundredthsPerStep * options.steps);
}

/// Adds a picture for the sheet. Drops every second picture whenever there are
/// too many, since the length of the episode is unknown in advance.
void EpisodeRecorder::addToSheet(const EnvironmentState &state) {
  if (state.step % interval == 0) {
    sheetPictures.push_back({state.step, drawPicture(state.step)});
    last.reset();
  } else if (state.last.ended()) {
    last = Picture{state.step, drawPicture(state.step)};
  }
  if (static_cast<int>(sheetPictures.size()) <= 2 * options.pictures)
    return;
  std::size_t remaining = 0;
  for (std::size_t i = 0; i < sheetPictures.size(); i += 2, ++remaining)
    if (remaining != i)
      sheetPictures[remaining] = std::move(sheetPictures[i]);
  sheetPictures.resize(remaining);
  interval *= 2;
}

/// Arranges up to `options.pictures` pictures, including the first and the
/// last, in rows.
std::string EpisodeRecorder::encodeSheet() const {
  std::vector<const Picture *> candidates;
  for (const Picture &picture : sheetPictures)
    candidates.push_back(&picture);
  if (last)
    candidates.push_back(&*last);
  const auto count = std::min<std::size_t>(
      candidates.size(), static_cast<std::size_t>(options.pictures));
  std::vector<const Picture *> selected;
  for (std::size_t i = 0; i < count; ++i)
    selected.push_back(
        count == 1 ? candidates.back()
                   : candidates[i * (candidates.size() - 1) / (count - 1)]);
  const int columns = std::min(4, static_cast<int>(count)),
            rows = (static_cast<int>(count) + columns - 1) / columns;
  formats::Image sheet =
      makeBlankImage(columns * (options.width + kGap) - kGap,
                     rows * (options.height + kGap) - kGap, 200);
  const formats::Image empty =
      makeBlankImage(options.width, options.height, 255);
  for (int i = 0; i < rows * columns; ++i)
    copyInto(sheet,
             i < static_cast<int>(count)
                 ? selected[static_cast<std::size_t>(i)]->image
                 : empty,
             i / columns * (options.height + kGap),
             i % columns * (options.width + kGap));
  return formats::encodeImage(sheet, formats::ImageFormat::Png);
}

void EpisodeRecorder::finish() {
  if (!begun)
    throw usageError(path + ": there is no episode to draw");
  writeFileAtomically(path, gif ? gif->finish() : encodeSheet());
}

} // namespace brew::reinforcement
