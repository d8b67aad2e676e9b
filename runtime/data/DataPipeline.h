//===- DataPipeline.h - Input data of one program ---------------*- C++ -*-===//
//
// Fills the input buffers of one program. Tops of data layers come from their
// sources, read ahead on threads; tops of Input and MemoryData layers, and any
// top that the caller overrides with set(), get the caller's values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/data/BatchSource.h"
#include "runtime/data/ProgramCursors.h"
#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"
#include "support/ForkCount.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

/// The data layers of one program, and the values that the caller sets.
class DataPipeline {
public:
  /// `seed` drives shuffling, cropping, mirroring and fillers. Files are
  /// searched last in `planFolder`. `events`, which may be null, receives the
  /// log lines of the sources. Opens no source. Throws Error (1) if the type of
  /// a data layer is unknown or the layer does not fit its buffers.
  DataPipeline(Executor &executor, int program, caffe::RankSeed seed,
               std::string planFolder, Events *events = nullptr,
               const ReaderOptions &readerOptions = {});
  ~DataPipeline();

  /// Returns the names of all tops, in the order of the data layers.
  std::vector<std::string> tops() const;
  /// Returns the buffer of a top, or null.
  const plan::Buffer *find(std::string_view top) const;

  /// Overrides a top: every later feedData() writes these values (row-major,
  /// one per element of the buffer). If all tops of a source are overridden
  /// before start(), it is not opened. Throws Error (1) if there is no such top
  /// or the count is wrong.
  void set(std::string_view top, const double *values, std::int64_t count);
  void set(std::string_view top, const float *values, std::int64_t count);
  void set(std::string_view top, const std::int32_t *values,
           std::int64_t count);

  /// One top of a batch, row-major, to be filled in by a callback.
  struct Request {
    std::string top;
    std::vector<std::int64_t> dims;
    std::int64_t count; ///< product of dims
    bool isDouble;      ///< the top's buffer is f64
    float *floats;      ///< null if isDouble
    double *doubles;    ///< null unless isDouble
  };
  /// Fills in all requests of a batch. feedData() rethrows its exceptions. Must
  /// not change the pipeline that calls it: such calls throw Error (2).
  using Callback = std::function<void(const std::vector<Request> &)>;
  /// Overrides tops as set() does. Each feedData() calls `callback` for new
  /// values, on the thread of feedData(); nothing is read ahead. Empty `tops`:
  /// all tops. The last override of a top wins. Throws Error (1) if there is no
  /// such top.
  void setCallback(const std::vector<std::string> &tops, Callback callback);

  /// Returns the tops of Input and MemoryData layers without values from the
  /// caller. feedData() sets them to zero, except tops bound to the caller's
  /// memory (Executor::bindMemory), which it leaves unchanged.
  std::vector<std::string> unsetTops() const;

  /// Closes the sources and restarts with another seed; overrides stay.
  void reset(caffe::RankSeed seed);

  /// Opens the sources without reading ahead; a no-op if they are open. Throws
  /// Error (3) if a file or database is not found, (1) if its content is wrong;
  /// the next call retries sources that are not open.
  void open();
  /// Opens the sources and starts reading ahead; a no-op if started.
  void start();

  /// Writes the next batch of every data layer into the program's buffers;
  /// calls start() if needed. Runs reuse the memory of inputs, so each needs
  /// another batch.
  void feedData();

  /// Returns the shape of the values that the last feedData() wrote to a
  /// buffer, if each batch is an image with its own size; otherwise nullopt.
  std::optional<std::vector<std::int64_t>>
  shapeOfImage(std::uint32_t buffer) const;

  /// Returns the buffer of a top with the shape of the last batch. Throws Error
  /// (1) if there is no such top.
  plan::Buffer lastBuffer(std::string_view top) const;
  /// Copies the values that the last feedData() wrote for a top to `values`,
  /// row-major. Call it before the run, which reuses the memory of inputs.
  /// Throws Error: (1) if there is no such top, (2) if the count is wrong.
  void read(std::string_view top, float *values, std::int64_t count);
  void read(std::string_view top, double *values, std::int64_t count);

  /// Identifies the content of the sources, once they are open.
  std::string identity() const;

  /// Returns the positions of all sources, for a solver state. Batches read
  /// ahead do not count.
  std::vector<caffe::ReaderCursor> cursors() const;
  /// Moves sources to the cursors of the same layers; sources without a cursor
  /// stay at the beginning. Opens the sources; call it before start().
  void restore(const std::vector<caffe::ReaderCursor> &cursors);

  /// How often and how long the program waited for a data layer.
  struct Stall {
    std::string layer;
    std::uint64_t times;
    double seconds;
  };
  /// Returns the stalls of the data layers for which the program waited.
  std::vector<Stall> stalls() const;

  /// The load of one reader since it started.
  struct ReaderLoad {
    std::string layer;
    double idle;   ///< fraction of the time the reader waited for a free batch
    double waited; ///< fraction of the time the net waited for the reader
    std::uint64_t skipped; ///< records skipped
  };
  /// Returns the loads of the data layers that read records.
  std::vector<ReaderLoad> readerLoads() const;

private:
  struct Input;
  struct CallbackInput;
  void removeFromCallbacks(const std::string &top);
  void runCallbacks();
  void requireNoCallback() const;
  void reopenAfterFork();
  void deliverEvents();
  std::unique_ptr<BatchSource> openSource(const Input &input);
  bool configurePixelConversion(const Input &input, const BatchSource &source);
  Input *inputOf(std::string_view top, std::size_t &index) const;
  template <typename Value>
  void readValues(std::string_view top, Value *values, std::int64_t count);
  template <typename Value>
  void setValues(std::string_view top, const Value *values, std::int64_t count);

  Executor &executor;
  Events *events;
  int program;
  std::vector<std::unique_ptr<Input>> inputs;
  std::vector<std::unique_ptr<CallbackInput>> callbacks;
  bool opened = false;
  int readerForks = forkCount(); ///< of the process that opened the sources
  bool inCallback = false;       ///< a callback is running
  const ProgramCursors ownCursors;
};

} // namespace brew::runtime
