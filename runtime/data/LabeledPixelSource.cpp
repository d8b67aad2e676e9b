//===- LabeledPixelSource.cpp - Batches of images and their labels --------===//

#include "caffe/CropSize.h"
#include "caffe/ImagePairs.h"
#include "caffe/RandomStream.h"
#include "caffe/weights/BufferLayout.h"
#include "formats/PathLookup.h"
#include "formats/TextLines.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImagePairList.h"
#include "formats/image/ImageResize.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/DecodeThreads.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/data/selection/RandSkip.h"
#include "runtime/data/selection/Sampler.h"
#include "support/Error.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace brew::runtime {
namespace {

/// Reads the listed images and the labels of their pixels, in order or shuffled
/// in each pass. Labels are cropped and mirrored with their image.
class LabeledPixelSource : public BatchSource {
public:
  explicit LabeledPixelSource(const DataLayerInfo &info)
      : tops(info.tops), sizesVary(info.imageSizesVary),
        settings(caffe::imagePairSettings(info.layer)),
        transformation(info.layer.transform_param()),
        layerText("layer '" + info.layer.name() + "' (" + info.layer.type() +
                  ")"),
        folders(info.folders), transform(info),
        scaleStream(info.seed.rankSeed(), "scale " + info.stream),
        cropStream(info.seed.rankSeed(), "crop " + info.stream),
        decodeThreads(info.readerOptions.threads) {
    checkTops();
    list = formats::requirePath(settings.source, folders,
                                "list of images of " + layerText);
    postLine(info.events, log::site::imageList, "Opening file " + list);
    pairs = formats::readImagePairList(list, settings.labels !=
                                                 caffe::PixelLabels::None);
    if (settings.shuffle) {
      postLine(info.events, log::site::imageShuffle, "Shuffling data");
      SampledRecords records;
      records.count = pairs.size();
      sampler.emplace(caffe::recordSelectionOf(info.layer), std::move(records),
                      info.seed.rankSeed(), info.stream, layerText);
    }
    postLine(info.events, log::site::imageCount,
             "A total of " + std::to_string(pairs.size()) + " examples.");
    if (settings.randSkip)
      current.position =
          skippedImages(info, settings.randSkip, pairs.size(), layerText, list);
    scratches.resize(decodeThreads.size());
    height = maxHeight();
    width = maxWidth();
  }

  void read(const std::vector<std::byte *> &memory) override {
    const std::uint64_t first = current.records;
    batch.clear();
    for (std::int64_t row = 0; row < tops[0]->dims(0); ++row)
      batch.push_back(&next());
    decodeThreads.forEach(tops[0]->dims(0),
                          [&](std::int64_t row, unsigned worker) {
                            readRow(*batch[static_cast<size_t>(row)], row,
                                    first + static_cast<std::uint64_t>(row),
                                    scratches[worker], memory);
                          });
    current.records += batch.size();
  }

  BatchShapes shapes() const override {
    if (!sizesVary)
      return {};
    BatchShapes shapes = {{1, tops[0]->dims(1), height, width},
                          {1, 1, height, width}};
    if (tops.size() > 2)
      shapes.push_back({1, 1, 1, 2});
    return shapes;
  }
  SourcePosition position() const override { return current; }
  void seek(const SourcePosition &target) override {
    if (target.position >= pairs.size())
      throw badInput(layerText + ": the solver state is at image " +
                     std::to_string(target.position) + " of '" + list +
                     "', which lists only " + std::to_string(pairs.size()));
    current = target;
  }

private:
  static constexpr char kImage[] = "image", kLabels[] = "image of labels";

  struct Scratch {
    formats::Image image, labels, scaled;
    std::string imageWhere, labelsWhere; ///< locations for messages
    formats::ImageRecord record;
    CropAndMirror crop;
    std::vector<float> size; ///< height and width, limited by the top's
    std::vector<float> values;
  };

  void checkTops() {
    bool fit = tops.size() == 2 || tops.size() == 3;
    for (const plan::Buffer *top : tops)
      fit &= top->dims_size() == 4;
    fit = fit && tops[1]->dims(1) == 1 &&
          tops[0]->dims(0) == tops[1]->dims(0) &&
          tops[0]->dims(2) == tops[1]->dims(2) &&
          tops[0]->dims(3) == tops[1]->dims(3);
    if (fit && tops.size() > 2)
      fit = tops[2]->dims(0) == tops[0]->dims(0) && tops[2]->dims(3) == 2 &&
            tops[2]->dims(1) == 1 && tops[2]->dims(2) == 1;
    if (!fit)
      throw badInput(layerText + ": the plan's buffers of its tops do not have "
                                 "the shapes of images and of labels of their "
                                 "pixels");
  }

  const formats::ImagePair &next() {
    const std::uint64_t number =
        sampler ? sampler->at(current.epoch * pairs.size() + current.position)
                : current.position;
    if (++current.position == pairs.size()) {
      current.position = 0;
      ++current.epoch;
    }
    return pairs[number];
  }

  void readRow(const formats::ImagePair &pair, std::int64_t row,
               std::uint64_t number, Scratch &scratch,
               const std::vector<std::byte *> &memory) {
    decodeImage(pair, scratch);
    decodeLabels(pair, scratch);
    if (transformation.scale_factors_size())
      scale(number, scratch);
    checkEqualSizes(scratch);
    if (settings.cropHeight)
      crop(number, scratch);
    formats::setImage(scratch.image, scratch.record);
    if (settings.padsToCrop)
      pad(scratch.record);
    scratch.crop =
        transform.chooseCrop(scratch.record, number, scratch.imageWhere);
    if (settings.mirror)
      scratch.crop.mirrored = drawBelow(number, 2, 2) == 1;
    takeSize(scratch);
    if (memory[0])
      writeImage(row, scratch, memory[0]);
    if (memory[1])
      writeLabels(row, scratch, memory[1]);
    if (memory.size() > 2 && memory[2])
      storeRow(*tops[2], row, scratch.size, memory[2]);
  }

  /// Decodes a file that a line names, in the size `newHeight` and `newWidth`,
  /// or its own size if they are 0. Sets `where` to its location for messages.
  void decode(const formats::ImagePair &pair, const std::string &name,
              const char *kind, formats::ImageColor color, int newHeight,
              int newWidth, formats::Image &image, std::string &where) const {
    where = formats::lineLocation(list, pair.line);
    const std::string path = formats::requirePath(settings.rootFolder + name,
                                                  folders, where + ": " + kind);
    formats::readImageFile(path, color, newHeight, newWidth, where, image);
    where += ": " + path;
  }

  int maxHeight() const { return static_cast<int>(tops[0]->dims(2)); }
  int maxWidth() const { return static_cast<int>(tops[0]->dims(3)); }

  /// Throws because of the size of an image; `expected` completes the text.
  [[noreturn]] static void failOnSize(const std::string &where,
                                      const char *kind, int height, int width,
                                      const std::string &expected) {
    throw badInput(where + ": the " + kind + " has " + std::to_string(height) +
                   " x " + std::to_string(width) + " pixels; " + expected);
  }

  void decodeImage(const formats::ImagePair &pair, Scratch &scratch) const {
    const auto color = settings.isColor ? formats::ImageColor::Color
                                        : formats::ImageColor::Gray;
    const auto newHeight = static_cast<int>(settings.newHeight);
    const auto newWidth = static_cast<int>(settings.newWidth);
    decode(pair, pair.image, kImage, color, newHeight, newWidth, scratch.image,
           scratch.imageWhere);
    scratch.size = {
        static_cast<float>(std::min(maxHeight(), scratch.image.height)),
        static_cast<float>(std::min(maxWidth(), scratch.image.width))};
    if (scratch.image.channels != tops[0]->dims(1))
      throw badInput(scratch.imageWhere + ": the image has " +
                     std::to_string(scratch.image.channels) +
                     " channels; the plan was built for " +
                     std::to_string(tops[0]->dims(1)));
  }

  /// Returns the label of all pixels of an image.
  int uniformLabel(const formats::ImagePair &pair) const {
    if (settings.labels == caffe::PixelLabels::None)
      return settings.ignoredLabel;
    constexpr int kMaxLabel = 255;
    const std::string &text = pair.labels;
    int label = -1;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), label);
    if (error != std::errc() || end != text.data() + text.size() || label < 0 ||
        label > kMaxLabel)
      throw badInput(formats::lineLocation(list, pair.line) + ": '" + text +
                     "' is not a label from 0 to 255; lists with images of "
                     "labels need label_type: PIXEL");
    return label;
  }

  void decodeLabels(const formats::ImagePair &pair, Scratch &scratch) const {
    if (!settings.hasLabelImages()) {
      scratch.labels = {1, scratch.image.height, scratch.image.width, {}};
      scratch.labels.pixels.assign(
          scratch.image.pixels.size() /
              static_cast<size_t>(scratch.image.channels),
          static_cast<std::uint8_t>(uniformLabel(pair)));
      scratch.labelsWhere = scratch.imageWhere;
      return;
    }
    const bool resizesLater = settings.labels == caffe::PixelLabels::Resized;
    decode(pair, pair.labels, kLabels, formats::ImageColor::Gray,
           resizesLater ? 0 : static_cast<int>(settings.newHeight),
           resizesLater ? 0 : static_cast<int>(settings.newWidth),
           scratch.labels, scratch.labelsWhere);
    if (resizesLater && settings.newHeight)
      scratch.labels = formats::resizeByCopying(
          scratch.labels, scratch.image.height, scratch.image.width);
    if (settings.labels == caffe::PixelLabels::Threshold)
      for (std::uint8_t &label : scratch.labels.pixels)
        label = label >= 128;
  }

  /// Scales image and labels by a random factor.
  void scale(std::uint64_t number, Scratch &scratch) const {
    checkEqualSizes(scratch);
    const float factor = transformation.scale_factors(static_cast<int>(
        scaleStream.below(number, static_cast<std::uint64_t>(
                                      transformation.scale_factors_size()))));
    auto scaled = [&](int extent) {
      return std::max(static_cast<int>(static_cast<float>(extent) * factor), 1);
    };
    const int rows = scaled(scratch.image.height),
              columns = scaled(scratch.image.width);
    scratch.labels = formats::resizeByCopying(scratch.labels, rows, columns);
    formats::resizeImage(scratch.image, rows, columns, scratch.scaled);
    std::swap(scratch.image, scratch.scaled);
  }

  /// Returns a random integer in [0, limit): one of three of an image.
  int drawBelow(std::uint64_t number, std::uint64_t which, int limit) const {
    return static_cast<int>(cropStream.below(
        3 * number + which, static_cast<std::uint64_t>(limit)));
  }

  /// Crops image and labels at a random position.
  void crop(std::uint64_t number, Scratch &scratch) const {
    const auto rows = static_cast<int>(settings.cropHeight),
               columns = static_cast<int>(settings.cropWidth);
    const int height = scratch.image.height, width = scratch.image.width;
    if (height < rows || width < columns)
      failOnSize(scratch.imageWhere, kImage, height, width,
                 "the crop has " + std::to_string(rows) + " x " +
                     std::to_string(columns));
    const int top = drawBelow(number, 0, height - rows + 1),
              left = drawBelow(number, 1, width - columns + 1);
    for (formats::Image *image : {&scratch.image, &scratch.labels})
      *image = formats::cropImage(*image, top, left, rows, columns);
  }

  static void checkEqualSizes(const Scratch &scratch) {
    const formats::Image &image = scratch.image, &labels = scratch.labels;
    if (labels.height != image.height || labels.width != image.width)
      failOnSize(scratch.labelsWhere, kLabels, labels.height, labels.width,
                 "its image has " + std::to_string(image.height) + " x " +
                     std::to_string(image.width));
  }

  /// Extends an image smaller than the crop at its bottom and right, by the
  /// mean.
  void pad(formats::ImageRecord &record) const {
    const caffe::CropSize crop = caffe::cropSizeOf(transformation);
    const int rows = std::max(crop.rows, record.height),
              columns = std::max(crop.columns, record.width);
    if (rows == record.height && columns == record.width)
      return;
    std::vector<float> padded;
    for (int c = 0; c < record.channels; ++c) {
      const int means = transformation.mean_value_size();
      const float mean =
          means ? transformation.mean_value(means > c ? c : 0) : 0;
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
          padded.push_back(
              y < record.height && x < record.width
                  ? record.value(static_cast<size_t>(
                        (c * record.height + y) * record.width + x))
                  : mean);
    }
    record.bytes.clear();
    record.floats = std::move(padded);
    record.height = rows;
    record.width = columns;
  }

  /// Takes the size of the batch from its only image, if it is not fixed, and
  /// checks the size of the image.
  void takeSize(const Scratch &scratch) {
    const auto [channels, rows, columns] =
        transform.resultShape(scratch.record);
    if (sizesVary) {
      height = rows;
      width = columns;
      if (height > maxHeight() || width > maxWidth())
        failOnSize(scratch.imageWhere, kImage, rows, columns,
                   "the images had at most " + std::to_string(maxHeight()) +
                       " x " + std::to_string(maxWidth()) +
                       " when the plan was built");
    } else if (rows != height || columns != width) {
      failOnSize(scratch.imageWhere, kImage, rows, columns,
                 "the plan was built for " + std::to_string(height) + " x " +
                     std::to_string(width) +
                     " (recompile the net, or set new_height and new_width)");
    }
  }

  void writeImage(std::int64_t row, Scratch &scratch, std::byte *memory) const {
    scratch.values.resize(static_cast<size_t>(tops[0]->dims(1) * height) *
                          static_cast<size_t>(width));
    transform.apply(scratch.record, scratch.crop, scratch.values.data());
    storeRow(*tops[0], row, scratch.values, memory);
  }

  void writeLabels(std::int64_t row, Scratch &scratch,
                   std::byte *memory) const {
    const formats::Image &labels = scratch.labels;
    scratch.values.clear();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const std::int64_t labelRow = scratch.crop.top + y;
        const std::int64_t column =
            scratch.crop.left + (scratch.crop.mirrored ? width - 1 - x : x);
        const bool isInside = labelRow < labels.height && column < labels.width;
        scratch.values.push_back(
            static_cast<float>(isInside ? labels.pixels[static_cast<size_t>(
                                              labelRow * labels.width + column)]
                                        : settings.ignoredLabel));
      }
    storeRow(*tops[1], row, scratch.values, memory);
  }

  /// Writes the values of an item; of its own size, if sizes vary.
  void storeRow(const plan::Buffer &top, std::int64_t row,
                const std::vector<float> &values, std::byte *memory) const {
    if (!sizesVary)
      caffe::storeRows(top, row, 1, values.data(), memory);
    else if (top.type() == plan::F64)
      std::copy(values.begin(), values.end(),
                reinterpret_cast<double *>(memory));
    else
      std::copy(values.begin(), values.end(),
                reinterpret_cast<float *>(memory));
  }

  std::vector<const plan::Buffer *> tops;
  const bool sizesVary;      ///< each batch is an image of its own size
  int height = 0, width = 0; ///< of the images; of the last one if sizes vary
  const caffe::ImagePairSettings settings;
  const caffe::TransformationParameter transformation;
  std::string layerText;
  std::vector<std::string> folders;
  ImageTransformer transform;
  caffe::RandomStream scaleStream, cropStream;
  DecodeThreads decodeThreads;
  std::string list; ///< path of the list
  std::vector<formats::ImagePair> pairs;
  std::optional<Sampler> sampler; ///< if images are shuffled
  std::vector<const formats::ImagePair *> batch;
  std::vector<Scratch> scratches; ///< by worker
  SourcePosition current;         ///< of the next read()
};

} // namespace

static std::unique_ptr<BatchSource>
openLabeledPixelSource(const DataLayerInfo &info) {
  return std::make_unique<LabeledPixelSource>(info);
}

const SourceKind labeledPixelSource = {caffe::DataLayerSource::LabeledPixels,
                                       openLabeledPixelSource};

} // namespace brew::runtime
