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
/// in it. What Brew wrote is held against its checksum (SnapshotChecksum.h).
SolverSnapshot readSolverState(const std::string &path);

/// Writes atomically; a state with Brew's fields with a checksum of its
/// content.
void writeSolverState(const std::string &path, SolverSnapshot snapshot,
                      SnapshotFormat format = SnapshotFormat::BinaryProto);

//===----------------------------------------------------------------------===//
// Numbers that go with a state under names of Brew's
// (SolverState.brew_persistent). Names that begin with '/' are no state of a plan.
//===----------------------------------------------------------------------===//

/// Sets values, in place of those of that name.
void setNamedValues(caffe::SolverState &state, const std::string &name,
                    const std::vector<double> &values);
/// Empty if there are none. Error(1) if they are damaged; `path` is named then.
std::vector<double> namedValues(const caffe::SolverState &state,
                                const std::string &name,
                                const std::string &path);
void removeNamedValues(caffe::SolverState &state, const std::string &name);

} // namespace brew::formats
