//===- SnapshotChecksum.h - Whether a snapshot is what was written *- C++ -*-=//
//
// Caffe's files have no checksums: a changed bit in a weight is another weight.
// States that Brew writes carry two, as named values (SolverStateFile.h) that
// Caffe skips: one of their own content, one of the weight file beside them.
//
// A changed bit must not make such a state pass for one of Caffe's, whose
// content is not checked:
// - Brew's fields without a checksum of the content are an error. A binary
//   state has its checksum at the beginning and Brew's fields at the end, so
//   one changed bit does not remove both.
// - In HDF5, Brew's fields are one dataset, which a changed bit of its name or
//   header hides. So the file ends in a checksum of all of its bytes
//   (FileChecksum.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"

#include <cstdint>
#include <string>

namespace brew::formats {

/// Whether a state has fields that Brew adds to Caffe's. Unknown fields, of
/// other programs, do not count.
bool hasBrewFields(const caffe::SolverState &state);

/// A state that has nothing but the checksum of what `snapshot` holds.
caffe::SolverState contentChecksumState(const SolverSnapshot &snapshot);
/// Takes the checksum out of `snapshot`, which was read from `path`. Throws
/// Error (1) if it does not match, or is missing from a state with Brew's
/// fields.
void verifyAndRemoveChecksum(SolverSnapshot &snapshot, const std::string &path);

/// Records size and CRC-32 of a weight file in a state that goes with it.
/// Nothing of what is no regular file. Throws Error (3) if it cannot be read.
void addWeightChecksum(caffe::SolverState &state, const std::string &weights);
/// Throws Error: (1) if the state at `path` was written with other weights than
/// `weights` holds, (3) if that cannot be read. A state that says nothing of
/// them fits any.
void verifyWeightChecksum(const caffe::SolverState &state,
                          const std::string &path, const std::string &weights);

} // namespace brew::formats
