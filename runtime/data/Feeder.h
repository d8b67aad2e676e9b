//===- Feeder.h - Brings data into a program's input buffers ----*- C++ -*-===//
//
// One Feeder serves one program. The tops of its data layers are filled from
// their sources, read ahead on threads; those of Input and MemoryData layers,
// and any other that the caller takes over with set(), from values the caller
// gives. The feeder also gives the layers that draw random numbers their keys.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Executor.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/RandomKeys.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

class Feeder {
public:
  /// `seed` drives shuffling, cropping, mirroring, fillers and layers' own
  /// random numbers. `planFolder` is
  /// the last place where sources are looked up. Throws Error (1) if a feed's
  /// layer is of an unknown type or does not fit its buffers; opens nothing.
  Feeder(Executor &executor, int program, std::uint64_t seed,
         std::string planFolder);
  ~Feeder();

  /// Names of all tops, in order of the feeds.
  std::vector<std::string> tops() const;
  /// Buffer of a top, or null.
  const plan::Buffer *find(std::string_view top) const;

  /// Takes over a top: every later feed() delivers these values (row-major, one
  /// per element of the buffer). Before start() it also keeps the source from
  /// being opened, if all of its tops are taken over. Throws Error (1) if there
  /// is no such top or the count is wrong.
  void set(std::string_view top, const double *values, std::int64_t count);
  void set(std::string_view top, const float *values, std::int64_t count);

  /// Tops of Input and MemoryData layers that set() was not called for; they
  /// are zero.
  std::vector<std::string> unset() const;

  /// Opens the sources, without reading ahead yet; a no-op afterwards. Throws
  /// Error (3) if a file or database is not found, Error (1) if its content is
  /// wrong.
  void open();
  /// Opens the sources and starts to read ahead; a no-op afterwards.
  void start();

  /// Writes the next batch of every feed into the program's buffers; starts if
  /// start() was not called. Call it before every run of the program: the
  /// memory of inputs is reused within a run.
  void feed();

  /// Where every source and every stream of random numbers stands, for a solver
  /// state. Read-ahead does not count; of random numbers runs do, as records.
  std::vector<caffe::ReaderCursor> cursors() const;
  /// Moves sources to cursors of the same layers; those without one stay at
  /// the beginning. Opens the sources, so call it before start().
  void restore(const std::vector<caffe::ReaderCursor> &cursors);

  /// How often and how long a feed kept the program waiting.
  struct Starvation {
    std::string layer;
    std::uint64_t times;
    double seconds;
  };
  /// Only the feeds that did.
  std::vector<Starvation> starvation() const;

  /// Records delivered per pass by the first source of records; 0 if none.
  std::int64_t batchSize() const;

private:
  struct Feed;
  bool takesPixels(const Feed &feed, const BatchSource &source);
  Feed *feedOf(std::string_view top, std::size_t &index) const;
  template <typename Value>
  void setValues(std::string_view top, const Value *values, std::int64_t count);

  Executor &executor;
  int program;
  RandomKeys keys;
  std::vector<std::unique_ptr<Feed>> feeds;
  bool opened = false;
  bool testPhase = false;
  std::uint32_t programIndex = 0; ///< what a cursor calls its test net
};

} // namespace brew::runtime
