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
      : tops(info.tops), parameter(info.layer.dense_image_data_param()),
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
          if (memory[1])
            writeLabels(pair, row, scratches[worker], memory[1]);
        });
    current.records += batch.size();
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

  int height() const { return static_cast<int>(tops[0]->dims(2)); }
  int width() const { return static_cast<int>(tops[0]->dims(3)); }

  [[noreturn]] void failOnSize(const std::string &where, const char *kind,
                               int imageHeight, int imageWidth) const {
    throw badInput(where + ": the " + kind + " has " +
                   std::to_string(imageHeight) + " x " +
                   std::to_string(imageWidth) +
                   " pixels; the plan was built "
                   "for " +
                   std::to_string(height()) + " x " + std::to_string(width()) +
                   " (set new_height and new_width for images of several "
                   "sizes)");
  }

  struct Scratch {
    formats::Image image;
    formats::ImageRecord record;
    std::vector<float> values;
    std::string where;
  };

  void writeImage(const formats::ImagePair &pair, std::int64_t row,
                  std::uint64_t number, Scratch &scratch,
                  std::byte *memory) const {
    decode(pair, pair.image, "image",
           parameter.is_color() ? formats::ImageColor::Color
                                : formats::ImageColor::Gray,
           static_cast<int>(parameter.new_height()),
           static_cast<int>(parameter.new_width()), scratch.image,
           scratch.where);
    if (scratch.image.height != height() || scratch.image.width != width() ||
        scratch.image.channels != tops[0]->dims(1))
      failOnSize(scratch.where, "image", scratch.image.height,
                 scratch.image.width);
    formats::setImage(scratch.image, scratch.record);
    scratch.values.resize(static_cast<size_t>(rowSize(*tops[0])));
    transform.apply(scratch.record,
                    transform.chooseCrop(scratch.record, number, scratch.where),
                    scratch.values.data());
    caffe::storeRows(*tops[0], row, 1, scratch.values.data(), memory);
  }

  void writeLabels(const formats::ImagePair &pair, std::int64_t row,
                   Scratch &scratch, std::byte *memory) const {
    decode(pair, pair.labels, "image of labels", formats::ImageColor::Gray, 0,
           0, scratch.image, scratch.where);
    const bool isResized = parameter.new_height() != 0;
    if (!isResized &&
        (scratch.image.height != height() || scratch.image.width != width()))
      failOnSize(scratch.where, "image of labels", scratch.image.height,
                 scratch.image.width);
    scratch.values.clear();
    for (int y = 0; y < height(); ++y)
      for (int x = 0; x < width(); ++x)
        scratch.values.push_back(
            nearestPixel(scratch.image, y, x, height(), width()));
    caffe::storeRows(*tops[1], row, 1, scratch.values.data(), memory);
  }

  static std::int64_t rowSize(const plan::Buffer &buffer) {
    return plan::elementCount(buffer) / buffer.dims(0);
  }

  std::vector<const plan::Buffer *> tops;
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
