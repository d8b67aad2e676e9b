//===- ImageBatch.h - Batches of images and labels --------------*- C++ -*-===//
#pragma once

#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/data/ReaderTeam.h"

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
  explicit ImageBatch(const FeedInfo &info);

  /// Images in a batch.
  std::int64_t size() const { return tops[0]->dims(0); }
  /// How the layer's transformations want images decoded.
  const ImageTransformer &transformer() const { return transform; }
  /// "layer 'NAME' (TYPE)".
  const std::string &layer() const { return layerText; }
  /// Threads that decode.
  ReaderTeam &team() { return readers; }

  /// Decodes image `row` of the batch, with its label, and says for messages
  /// where it comes from. Called on any thread.
  using Decode = std::function<void(
      std::int64_t row, formats::ImageRecord &image, std::string &where)>;
  /// Writes a batch as BatchSource::read() does, or as readPixels() where
  /// `pixels` is not null; returns what that does. `first` numbers its first
  /// record since the start of training.
  bool write(const std::vector<std::byte *> &memory, std::byte *pixels,
             std::uint64_t first, bool isCostly, const Decode &decode);

private:
  /// What one thread works with.
  struct Workplace {
    formats::ImageRecord image;
    std::string where;
    std::vector<float> floats;
    std::vector<double> doubles;
  };

  std::array<int, 3> imageShape() const;
  void checkShape(const formats::ImageRecord &image,
                  const std::string &where) const;
  template <typename Transform>
  void store(Workplace &place, std::int64_t row, std::byte *memory,
             Transform transformation) const;
  void keepPixels(const formats::ImageRecord &image, std::int64_t row,
                  const ImagePlacement &placement, std::byte *pixels) const;
  void convertRow(Workplace &place, std::int64_t row, std::byte *pixels,
                  std::byte *memory) const;

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  PixelBlock block; ///< where a device converts pixels
  ImageTransformer transform;
  ReaderTeam readers;
  std::vector<Workplace> workplaces; ///< by worker
  std::vector<float> labels;
  std::vector<char> kept; ///< by row: its pixels are in the block
};

} // namespace brew::runtime
