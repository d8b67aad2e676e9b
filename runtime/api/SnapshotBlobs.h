//===- SnapshotBlobs.h - Blobs of snapshots in the C API --------*- C++ -*-===//
#pragma once

#include "formats/Blob.h"
#include "runtime/api/Handles.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace brew::api {

/// A blob in memory of the caller, or a view of a blob of a file.
struct SnapshotBlob {
  std::vector<std::int64_t> dims;
  float *values = nullptr;
  const float *diffs = nullptr;
  bool isShared = false;
  bool isLoaded = false; ///< whether values were copied to it

  std::size_t count() const {
    return static_cast<std::size_t>(formats::elementCount(dims, "a blob"));
  }
  formats::Blob copyOf(const float *from) const {
    return {dims, {from, from + count()}, {}, false};
  }
};

inline SnapshotBlob blobOfCaller(const brew_snapshot_blob *from) {
  if (!from)
    throw usage("the blob is NULL");
  const brew_snapshot_blob blob = copyFromCaller(from);
  if (blob.ndim > BREW_MAX_DIMS)
    throw usage("the blob has too many dimensions");
  SnapshotBlob result;
  result.dims.assign(blob.dims, blob.dims + blob.ndim);
  result.values = blob.values;
  result.diffs = blob.diffs;
  result.isShared = blob.is_shared != 0;
  if (result.count() != 0 && !result.values)
    throw usage("the values of a blob are NULL");
  return result;
}

/// Converts the values of a blob of a file to floats.
inline void convertToFloats(formats::Blob &blob) {
  if (!blob.isDouble())
    return;
  blob.floats = blob.toFloats();
  blob.doubles = {};
}

/// Fills in the caller's structure.
inline void describe(const SnapshotBlob &blob, brew_snapshot_blob *out) {
  if (blob.dims.size() > BREW_MAX_DIMS)
    throw badInput("a blob has more than " + std::to_string(BREW_MAX_DIMS) +
                   " dimensions");
  brew_snapshot_blob result{};
  result.ndim = setDims(result.dims, blob.dims);
  result.values = blob.values;
  result.diffs = blob.diffs;
  result.is_shared = blob.isShared;
  result.is_loaded = blob.isLoaded;
  copyToCaller(out, result);
}

/// Writes the values of a blob of a file, which are floats or doubles.
inline void copyValues(const formats::Blob &from, float *to) {
  if (from.isDouble())
    std::transform(from.doubles.begin(), from.doubles.end(), to,
                   [](double value) { return static_cast<float>(value); });
  else
    std::copy(from.floats.begin(), from.floats.end(), to);
}

inline formats::SnapshotFormat formatOf(brew_snapshot_format format) {
  if (format != BREW_BINARY_PROTO && format != BREW_HDF5)
    throw usage("a snapshot is written as BREW_BINARY_PROTO or BREW_HDF5");
  return format == BREW_HDF5 ? formats::SnapshotFormat::Hdf5
                             : formats::SnapshotFormat::BinaryProto;
}

} // namespace brew::api
