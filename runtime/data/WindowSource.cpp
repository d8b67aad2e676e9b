//===- WindowSource.cpp - Batches of image windows ------------------------===//

#include "caffe/weights/BufferLayout.h"
#include "formats/PathLookup.h"
#include "formats/WindowFile.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageResize.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageBatch.h"
#include "runtime/data/WindowCrop.h"
#include "support/Error.h"

#include <algorithm>
#include <map>

namespace brew::runtime {
namespace {

constexpr int kChannels = 3; ///< images are decoded in colour

/// Draws the windows of a batch at random: first background windows, then
/// foreground windows. Pixels outside an image are zero.
class WindowSource : public BatchSource {
public:
  explicit WindowSource(const DataLayerInfo &info)
      : tops(info.tops),
        layerText("layer '" + info.layer.name() + "' (WindowData)"),
        parameter(info.layer.window_data_param()),
        transform(info.layer.transform_param()), folders(info.folders),
        stream(info.seed.rankSeed(), "windows " + info.stream),
        decodeThreads(info.readerOptions.threads), meanReader(info) {
    checkTops();
    if (parameter.crop_mode() != "warp" && parameter.crop_mode() != "square")
      throw badInput(layerText + ": crop_mode '" + parameter.crop_mode() +
                     "' is neither 'warp' nor 'square'");
    if (2 * std::int64_t(parameter.context_pad()) >= size)
      throw badInput(layerText + ": context_pad " +
                     std::to_string(parameter.context_pad()) +
                     " leaves nothing of crop_size " + std::to_string(size));
    checkMean();
    file = formats::requirePath(parameter.source(), folders,
                                "window file of " + layerText);
    postSettings(info.events);
    images = formats::readWindowFile(file);
    classifyWindows(info.events);
    if (parameter.cache_images())
      for (const formats::WindowImage &image : images)
        cachedFiles.push_back(
            formats::readFileBytes(pathOf(image), lineLocation(image.line)));
    // Rounds down: a batch of 7 with a fraction of 0.3 has 2.
    foregroundCount = static_cast<std::int64_t>(static_cast<float>(batch()) *
                                                parameter.fg_fraction());
    checkForegroundFraction();
    workerScratch.resize(decodeThreads.size());
  }

  void read(const std::vector<std::byte *> &memory) override {
    const std::uint64_t first = current.records;
    labels.assign(static_cast<std::size_t>(batch()), 0.f);
    decodeThreads.forEach(batch(), [&](std::int64_t row, unsigned worker) {
      const std::uint64_t record = first + static_cast<std::uint64_t>(row);
      const bool isForeground = row >= batch() - foregroundCount;
      const std::vector<WindowRef> &list =
          isForeground ? foregroundWindows : backgroundWindows;
      // Four positions of the stream are reserved for each record.
      const WindowRef windowRef = list[stream.below(record * 4, list.size())];
      labels[static_cast<std::size_t>(row)] =
          isForeground ? static_cast<float>(windowRef.window->label) : 0.f;
      if (!memory[0])
        return;
      const bool mirrored =
          transform.mirror() && stream.below(record * 4 + 1, 2) == 1;
      if (tops[0]->type() == plan::F64)
        writeRow(row, windowRef, mirrored, workerScratch[worker].doubles,
                 memory[0]);
      else
        writeRow(row, windowRef, mirrored, workerScratch[worker].floats,
                 memory[0]);
    });
    if (tops.size() == 2 && memory[1])
      caffe::store(*tops[1], labels.data(), memory[1]);
    current.records = first + static_cast<std::uint64_t>(batch());
  }

  SourcePosition position() const override { return current; }
  void seek(const SourcePosition &target) override { current = target; }

private:
  /// A window, and the index in `images` of its image.
  struct WindowRef {
    std::size_t image;
    const formats::Window *window;
  };
  struct WorkerScratch {
    std::vector<float> floats;
    std::vector<double> doubles;
  };

  std::int64_t batch() const { return tops[0]->dims(0); }
  std::string lineLocation(std::size_t line) const {
    return file + ":" + std::to_string(line);
  }

  void checkTops() {
    if (tops.size() != 2 || tops[0]->dims_size() != 4 || tops[0]->dims(0) < 1 ||
        plan::elementCount(*tops[1]) != tops[0]->dims(0))
      throw badInput(layerText + ": the plan's buffers of its tops do not have "
                                 "the shapes of images and labels");
    size = static_cast<int>(transform.crop_size());
    if (tops[0]->dims(1) != kChannels || tops[0]->dims(2) != size ||
        tops[0]->dims(3) != size || size < 1)
      throw badInput(layerText + ": creates images of " +
                     std::to_string(kChannels) +
                     " x crop_size x crop_size; the plan was built for " +
                     caffe::shapeText(tops[0]->dims()));
  }

  void checkMean() {
    const PixelMean &image = meanReader.mean();
    if (transform.has_mean_file()) {
      meanOffset = (image.dims[2] - size) / 2;
      if (image.dims[0] != kChannels || image.dims[2] < size ||
          meanOffset + size > image.dims[1])
        throw badInput(
            layerText + ": the mean image of " + caffe::shapeText(image.dims) +
            " has no central crop of crop_size " + std::to_string(size));
    } else if (transform.mean_value_size() > 1 &&
               transform.mean_value_size() != kChannels) {
      throw badInput(layerText + ": " +
                     std::to_string(transform.mean_value_size()) +
                     " mean_values for an image of 3 channels; give one, or "
                     "one for each channel");
    }
  }

  void checkForegroundFraction() const {
    if (!(parameter.fg_fraction() >= 0 && parameter.fg_fraction() <= 1))
      throw badInput(layerText + ": fg_fraction must be from 0 to 1");
    if (foregroundCount > 0 && foregroundWindows.empty())
      throw badInput(layerText + ": " + file +
                     " has no window of at least fg_threshold, but fg_fraction "
                     "requires " +
                     std::to_string(foregroundCount) + " in a batch");
    if (foregroundCount < batch() && backgroundWindows.empty())
      throw badInput(layerText + ": " + file +
                     " has no window below bg_threshold, but a batch needs " +
                     std::to_string(batch() - foregroundCount) +
                     " background windows");
  }

  void postSettings(Events *events) const {
    auto number = [](float value) { return log::number(value); };
    postLine(events, log::site::windowLayer,
             "Window data layer:\n  foreground (object) overlap threshold: " +
                 number(parameter.fg_threshold()) +
                 "\n  background (non-object) overlap threshold: " +
                 number(parameter.bg_threshold()) +
                 "\n  foreground sampling fraction: " +
                 number(parameter.fg_fraction()) + "\n  cache_images: " +
                 (parameter.cache_images() ? "true" : "false") +
                 "\n  root_folder: " + parameter.root_folder());
  }

  void classifyWindows(Events *events) {
    std::map<int, std::size_t> counts = {{0, 0}};
    for (std::size_t i = 0; i < images.size(); ++i)
      for (const formats::Window &window : images[i].windows) {
        if (window.overlap >= parameter.fg_threshold()) {
          if (window.label <= 0)
            throw badInput(lineLocation(window.line) +
                           ": an object's label is " +
                           std::to_string(window.label) +
                           "; 0 is the background's, so it must be at least 1");
          foregroundWindows.push_back({i, &window});
          ++counts[window.label];
        } else if (window.overlap < parameter.bg_threshold()) {
          backgroundWindows.push_back({i, &window});
          ++counts[0];
        }
      }
    postLine(events, log::site::windowImages,
             "Number of images: " + std::to_string(images.size()));
    for (const auto &[label, count] : counts)
      postLine(events, log::site::windowClass,
               "class " + std::to_string(label) + " has " +
                   std::to_string(count) + " samples");
    postLine(events, log::site::windowPad,
             "Amount of context padding: " +
                 std::to_string(parameter.context_pad()));
    postLine(events, log::site::windowMode,
             "Crop mode: " + parameter.crop_mode());
  }

  std::string pathOf(const formats::WindowImage &image) const {
    return formats::requirePath(parameter.root_folder() + image.name, folders,
                                lineLocation(image.line) + ": image");
  }

  /// Decodes image `index` of the window file, in colour.
  void decode(std::size_t index, formats::Image &image) const {
    const formats::WindowImage &entry = images[index];
    const std::string where = lineLocation(entry.line);
    if (cachedFiles.empty())
      return formats::readImageFile(pathOf(entry), formats::ImageColor::Color,
                                    0, 0, where, image);
    const std::string &bytes = cachedFiles[index];
    formats::decodeImage(bytes.data(), bytes.size(), formats::ImageColor::Color,
                         where + ": " + entry.name, image);
  }

  template <typename Value>
  void writeRow(std::int64_t row, const WindowRef &windowRef, bool mirrored,
                std::vector<Value> &values, std::byte *memory) const {
    formats::Image image, warped;
    decode(windowRef.image, image);
    WindowCrop crop;
    try {
      crop = computeCrop<Value>(*windowRef.window, image.width, image.height,
                                size, static_cast<int>(parameter.context_pad()),
                                parameter.crop_mode() == "square", mirrored);
    } catch (const Error &error) {
      throw Error(error.status(),
                  lineLocation(windowRef.window->line) + ": " + error.what());
    }
    formats::resizeImage(
        formats::cropImage(image, crop.top, crop.left, crop.height, crop.width),
        crop.warpedHeight, crop.warpedWidth, warped);
    values.assign(std::size_t(kChannels) * size * size, 0);
    const Value scale = parameter.scale();
    for (int c = 0; c < kChannels; ++c)
      for (int h = 0; h < warped.height; ++h)
        for (int w = 0; w < warped.width; ++w) {
          const int sourceX = mirrored ? warped.width - 1 - w : w;
          const Value pixel =
              warped.pixels[(std::size_t(h) * warped.width + sourceX) *
                                kChannels +
                            c];
          const int y = h + crop.offsetY, x = w + crop.offsetX;
          values[(std::size_t(c) * size + y) * size + x] =
              (pixel - static_cast<Value>(meanAt(c, y, x))) * scale;
        }
    caffe::storeRows(*tops[0], row, 1, values.data(), memory);
  }

  float meanAt(int channel, int y, int x) const {
    const PixelMean &image = meanReader.mean();
    if (transform.has_mean_file())
      return image.values[static_cast<std::size_t>(
          (channel * image.dims[1] + y + meanOffset) * image.dims[2] + x +
          meanOffset)];
    if (!image.values.empty())
      return image.values[static_cast<std::size_t>(channel)];
    return transform.mean_value_size() ? transform.mean_value(0) : 0.f;
  }

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  caffe::WindowDataParameter parameter;
  caffe::TransformationParameter transform;
  std::vector<std::string> folders;
  caffe::RandomStream stream;
  DecodeThreads decodeThreads;
  ImageTransformer meanReader; ///< used only for its mean
  int size = 0;                ///< crop_size
  std::int64_t meanOffset = 0; ///< row and column of the crop in the mean image
  std::int64_t foregroundCount = 0; ///< foreground windows per batch
  std::string file;                 ///< the window file
  std::vector<formats::WindowImage> images;
  /// Contents of the image files; empty without cache_images.
  std::vector<std::string> cachedFiles;
  std::vector<WindowRef> foregroundWindows, backgroundWindows;
  std::vector<WorkerScratch> workerScratch; ///< by worker
  std::vector<float> labels;
  SourcePosition current; ///< of the next read()
};

} // namespace

static std::unique_ptr<BatchSource>
openWindowSource(const DataLayerInfo &info) {
  return std::make_unique<WindowSource>(info);
}

const SourceKind windowSource = {caffe::DataLayerSource::Windows,
                                 openWindowSource};

} // namespace brew::runtime
