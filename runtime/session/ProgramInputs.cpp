//===- ProgramInputs.cpp - What the host writes before each run -----------===//

#include "runtime/session/ProgramInputs.h"

#include "runtime/data/ProgramCursors.h"

namespace brew::runtime {

static RandomKeys keysOf(const plan::Program &program, caffe::RankSeed seed) {
  return {program, ProgramCursors(program).seedOf(seed).rankSeed()};
}

ProgramInputs::ProgramInputs(Executor &planExecutor, int programNumber,
                             caffe::RankSeed seed,
                             const std::string &planFolder, Events *events,
                             const ReaderOptions &readerOptions)
    : executor(planExecutor), program(programNumber),
      pipeline(executor, program, seed, planFolder, events, readerOptions),
      keys(keysOf(description(), seed)) {}

void ProgramInputs::feed() {
  pipeline.feedData();
  keys.feed(executor);
}

void ProgramInputs::reset(caffe::RankSeed seed) {
  pipeline.reset(seed);
  keys = keysOf(description(), seed);
}

std::vector<caffe::ReaderCursor> ProgramInputs::cursors() const {
  const ProgramCursors own(description());
  std::vector<caffe::ReaderCursor> result = pipeline.cursors();
  for (const std::string &layer : keys.layers())
    result.push_back(own.make(layer, {keys.runs(), 0, 0}));
  return result;
}

void ProgramInputs::restore(const std::vector<caffe::ReaderCursor> &cursors) {
  pipeline.restore(cursors);
  const ProgramCursors own(description());
  for (const std::string &layer : keys.layers())
    if (const caffe::ReaderCursor *cursor = own.find(cursors, layer))
      keys.seek(cursor->records());
}

} // namespace brew::runtime
