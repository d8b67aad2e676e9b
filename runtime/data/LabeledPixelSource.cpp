//===- LabeledPixelSource.cpp - Batches of images and their labels --------===//

#include "caffe/weights/BufferLayout.h"
#include "formats/PathLookup.h"
#include "formats/TextLines.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImagePairList.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/DecodeThreads.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/data/selection/RandSkip.h"
#include "runtime/data/selection/Sampler.h"
#include "support/Error.h"

#include <algorithm>
#include <optional>

namespace brew::runtime {
namespace {

/// Returns the pixel of a gray image that OpenCV's nearest-neighbour resizing
/// copies to `row` and `column` of an image of `height` and `width`.
std::uint8_t nearestPixel(const formats::Image &image, int row, int column,
                          int height, int width) {
  auto scaled = [](int index, int from, int to) {
    return std::min(static_cast<int>(index * (static_cast<double>(from) / to)),
                    from - 1);
  };
  const int y = scaled(row, image.height, height);
  const int x = scaled(column, image.width, width);
  return image.pixels[static_cast<std::size_t>(y) *
                          static_cast<std::size_t>(image.width) +
                      static_cast<std::size_t>(x)];
}

/// Reads the listed images and the gray images of their labels, in order or
/// shuffled in each pass. transform_param applies to the images only.
class LabeledPixelSource : public BatchSource {
public:
  explicit LabeledPixelSource(const DataLayerInfo &info)
      : tops(info.tops), sizesVary(info.imageSizesVary),
        parameter(info.layer.dense_image_data_param()),
        layerText("layer '" + info.layer.name() + "' (DenseImageData)"),
        folders(info.folders), transform(info),
        decodeThreads(info.readerOptions.threads) {
    checkTops();
    list = formats::requirePath(parameter.source(), folders,
                                "list of images of " + layerText);
    postLine(info.events, log::site::imageList, "Opening file " + list);
    pairs = formats::readImagePairList(list);
    if (parameter.shuffle()) {
      postLine(info.events, log::site::imageShuffle, "Shuffling data");
      SampledRecords records;
      records.count = pairs.size();
      sampler.emplace(caffe::recordSelectionOf(info.layer), std::move(records),
                      info.seed.rankSeed(), info.stream, layerText);
    }
    postLine(info.events, log::site::imageCount,
             "A total of " + std::to_string(pairs.size()) + " examples.");
    if (parameter.rand_skip())
      current.position = skippedImages(info, parameter.rand_skip(),
                                       pairs.size(), layerText, list);
    scratches.resize(decodeThreads.size());
    height = maxHeight();
    width = maxWidth();
  }

  void read(const std::vector<std::byte *> &memory) override {
    const std::uint64_t first = current.records;
    batch.clear();
    for (std::int64_t row = 0; row < tops[0]->dims(0); ++row)
      batch.push_back(&next());
    decodeThreads.forEach(
        tops[0]->dims(0), [&](std::int64_t row, unsigned worker) {
          const formats::ImagePair &pair = *batch[static_cast<size_t>(row)];
          if (memory[0])
            writeImage(pair, row, first + static_cast<std::uint64_t>(row),
                       scratches[worker], memory[0]);
          else if (memory[1] && sizesVary)
            takeSizeOfLabels(pair, scratches[worker]);
          if (memory[1])
            writeLabels(pair, row, scratches[worker], memory[1]);
        });
    current.records += batch.size();
  }

  BatchShapes shapes() const override {
    if (!sizesVary)
      return {};
    return {{1, tops[0]->dims(1), height, width}, {1, 1, height, width}};
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
  static constexpr char kLabels[] = "image of labels";

  struct Scratch {
    formats::Image image;
    formats::ImageRecord record;
    std::vector<float> values;
    std::string where;
  };

  void checkTops() {
    if (tops.size() != 2 || tops[0]->dims_size() != 4 ||
        tops[1]->dims_size() != 4 || tops[1]->dims(1) != 1 ||
        tops[0]->dims(0) != tops[1]->dims(0) ||
        tops[0]->dims(2) != tops[1]->dims(2) ||
        tops[0]->dims(3) != tops[1]->dims(3))
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

  /// Decodes a file that a line names, in the size `height` and `width`, or its
  /// own size if they are 0. Sets `where` to its location for messages.
  void decode(const formats::ImagePair &pair, const std::string &name,
              const char *kind, formats::ImageColor color, int height,
              int width, formats::Image &image, std::string &where) const {
    where = formats::lineLocation(list, pair.line);
    const std::string path = formats::requirePath(
        parameter.root_folder() + name, folders, where + ": " + kind);
    formats::readImageFile(path, color, height, width, where, image);
    where += ": " + path;
  }

  int maxHeight() const { return static_cast<int>(tops[0]->dims(2)); }
  int maxWidth() const { return static_cast<int>(tops[0]->dims(3)); }

  /// Throws because of the size of `image`; `expected` completes the text.
  [[noreturn]] static void failOnSize(const std::string &where,
                                      const char *kind,
                                      const formats::Image &image,
                                      const std::string &expected) {
    throw badInput(where + ": the " + kind + " has " +
                   std::to_string(image.height) + " x " +
                   std::to_string(image.width) + " pixels; " + expected);
  }

  /// Takes the size of the batch from its only image, if it is not fixed, and
  /// checks the size of the image.
  void checkSize(const std::string &where, const char *kind,
                 const formats::Image &image) {
    if (sizesVary) {
      height = image.height;
      width = image.width;
      if (height > maxHeight() || width > maxWidth())
        failOnSize(where, kind, image,
                   "the images had at most " + std::to_string(maxHeight()) +
                       " x " + std::to_string(maxWidth()) +
                       " when the plan was built");
    } else if (image.height != height || image.width != width) {
      failOnSize(where, kind, image,
                 "the plan was built for " + std::to_string(height) + " x " +
                     std::to_string(width) +
                     " (recompile the net, or set new_height and new_width)");
    }
  }

  void takeSizeOfLabels(const formats::ImagePair &pair, Scratch &scratch) {
    decodeLabels(pair, scratch);
    checkSize(scratch.where, kLabels, scratch.image);
  }

  void decodeLabels(const formats::ImagePair &pair, Scratch &scratch) const {
    decode(pair, pair.labels, kLabels, formats::ImageColor::Gray, 0, 0,
           scratch.image, scratch.where);
  }

  void writeImage(const formats::ImagePair &pair, std::int64_t row,
                  std::uint64_t number, Scratch &scratch, std::byte *memory) {
    decode(pair, pair.image, "image",
           parameter.is_color() ? formats::ImageColor::Color
                                : formats::ImageColor::Gray,
           static_cast<int>(parameter.new_height()),
           static_cast<int>(parameter.new_width()), scratch.image,
           scratch.where);
    if (scratch.image.channels != tops[0]->dims(1))
      throw badInput(scratch.where + ": the image has " +
                     std::to_string(scratch.image.channels) +
                     " channels; the plan was built for " +
                     std::to_string(tops[0]->dims(1)));
    checkSize(scratch.where, "image", scratch.image);
    formats::setImage(scratch.image, scratch.record);
    scratch.values.resize(static_cast<size_t>(tops[0]->dims(1) * height) *
                          static_cast<size_t>(width));
    transform.apply(scratch.record,
                    transform.chooseCrop(scratch.record, number, scratch.where),
                    scratch.values.data());
    storeRow(*tops[0], row, scratch.values, memory);
  }

  void writeLabels(const formats::ImagePair &pair, std::int64_t row,
                   Scratch &scratch, std::byte *memory) const {
    decodeLabels(pair, scratch);
    const bool isResized = parameter.new_height() != 0;
    if (!isResized &&
        (scratch.image.height != height || scratch.image.width != width))
      failOnSize(scratch.where, kLabels, scratch.image,
                 "its image has " + std::to_string(height) + " x " +
                     std::to_string(width));
    scratch.values.clear();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        scratch.values.push_back(
            nearestPixel(scratch.image, y, x, height, width));
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
  caffe::DenseImageDataParameter parameter;
  std::string layerText;
  std::vector<std::string> folders;
  ImageTransformer transform;
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
