//===- ProgramCursors.h - Positions of a program's inputs -------*- C++ -*-===//
#pragma once

#include "caffe/RankSeed.h"
#include "formats/caffe.pb.h"
#include "plan/Contract.h"
#include "plan/plan.pb.h"
#include "runtime/data/BatchSource.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Makes and finds the cursors of one program in a solver state.
class ProgramCursors {
public:
  explicit ProgramCursors(const plan::Program &program)
      : testPhase(program.test_phase()),
        testIndex(static_cast<std::uint32_t>(
            std::max(plan::programs::testIndex(program.name()), 0))) {}

  /// Returns the cursor of a layer.
  caffe::ReaderCursor make(const std::string &layer,
                           const SourcePosition &position) const {
    caffe::ReaderCursor cursor;
    cursor.set_layer(layer);
    cursor.set_phase(testPhase ? caffe::TEST : caffe::TRAIN);
    cursor.set_test_index(testIndex);
    cursor.set_records(position.records);
    cursor.set_epoch(position.epoch);
    cursor.set_position(position.position);
    return cursor;
  }

  /// Returns the cursor of a layer, or null.
  const caffe::ReaderCursor *
  find(const std::vector<caffe::ReaderCursor> &cursors,
       const std::string &layer) const {
    for (const caffe::ReaderCursor &cursor : cursors)
      if (cursor.layer() == layer &&
          (cursor.phase() == caffe::TEST) == testPhase &&
          cursor.test_index() == testIndex)
        return &cursor;
    return nullptr;
  }

  /// Returns the seed that the program's inputs use: the rank's own for
  /// training, rank 0's for tests.
  caffe::RankSeed seedOf(caffe::RankSeed seed) const {
    return testPhase ? caffe::RankSeed{seed.common, 0} : seed;
  }

private:
  bool testPhase;
  std::uint32_t testIndex; ///< the test net's number; 0 for other programs
};

} // namespace brew::runtime
