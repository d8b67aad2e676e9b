//===- ProgramInputs.h - What the host writes before each run ---*- C++ -*-===//
#pragma once

#include "runtime/data/DataPipeline.h"
#include "runtime/session/RandomKeys.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// All inputs of one program: its data, and the keys of its random numbers.
class ProgramInputs {
public:
  /// The arguments of DataPipeline's constructor, which may throw.
  ProgramInputs(Executor &executor, int program, caffe::RankSeed seed,
                const std::string &planFolder, Events *events = nullptr,
                const ReaderOptions &readerOptions = {});

  DataPipeline &data() { return pipeline; }
  const DataPipeline &data() const { return pipeline; }

  /// Writes the next batch of every data layer (DataPipeline::feedData()) and
  /// the keys of the next run. Call it before every run of the program.
  void feed();

  /// Restarts with another seed; the values that the caller set stay.
  void reset(caffe::RankSeed seed);

  /// Returns the positions of all sources (DataPipeline::cursors()) and of the
  /// keys, for a solver state. The position of a key is the number of runs,
  /// stored as records.
  std::vector<caffe::ReaderCursor> cursors() const;
  /// Continues at the cursors of the same layers; without a cursor, from the
  /// beginning. Opens the sources; call it before the first batch.
  void restore(const std::vector<caffe::ReaderCursor> &cursors);

private:
  const plan::Program &description() const {
    return executor.manifest().programs(program);
  }

  Executor &executor;
  const int program;
  DataPipeline pipeline;
  RandomKeys keys;
};

} // namespace brew::runtime
