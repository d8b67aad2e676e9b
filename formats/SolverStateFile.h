//===- SolverStateFile.h - .solverstate files -------------------*- C++ -*-===//
//
// The state of a training run. Brew adds fields to Caffe's, with field numbers
// that Caffe skips (see SolverState in caffe.proto).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/WeightFile.h"

#include "formats/caffe.pb.h"

#include <string>
#include <vector>

namespace brew::formats {

struct SolverSnapshot {
  /// All fields except `history`.
  caffe::SolverState state;
  /// The update rule's tensors in Caffe's order: one per parameter, followed
  /// for AdaDelta and Adam by a second one per parameter.
  std::vector<Blob> history;
};

/// Reads a state of either format. Throws Error(3) if it is not found, Error(1)
/// if it is damaged or has no iteration. Verifies the checksum of states that
/// Brew wrote (SnapshotChecksum.h).
SolverSnapshot readSolverState(const std::string &path);

/// Writes a state atomically. Adds a checksum to a state with Brew's fields.
void writeSolverState(const std::string &path, SolverSnapshot snapshot,
                      SnapshotFormat format = SnapshotFormat::BinaryProto);

//===----------------------------------------------------------------------===//
// Numbers that Brew stores by name in a state (SolverState.brew_persistent).
// Names that begin with '/' are not persistent state of a plan.
//===----------------------------------------------------------------------===//

/// Sets the values of `name`.
void setNamedValues(caffe::SolverState &state, const std::string &name,
                    const std::vector<double> &values);
/// Returns the values of `name`, or an empty vector if there are none. Throws
/// Error(1) with `path` if they are damaged.
std::vector<double> namedValues(const caffe::SolverState &state,
                                const std::string &name,
                                const std::string &path);
void removeNamedValues(caffe::SolverState &state, const std::string &name);

} // namespace brew::formats
