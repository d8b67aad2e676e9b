//===- ImageBatch.h - Batches of images and labels --------------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/data/DecodeThreads.h"
#include "support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// What sources of images have in common: two tops, the second of labels;
/// records are decoded and transformed by a team of threads.
class ImageBatch {
public:
  /// Reads the mean file. Throws Error: 3 if it is not found, 1 if the tops are
  /// not those of images and labels.
  explicit ImageBatch(const DataLayerInfo &info);

  /// Images in a batch: some for each of its items, side by side.
  std::int64_t size() const { return items() * imagesPerItem; }
  /// How the layer's transformations want images decoded.
  const ImageTransformer &transformer() const { return transform; }
  /// "layer 'NAME' (TYPE)".
  const std::string &layer() const { return layerText; }
  /// Threads that decode.
  DecodeThreads &team() { return readers; }

  /// Decodes image `number` of the batch, with its label, and says for messages
  /// where it comes from. Called on any thread.
  using Decode = std::function<void(
      std::int64_t number, formats::ImageRecord &image, std::string &where)>;
  /// Writes a batch as BatchSource::read() does, or as readPixels() where
  /// `pixels` is not null; returns what that does. `first` numbers its first
  /// record since the start of training.
  ///
  /// A record that cannot be decoded ends it with an Error; or, where bad
  /// records are to be skipped, `replace` puts the source's next ones in place
  /// of all images of its item, or of its pair of items, which are `count` from
  /// `number` on, in their order, until all are good or as many in a row were
  /// bad as `records` says there are.
  using Replace = std::function<void(std::int64_t number, std::int64_t count)>;
  using Records = std::function<std::uint64_t()>;
  bool write(const std::vector<std::byte *> &memory, std::byte *pixels,
             std::uint64_t first, bool isCostly, const Decode &decode,
             const Replace &replace, const Records &records);

  /// How many records were replaced.
  std::uint64_t skipped() const { return skippedCount; }

private:
  ImageBatch(const DataLayerInfo &info, const caffe::RecordSelection &selection);
  std::int64_t items() const { return tops[0]->dims(0); }
  /// Handles the rows one by one or on all threads; returns those whose records
  /// are bad, in order, with what is wrong.
  using Bad = std::vector<std::pair<std::int64_t, Error>>;
  Bad writeRows(const std::vector<std::int64_t> &rows, bool isCostly,
                const std::vector<std::byte *> &memory, std::byte *pixels,
                std::uint64_t first, const Decode &decode);

  /// What one thread works with.
  struct WorkerScratch {
    formats::ImageRecord image;
    std::string where;
    std::vector<float> floats;
    std::vector<double> doubles;
  };

  std::array<int, 3> imageShape() const;
  void checkShape(const formats::ImageRecord &image,
                  const std::string &where) const;
  template <typename Transform>
  void convert(WorkerScratch &scratch, std::int64_t within,
               Transform transformation) const;
  void storeRow(const WorkerScratch &scratch, std::int64_t row,
                std::byte *memory) const;
  void storeLabels(std::byte *memory) const;
  void keepPixels(const formats::ImageRecord &image, std::int64_t row,
                  const CropAndMirror &cropAndMirror, std::byte *pixels) const;
  void convertRow(WorkerScratch &scratch, std::int64_t row, std::byte *pixels,
                  std::byte *memory) const;

  std::vector<const plan::Buffer *> tops;
  const std::int64_t imagesPerItem; ///< side by side among the channels
  const std::int64_t itemsPerUnit;  ///< 2: each two items are a pair
  const bool allLabels;             ///< of them; else whether they are equal
  std::string layerText;
  PixelBlock block; ///< where a device converts pixels
  ImageTransformer transform;
  DecodeThreads readers;
  std::vector<WorkerScratch> scratches; ///< by worker
  std::vector<float> labels;         ///< of the images
  std::vector<char> kept;            ///< by row: its pixels are in the block
  bool skipsBad;
  Events *events;
  std::uint64_t skippedCount = 0;
};

/// A source whose records are images that an ImageBatch decodes.
class ImageBatchSource : public BatchSource {
public:
  void read(const std::vector<std::byte *> &memory) override {
    readBatch(memory, nullptr);
  }
  bool readPixels(const std::vector<std::byte *> &memory,
                  std::byte *pixels) override {
    return readBatch(memory, pixels);
  }
  const PixelMean *pixelMean() const override {
    return &images.transformer().mean();
  }
  std::uint64_t skippedRecords() const override { return images.skipped(); }
  SourcePosition position() const override { return at; }

protected:
  explicit ImageBatchSource(const DataLayerInfo &info) : images(info) {}

  /// Reads the next batch; `pixels` as ImageBatch::write() takes it.
  virtual bool readBatch(const std::vector<std::byte *> &memory,
                         std::byte *pixels) = 0;

  ImageBatch images;
  SourcePosition at;
};

} // namespace brew::runtime
