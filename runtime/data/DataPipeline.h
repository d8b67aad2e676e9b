//===- DataPipeline.h - Brings data into a program's input buffers ----*- C++ -*-===//
//
// One DataPipeline serves one program. The tops of its data layers are filled from
// their sources, read ahead on threads; those of Input and MemoryData layers,
// and any other that the caller takes over with set(), from values the caller
// gives. The pipeline also gives the layers that draw random numbers their keys.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/data/BatchSource.h"
#include "runtime/data/RandomKeys.h"
#include "runtime/executor/Executor.h"
#include "runtime/events/Events.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brew::runtime {

class DataPipeline {
public:
  /// `seed` drives shuffling, cropping, mirroring, fillers and layers' own
  /// random numbers. `planFolder` is
  /// the last place where sources are looked up. Throws Error (1) if a feed's
  /// layer is of an unknown type or does not fit its buffers; opens nothing.
  /// `events`, which may be null, hears of what sources have to say. Each
  /// source decodes on `readerThreads` threads (0: one for each core).
  DataPipeline(Executor &executor, int program, std::uint64_t seed,
         std::string planFolder, Events *events = nullptr,
         const ReaderOptions &reading = {});
  ~DataPipeline();

  /// Names of all tops, in order of the inputs.
  std::vector<std::string> tops() const;
  /// Buffer of a top, or null.
  const plan::Buffer *find(std::string_view top) const;

  /// Takes over a top: every later feed() delivers these values (row-major, one
  /// per element of the buffer). Before start() it also keeps the source from
  /// being opened, if all of its tops are taken over. Throws Error (1) if there
  /// is no such top or the count is wrong.
  void set(std::string_view top, const double *values, std::int64_t count);
  void set(std::string_view top, const float *values, std::int64_t count);
  void set(std::string_view top, const std::int32_t *values,
           std::int64_t count);

  /// What a callback fills for a batch: one top, row-major.
  struct Request {
    std::string top;
    std::vector<std::int64_t> dims;
    std::int64_t count; ///< product of dims
    bool isDouble;      ///< which of the two; f64 where the top's buffer is
    float *floats;      ///< null if isDouble
    double *doubles;    ///< else null
  };
  /// Fills all requests of a batch. What it throws comes out of feed(). It may
  /// not change the pipeline that asks it: what does throws Error (2) until the
  /// callback has returned.
  using Callback = std::function<void(const std::vector<Request> &)>;
  /// Takes over tops as set() does, with values that `callback` gives anew for
  /// each feed(), on the thread that calls it; nothing is read ahead. No tops:
  /// all of them. A top belongs to whatever took it over last. Throws Error (1)
  /// if there is no such top.
  void setCallback(const std::vector<std::string> &tops, Callback callback);

  /// Tops of Input and MemoryData layers that nothing has taken over. They are
  /// zero, save those in the caller's memory (Executor::place): feed() leaves
  /// these as they are.
  std::vector<std::string> unsetTops() const;

  /// Closes the sources and begins anew with another seed; values and callbacks
  /// stay.
  void reset(std::uint64_t seed);

  /// Opens the sources, without reading ahead yet; a no-op afterwards. Throws
  /// Error (3) if a file or database is not found, Error (1) if its content is
  /// wrong; the next call tries again what is not open.
  void open();
  /// Opens the sources and starts to read ahead; a no-op afterwards.
  void start();

  /// Writes the next batch of every feed into the program's buffers; starts if
  /// start() was not called. Call it before every run of the program: the
  /// memory of inputs is reused within a run.
  void feed();

  /// Copies what the last feed() brought for a top, row-major; valid until the
  /// run, which reuses that memory. Throws Error: (1) if there is no such top,
  /// (2) if the count is wrong.
  void read(std::string_view top, float *values, std::int64_t count);
  void read(std::string_view top, double *values, std::int64_t count);

  /// What tells the content of the sources from another, once they are open.
  std::string identity() const;

  /// Where every source and every stream of random numbers stands, for a solver
  /// state. Read-ahead does not count; of random numbers runs do, as records.
  std::vector<caffe::ReaderCursor> cursors() const;
  /// Moves sources to cursors of the same layers; those without one stay at
  /// the beginning. Opens the sources, so call it before start().
  void restore(const std::vector<caffe::ReaderCursor> &cursors);

  /// How often and how long a feed kept the program waiting.
  struct Stall {
    std::string layer;
    std::uint64_t times;
    double seconds;
  };
  /// Only the feeds that did.
  std::vector<Stall> stalls() const;

  /// What one reader has done since it started.
  struct ReaderLoad {
    std::string layer;
    double idle;   ///< share of the time in which it waited to be read from
    double waited; ///< share of the time in which the net waited for it
    std::uint64_t skipped; ///< records passed over
  };
  /// Of the feeds that read records.
  std::vector<ReaderLoad> readerLoads() const;

private:
  struct Input;
  struct CallbackInput;
  std::uint64_t seedOf(std::uint64_t seed) const;
  void addKeys(std::uint64_t seed);
  void removeFromCallbacks(const std::string &top);
  void runCallbacks();
  void refuseInCallback() const;
  void deliverEvents();
  std::unique_ptr<BatchSource> openSource(const Input &input);
  bool takesPixels(const Input &input, const BatchSource &source);
  Input *inputOf(std::string_view top, std::size_t &index) const;
  template <typename Value>
  void readValues(std::string_view top, Value *values, std::int64_t count);
  template <typename Value>
  void setValues(std::string_view top, const Value *values, std::int64_t count);

  Executor &executor;
  Events *events;
  int program;
  RandomKeys keys;
  /// Layers that draw random numbers, with the buffers of their keys.
  std::vector<std::pair<std::string, std::uint32_t>> keyedLayers;
  std::vector<std::unique_ptr<Input>> inputs;
  std::vector<std::unique_ptr<CallbackInput>> callbacks;
  bool opened = false;
  bool inCallback = false; ///< a callback is being called
  bool testPhase = false;
  std::uint64_t rank = 0;
  std::uint32_t programIndex = 0; ///< what a cursor calls its test net
};

} // namespace brew::runtime
