//===- SolverStateFile.h - .solverstate files -------------------*- C++ -*-===//
//
// Where a training run stands. Caffe's fields, and Brew's own in numbers that
// Caffe skips (see SolverState in caffe.proto).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/WeightFile.h"

#include "formats/caffe.pb.h"

#include <string>
#include <vector>

namespace brew::formats {

struct SolverSnapshot {
  /// All fields but `history`, which is below.
  caffe::SolverState state;
  /// The update rule's tensors in Caffe's order: one per parameter, for
  /// AdaDelta and Adam another one per parameter.
  std::vector<Blob> history;

  /// Whether Brew wrote it, so that readers and random streams can go on.
  bool hasBrewState() const { return state.brew_reader_size() > 0; }
};

/// Reads either format. Error(3): not found; Error(1): damaged, or no iteration
/// in it.
SolverSnapshot readSolverState(const std::string &path);

/// Writes atomically.
void writeSolverState(const std::string &path, const SolverSnapshot &snapshot,
                      SnapshotFormat format = SnapshotFormat::BinaryProto);

} // namespace brew::formats
