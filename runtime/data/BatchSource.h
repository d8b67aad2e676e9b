//===- BatchSource.h - Where the batches of one feed come from --*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/PlanFile.h"
#include "runtime/events/Events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

/// How far a source has been read; enough to continue there exactly.
/// On several ranks positions are those behind a record for each of them, so
/// that they are the same on all ranks.
struct SourcePosition {
  std::uint64_t records = 0;  ///< consumed since the start (by this rank)
  std::uint64_t epoch = 0;    ///< complete passes over the source
  std::uint64_t position = 0; ///< consumed in this pass, in the pass's order
};

/// What a session says of all readers.
struct ReaderOptions {
  /// Threads that decode, the reader's own included; 0: one for each core.
  unsigned threads = 0;
  /// Damaged or missing images are passed over and counted instead of ending
  /// the run.
  bool skipBadRecords = false;
  /// Of training on several ranks: which this is. Of the records of Data and
  /// HDF5Data layers, counted over all passes, rank r has those whose number is
  /// r modulo `ranks`. Seeds differ by the rank.
  std::uint64_t rank = 0, ranks = 1;
};

/// A layer that brings data in, as a source needs to know it.
struct DataLayerInfo {
  caffe::LayerParameter layer;
  /// Buffers of its tops; they outlive the source.
  std::vector<const plan::Buffer *> tops;
  bool testPhase = false;
  std::uint64_t seed = 0;
  /// Distinguishes the random streams of feeds: "PROGRAM/LAYER".
  std::string stream;
  /// How a device makes the first top of bytes; null where none does. It
  /// outlives the source.
  const plan::PixelConversion *pixels = nullptr;
  /// Folders in which files named by the layer are looked up, in order, after
  /// the working directory.
  std::vector<std::string> folders;
  /// How it is read.
  ReaderOptions reading;
  /// Hears what the source has to say, from any thread; may be null.
  Events *events = nullptr;
};

/// Posts a line of a source.
inline void postLine(Events *events, log::Site site, std::string text) {
  if (events)
    events->post(event::LogLine{log::Severity::Info, site, std::move(text)});
}

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
  /// batch's images are bytes, in `pixels`, a PixelBlock, and returns true.
  /// Otherwise false: all tops are written.
  virtual bool readPixels(const std::vector<std::byte *> &tops, std::byte *) {
    read(tops);
    return false;
  }

  /// What tells one content of the source from another, as far as that is known
  /// without reading all of it.
  virtual std::string identity() const { return ""; }

  /// Records that were passed over so far.
  virtual std::uint64_t skippedRecords() const { return 0; }

  /// Where the next read() begins.
  virtual SourcePosition position() const = 0;
  /// Continues at a position that an equal source reported. Throws Error (1)
  /// if the source cannot have been there.
  virtual void seek(const SourcePosition &position) = 0;
};

/// Opens a Data layer's database.
std::unique_ptr<BatchSource> openDatabaseSource(const DataLayerInfo &info);
/// Opens an AnnotatedData layer's database.
std::unique_ptr<BatchSource> openAnnotatedSource(const DataLayerInfo &info);
/// Opens an ImageData layer's list.
std::unique_ptr<BatchSource> openImageSource(const DataLayerInfo &info);
/// Opens a WindowData layer's file.
std::unique_ptr<BatchSource> openWindowSource(const DataLayerInfo &info);
/// Opens an HDF5Data layer's list of files.
std::unique_ptr<BatchSource> openHdf5Source(const DataLayerInfo &info);
/// Opens the file that an InfogainLoss layer names.
std::unique_ptr<BatchSource> openBlobSource(const DataLayerInfo &info);
/// The weights of classes in a SoftmaxWithLoss layer's settings.
std::unique_ptr<BatchSource> makeWeightSource(const DataLayerInfo &info);
/// The fillers of a DummyData layer.
std::unique_ptr<BatchSource> makeDummySource(const DataLayerInfo &info);

} // namespace brew::runtime
