//===- BatchSource.h - Source of a data layer's batches ---------*- C++ -*-===//
#pragma once

#include "caffe/DataLayerKinds.h"
#include "caffe/RankSeed.h"
#include "formats/caffe.pb.h"
#include "plan/PlanFile.h"
#include "runtime/events/Events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

/// A position from which a source can continue exactly. If several ranks share
/// the records, `epoch` and `position` count the records of all ranks, so that
/// they are equal on all ranks.
struct SourcePosition {
  std::uint64_t records = 0;  ///< read since the start, by this rank
  std::uint64_t epoch = 0;    ///< completed passes over the source
  std::uint64_t position = 0; ///< records read in this pass
};

/// Options of all readers of a session.
struct ReaderOptions {
  /// Decoding threads, including the reader's own; 0: one per core.
  unsigned threads = 0;
  /// Skips and counts damaged or missing images instead of failing.
  bool skipBadRecords = false;
  /// This rank and the number of ranks. In Data and HDF5Data layers, rank r
  /// reads the records whose number, counted over all passes, is r modulo
  /// `ranks`.
  std::uint64_t rank = 0, ranks = 1;
};

/// The arguments for opening the source of a data layer.
struct DataLayerInfo {
  caffe::LayerParameter layer;
  /// Buffers of the layer's tops; must outlive the source.
  std::vector<const plan::Buffer *> tops;
  bool testPhase = false;
  /// Each batch is an image with its own size (DataInput.image_sizes_vary).
  bool imageSizesVary = false;
  caffe::RankSeed seed;
  /// Name of the layer's random stream: "PROGRAM/LAYER".
  std::string stream;
  /// How a device computes the first top from bytes, or null. Must outlive the
  /// source.
  const plan::PixelConversion *pixels = nullptr;
  /// Folders searched in order for files named by the layer, after the working
  /// directory.
  std::vector<std::string> folders;
  ReaderOptions readerOptions;
  /// Receives the source's log lines, from any thread; may be null.
  Events *events = nullptr;
};

/// Posts a source's log line.
inline void postLine(Events *events, log::Site site, std::string text) {
  if (events)
    events->post(event::LogLine{log::Severity::Info, site, std::move(text)});
}

/// The mean that a pixel conversion subtracts.
struct PixelMean {
  std::vector<std::int64_t> dims; ///< as PixelConversion::mean_dims
  std::vector<float> values;
};

/// The shape of each top in a batch.
using BatchShapes = std::vector<std::vector<std::int64_t>>;

/// Reads one batch after another. Used by one thread at a time.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// Writes the next batch: tops[i] points to memory with the size and layout
  /// of top i's buffer, or is null if that top is not wanted. Callers reuse a
  /// fixed set of memory blocks and never change their bytes. Throws Error if
  /// the source is damaged or does not fit the buffers.
  virtual void read(const std::vector<std::byte *> &tops) = 0;

  /// Returns the mean to subtract if the source has images that may be bytes;
  /// otherwise null.
  virtual const PixelMean *pixelMean() const { return nullptr; }
  /// Like read(), but if the first top is wanted and all images of the batch
  /// are bytes, writes them to `pixels`, a PixelBlock, instead of the first top
  /// and returns true. Otherwise writes all tops and returns false.
  virtual bool readPixels(const std::vector<std::byte *> &tops, std::byte *) {
    read(tops);
    return false;
  }

  /// Returns the shapes of the last batch if image sizes vary: a top's values
  /// are then dense from its first element on. Otherwise returns no shapes:
  /// each top has the shape of its buffer.
  virtual BatchShapes shapes() const { return {}; }

  /// Identifies the content of the source as far as possible without reading
  /// all of it.
  virtual std::string identity() const { return ""; }

  /// Returns the number of records skipped so far.
  virtual std::uint64_t skippedRecords() const { return 0; }

  /// Returns the position of the next read().
  virtual SourcePosition position() const = 0;
  /// Continues at a position that an equal source reported. Throws Error (1) if
  /// the source has no such position.
  virtual void seek(const SourcePosition &position) = 0;
};

/// How the batches of a kind of data layer are read. Each kind is defined in
/// the file of its source.
struct SourceKind {
  caffe::DataLayerSource source;
  /// Opens the layer's source. Throws Error (3) if a file is not found, (1) if
  /// its content is wrong.
  std::unique_ptr<BatchSource> (*open)(const DataLayerInfo &info);
  /// Returns the number of batches to read ahead; null: 2, Caffe's default.
  unsigned (*prefetchDepth)(const caffe::LayerParameter &layer) = nullptr;
};

/// Returns the number of batches to read ahead that data_param sets.
unsigned databasePrefetchDepth(const caffe::LayerParameter &layer);

extern const SourceKind annotatedSource, databaseSource, dummySource,
    hdf5Source, imageSource, labeledPixelSource, textSource, videoSource,
    windowSource;

/// Returns the kind with a source, or null if only the caller provides values.
const SourceKind *findSourceKind(caffe::DataLayerSource source);

} // namespace brew::runtime
