//===- SnapshotChecksum.h - Integrity of snapshots --------------*- C++ -*-===//
//
// Caffe's files have no checksums: a changed bit in a weight goes unnoticed.
// States that Brew writes contain two checksums: one of their content, and one
// of the weight file that belongs to the state. They are named values
// (SolverStateFile.h), which Caffe skips.
//
// A changed bit must not make such a state look like one of Caffe's, whose
// content is not checked:
// - Brew's fields without a checksum of the content are an error. A binary
//   state has its checksum at the beginning and Brew's fields at the end, so
//   one changed bit does not remove both.
// - In HDF5, Brew's fields are one dataset, which a changed bit in its name or
//   header would hide. Therefore the file ends in a checksum of all its bytes
//   (FileChecksum.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"

#include <cstdint>
#include <string>

namespace brew::formats {

/// Returns whether a state has fields that Brew adds to Caffe's. Unknown
/// fields, which other programs may have written, do not count.
bool hasBrewFields(const caffe::SolverState &state);

/// Returns a state that contains only the checksum of `snapshot`'s content.
caffe::SolverState contentChecksumState(const SolverSnapshot &snapshot);
/// Removes the checksum from `snapshot`, which was read from `path`, and
/// verifies it. Throws Error (1) if it does not match, or is missing from a
/// state with Brew's fields.
void verifyAndRemoveChecksum(SolverSnapshot &snapshot, const std::string &path);

/// Stores the size and the CRC-32 of a weight file in the state that belongs to
/// it. No-op if it is not a regular file. Throws Error (3) if it cannot be
/// read.
void addWeightChecksum(caffe::SolverState &state, const std::string &weights);
/// Throws Error (1) if the state at `path` was written with weights other than
/// the file `weights`, and Error (3) if that file cannot be read. A state
/// without a checksum of weights matches any file.
void verifyWeightChecksum(const caffe::SolverState &state,
                          const std::string &path, const std::string &weights);

} // namespace brew::formats
