//===- DatabaseSource.cpp - Data: batches from LMDB or LevelDB ------------===//

#include "formats/Database.h"
#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/weights/Layout.h"

#include <algorithm>

namespace brew::runtime {
namespace {

class DatabaseSource : public BatchSource {
public:
  explicit DatabaseSource(const FeedInfo &info)
      : tops(info.tops), layerText("layer '" + info.layer.name() + "' (Data)"),
        transformer(info), events(info.events) {
    const caffe::DataParameter &parameter = info.layer.data_param();
    if (tops.empty() || tops.size() > 2)
      throw badInput(layerText + ": has " + std::to_string(tops.size()) +
                     " tops; it gives data and, if wanted, labels");
    if (tops[0]->dims_size() != 4 || tops[0]->dims(0) < 1 ||
        (tops.size() == 2 && elementCount(*tops[1]) != tops[0]->dims(0)))
      throw badInput(layerText + ": the plan's buffers of its tops do not have "
                                 "the shapes of images and labels");
    if (info.pixels)
      block = PixelBlock::of(*tops[0], *info.pixels);
    const auto backend = parameter.backend() == caffe::DataParameter::LEVELDB
                             ? formats::DbBackend::LevelDb
                             : formats::DbBackend::Lmdb;
    const std::string path =
        formats::requirePath(parameter.source(), info.folders,
                             std::string(formats::backendName(backend)) +
                                 " database of " + layerText);
    reader = formats::DbReader::open(path, backend);
    postLine(events, log::site::openDatabase,
             backend == formats::DbBackend::Lmdb ? "Opened lmdb " + path
                                                 : "Opened leveldb " + path);
    cursor = reader->newCursor();
    if (parameter.rand_skip())
      skip(RandomStream(info.seed, "rand_skip " + info.stream)
               .below(0, parameter.rand_skip()));
  }

  void read(const std::vector<std::byte *> &memory) override {
    readBatch(memory, nullptr);
  }
  bool readPixels(const std::vector<std::byte *> &memory,
                  std::byte *pixels) override {
    return readBatch(memory, pixels);
  }
  const PixelMean *pixelMean() const override { return &transformer.mean(); }

  SourcePosition position() const override { return at; }

  void seek(const SourcePosition &target) override {
    cursor->rewind();
    at = target;
    for (std::uint64_t i = 0; i < target.position; ++i) {
      cursor->next();
      if (!cursor->valid())
        throw badInput(layerText + ": the solver state is at record " +
                       std::to_string(target.position) + " of '" +
                       reader->path() + "', which has only " +
                       std::to_string(i + 1));
    }
  }

private:
  /// Whether the images are in `pixels`, which may be null.
  bool readBatch(const std::vector<std::byte *> &memory, std::byte *pixels) {
    const std::int64_t batch = tops[0]->dims(0);
    const std::uint64_t epochBefore = at.epoch;
    labels.resize(static_cast<std::size_t>(batch));
    for (std::int64_t row = 0; row < batch; ++row) {
      const std::string where =
          reader->path() + ", record '" + std::string(cursor->key()) + "'";
      formats::decodeDatum(cursor->value(), transformer.color(), where, image);
      if (memory[0]) {
        checkShape(where);
        const ImagePlacement placement =
            transformer.place(image, at.records, where);
        if (pixels && image.bytes.empty()) {
          convertRows(row, pixels, memory[0]);
          pixels = nullptr;
        }
        if (pixels)
          keepPixels(row, placement, pixels);
        else
          store(row, memory[0], [&](auto *values) {
            transformer.apply(image, placement, values);
          });
      }
      labels[static_cast<std::size_t>(row)] = static_cast<float>(image.label);
      ++at.records;
      advance();
    }
    // Once for a batch, however small the database.
    if (at.epoch != epochBefore)
      postLine(events, log::site::databaseWrapped,
               "Restarting data prefetching from start.");
    if (tops.size() == 2 && memory[1])
      runtime::store(*tops[1], labels.data(), memory[1]);
    return pixels && memory[0];
  }

  std::array<int, 3> imageShape() const {
    const auto &dims = tops[0]->dims();
    return {static_cast<int>(dims.Get(1)), static_cast<int>(dims.Get(2)),
            static_cast<int>(dims.Get(3))};
  }

  void checkShape(const std::string &where) const {
    const std::array<int, 3> shape = transformer.resultShape(image);
    if (shape != imageShape())
      throw badInput(
          layerText + ": " + where + " gives an image of " + shapeText(shape) +
          ", but the plan was built for images of " + shapeText(imageShape()));
  }

  /// Puts what `transform` makes of an image into row `row` of the batch.
  template <typename Transform>
  void store(std::int64_t row, std::byte *memory, Transform transform) {
    const auto [channels, height, width] = imageShape();
    const std::size_t size = std::size_t(channels) * height * width;
    auto put = [&](auto &values) {
      values.resize(size);
      transform(values.data());
      storeRows(*tops[0], row, 1, values.data(), memory);
    };
    if (tops[0]->type() == plan::F64)
      put(doubles);
    else
      put(floats);
  }

  void keepPixels(std::int64_t row, const ImagePlacement &placement,
                  std::byte *pixels) const {
    std::uint8_t *kept = block.image(row, pixels);
    ImagePlacement within = placement;
    if (block.areRecords && image.height == block.rows &&
        image.width == block.columns) {
      std::copy(image.bytes.begin(), image.bytes.end(), kept);
    } else {
      transformer.crop(image, placement, block, kept);
      if (block.areRecords)
        within.top = within.left = 0;
    }
    std::int32_t *numbers = block.placementOf(row, pixels);
    numbers[0] = within.mirrored;
    numbers[1] = static_cast<std::int32_t>(within.top);
    numbers[2] = static_cast<std::int32_t>(within.left);
  }

  /// Converts the first `rows` images of a batch that turns out not to be all
  /// bytes.
  void convertRows(std::int64_t rows, std::byte *pixels, std::byte *memory) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t *numbers = block.placementOf(row, pixels);
      const ImagePlacement placement = {numbers[0] != 0, numbers[1],
                                        numbers[2]};
      store(row, memory, [&](auto *values) {
        transformer.applyToPixels(block, block.image(row, pixels), imageShape(),
                                  placement, values);
      });
    }
  }

  void advance() {
    cursor->next();
    ++at.position;
    if (cursor->valid())
      return;
    cursor->rewind();
    at.position = 0;
    ++at.epoch;
  }

  void skip(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      advance();
  }

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  PixelBlock block; ///< where a device converts pixels
  ImageTransformer transformer;
  Events *events;
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  SourcePosition at;
  formats::ImageRecord image;
  std::vector<float> floats, labels;
  std::vector<double> doubles;
};

} // namespace

std::unique_ptr<BatchSource> openDatabaseSource(const FeedInfo &info) {
  return std::make_unique<DatabaseSource>(info);
}

} // namespace brew::runtime
