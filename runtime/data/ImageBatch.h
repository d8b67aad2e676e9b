//===- ImageBatch.h - Batches of images and labels --------------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/DecodeThreads.h"
#include "runtime/data/ImageTransformer.h"
#include "support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// The common part of image sources. They have a top of images and, optionally,
/// a second top of labels. Several threads decode and transform the records.
class ImageBatch {
public:
  /// Reads the mean file. Throws Error: 3 if it is not found, 1 if the tops are
  /// not images and labels.
  explicit ImageBatch(const DataLayerInfo &info);

  /// Returns the number of images in a batch: `imagesPerItem` for each item.
  std::int64_t size() const { return items() * imagesPerItem; }
  /// Returns the layer's transformation, which determines how images are
  /// decoded.
  const ImageTransformer &transformer() const { return transform; }
  /// Returns "layer 'NAME' (TYPE)".
  const std::string &layer() const { return layerText; }

  /// Decodes image `number` of the batch, with its label, and sets `where` to
  /// its location for messages. Called on any thread.
  using Decode = std::function<void(
      std::int64_t number, formats::ImageRecord &image, std::string &where)>;
  /// Writes a batch as BatchSource::read() does, or as readPixels() if `pixels`
  /// is not null; returns the result of readPixels(). `first` is the number of
  /// the batch's first record since the start of training. `isCostly`: decoding
  /// a record takes long enough to be shared between threads.
  ///
  /// Throws Error if a record cannot be decoded. If bad records are to be
  /// skipped, calls `replace` instead: it reads the next records of the source
  /// for the `count` images from `number` on, which are all images of the item
  /// or of the pair of items. This is repeated until all records are good.
  /// Throws Error if more records in a row are bad than `records` returns.
  using Replace = std::function<void(std::int64_t number, std::int64_t count)>;
  using Records = std::function<std::uint64_t()>;
  bool write(const std::vector<std::byte *> &memory, std::byte *pixels,
             std::uint64_t first, bool isCostly, const Decode &decode,
             const Replace &replace, const Records &records);

  /// See BatchSource.
  BatchShapes shapes() const;

  /// Returns the number of records replaced.
  std::uint64_t skipped() const { return skippedCount; }

private:
  ImageBatch(const DataLayerInfo &info,
             const caffe::RecordSelection &selection);
  std::int64_t items() const { return tops[0]->dims(0); }
  /// Writes the rows on the caller's thread or on all threads; returns the rows
  /// with bad records, in order, with their errors.
  using BadRows = std::vector<std::pair<std::int64_t, Error>>;
  BadRows writeRows(const std::vector<std::int64_t> &rows, bool isCostly,
                    const std::vector<std::byte *> &memory, std::byte *pixels,
                    std::uint64_t first, const Decode &decode);

  /// Buffers of one worker thread.
  struct WorkerScratch {
    formats::ImageRecord image;
    std::string where;
    std::vector<float> floats;
    std::vector<double> doubles;
  };

  std::int64_t framesPerImage() const;
  std::array<int, 3> imageShape() const;
  std::string textOf(const std::array<int, 3> &shape) const;
  void checkShape(const formats::ImageRecord &image,
                  const std::string &where) const;
  void takeSize(const formats::ImageRecord &image, const std::string &where);
  template <typename Transform>
  void convert(WorkerScratch &scratch, std::int64_t index,
               Transform transformation) const;
  float *valuesOf(std::int64_t number, std::byte *memory) const;
  void storeRow(const WorkerScratch &scratch, std::int64_t row,
                std::byte *memory) const;
  void takeLabels(const formats::ImageRecord &image, std::int64_t number,
                  const std::string &where);
  void storeLabels(std::byte *memory) const;
  void keepPixels(const formats::ImageRecord &image, std::int64_t row,
                  const CropAndMirror &cropAndMirror, std::byte *pixels) const;
  void convertRow(WorkerScratch &scratch, std::int64_t row, std::byte *pixels,
                  std::byte *memory) const;

  std::vector<const plan::Buffer *> tops;
  const std::int64_t imagesPerItem; ///< concatenated along the channels
  const std::int64_t labelsPerImage;
  const std::int64_t itemsPerUnit; ///< 2: consecutive items form pairs
  /// The first top is an array of f32 in the order of its dimensions: images
  /// are transformed into it directly.
  bool isDense = false;
  const bool sizesVary; ///< each batch is an image with its own size
  std::array<int, 3> imageSize = {}; ///< of the last batch, if sizes vary
  const bool allLabels; ///< writes all labels; else whether they are equal
  std::string layerText;
  PixelBlock block; ///< for pixel conversion on a device
  ImageTransformer transform;
  DecodeThreads decodeThreads;
  std::vector<WorkerScratch> scratches; ///< by worker
  std::vector<float> labels;            ///< of the images
  std::vector<char> hasPixels; ///< by row: the block contains its pixels
  bool skipsBad;
  Events *events;
  std::uint64_t skippedCount = 0;
};

/// A source of images that an ImageBatch decodes.
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
  BatchShapes shapes() const override { return images.shapes(); }
  std::uint64_t skippedRecords() const override { return images.skipped(); }
  SourcePosition position() const override { return current; }

protected:
  explicit ImageBatchSource(const DataLayerInfo &info) : images(info) {}

  /// Reads the next batch; `pixels` is as in ImageBatch::write().
  virtual bool readBatch(const std::vector<std::byte *> &memory,
                         std::byte *pixels) = 0;

  ImageBatch images;
  SourcePosition current;
};

} // namespace brew::runtime
