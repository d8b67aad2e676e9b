//===- BatchSource.h - Where the batches of one feed come from --*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/plan/PlanFile.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

/// How far a source has been read; enough to continue there exactly.
struct SourcePosition {
  std::uint64_t records = 0;  ///< consumed since the start
  std::uint64_t epoch = 0;    ///< complete passes over the source
  std::uint64_t position = 0; ///< consumed in this pass, in the pass's order
};

/// A layer that brings data in, as a source needs to know it.
struct FeedInfo {
  caffe::LayerParameter layer;
  /// Buffers of its tops; they outlive the source.
  std::vector<const plan::Buffer *> tops;
  bool testPhase = false;
  std::uint64_t seed = 0;
  /// Distinguishes the random streams of feeds: "PROGRAM/LAYER".
  std::string stream;
  /// Folders in which files named by the layer are looked up, in order, after
  /// the working directory.
  std::vector<std::string> folders;
};

/// Images as bytes, with what the host decides about each, for a device that
/// converts them itself (plan::PixelConversion): one block of memory.
struct PixelBlock {
  std::size_t imageSize = 0; ///< bytes of one; the block begins with them
  /// Offset of three numbers for each: whether it is mirrored, first row and
  /// first column of its crop.
  std::size_t placement = 0;
  std::size_t size = 0; ///< of the block, in bytes

  /// For images of a top [N,C,H,W].
  static PixelBlock of(const plan::Buffer &top) {
    const auto images = static_cast<std::size_t>(top.dims(0));
    const auto pixels = static_cast<std::size_t>(plan::elementCount(top));
    const std::size_t placement =
        (pixels + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
    return {pixels / images, placement,
            placement + images * 3 * sizeof(std::int32_t)};
  }
};

/// What a conversion of pixels subtracts.
struct PixelMean {
  std::vector<std::int64_t> dims; ///< as PixelConversion::mean_dims
  std::vector<float> values;
};

/// Delivers one batch after another. Used from one thread at a time.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// Writes the next batch: tops[i] is memory of the size and layout of top
  /// i's buffer, or null if that top is not wanted. Callers recycle a fixed set
  /// of memory and never change its bytes. Throws Error when the source is
  /// damaged or does not fit the buffers.
  virtual void read(const std::vector<std::byte *> &tops) = 0;

  /// The mean of a source that has images, which may be bytes; else null.
  virtual const PixelMean *pixelMean() const { return nullptr; }
  /// Like read(), but leaves the first top, if it is wanted and all of the
  /// batch's images are bytes, in `pixels`, a PixelBlock of its buffer, and
  /// returns true. Otherwise false: all tops are written.
  virtual bool readPixels(const std::vector<std::byte *> &tops, std::byte *) {
    read(tops);
    return false;
  }

  /// Where the next read() begins.
  virtual SourcePosition position() const = 0;
  /// Continues at a position that an equal source reported. Throws Error (1)
  /// if the source cannot have been there.
  virtual void seek(const SourcePosition &position) = 0;
};

/// Opens a Data layer's database.
std::unique_ptr<BatchSource> openDatabaseSource(const FeedInfo &info);
/// Opens an HDF5Data layer's list of files.
std::unique_ptr<BatchSource> openHdf5Source(const FeedInfo &info);
/// Opens the file that an InfogainLoss layer names.
std::unique_ptr<BatchSource> openBlobSource(const FeedInfo &info);
/// The fillers of a DummyData layer.
std::unique_ptr<BatchSource> makeDummySource(const FeedInfo &info);

} // namespace brew::runtime
