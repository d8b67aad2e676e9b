//===- ReadValues.cpp - Values of a dataset -------------------------------===//
#include "formats/hdf5/ReadValues.h"

#include "formats/hdf5/Hdf5Library.h"
#include "support/Error.h"

#include <algorithm>
#include <vector>

namespace brew::formats::hdf5 {

namespace {

/// Maximal number of chunks that one call reads. The library allocates about
/// 4 kB for each.
constexpr hsize_t kChunksPerRead = 4096;
/// A dataset of more chunks, with fewer values each, would take minutes.
constexpr hsize_t kManyChunks = 1 << 22;
constexpr hsize_t kFewValues = 64;

hsize_t ceilDiv(hsize_t x, hsize_t y) { return x / y + (x % y != 0); }

/// Returns the extents of a chunk; {} for other layouts than chunks.
std::vector<hsize_t> chunkExtents(hid_t dataset, std::size_t rank) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation.id) != H5D_CHUNKED)
    return {};
  std::vector<hsize_t> chunk(rank);
  if (H5Pget_chunk(creation.id, static_cast<int>(rank), chunk.data()) !=
          static_cast<int>(rank) ||
      std::count(chunk.begin(), chunk.end(), 0) > 0)
    return {};
  return chunk;
}

/// The boxes of a dataset that are read in one call each: whole chunks, at most
/// kChunksPerRead of them.
class Boxes {
public:
  Boxes(std::vector<hsize_t> extents, const std::vector<hsize_t> &chunk)
      : dims(std::move(extents)), box(chunk), first(dims.size()) {
    hsize_t chunks = 1;
    for (std::size_t dim = dims.size(); dim-- > 0;) {
      const hsize_t taken =
          std::min(ceilDiv(dims[dim], chunk[dim]), kChunksPerRead / chunks);
      box[dim] =
          taken > dims[dim] / chunk[dim] ? dims[dim] : taken * chunk[dim];
      chunks *= taken;
    }
  }

  /// Selects the current box in a dataspace.
  bool select(hid_t space) const {
    std::vector<hsize_t> count(dims.size());
    for (std::size_t dim = 0; dim < dims.size(); ++dim)
      count[dim] = std::min(box[dim], dims[dim] - first[dim]);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr,
                               count.data(), nullptr) >= 0;
  }

  /// Moves to the next box; returns false after the last.
  bool advance() {
    for (std::size_t dim = dims.size(); dim-- > 0;) {
      if (box[dim] < dims[dim] - first[dim]) {
        first[dim] += box[dim];
        return true;
      }
      first[dim] = 0;
    }
    return false;
  }

private:
  const std::vector<hsize_t> dims;
  std::vector<hsize_t> box, first;
};

} // namespace

void readValues(hid_t dataset, hid_t memoryType, void *values,
                const std::string &where) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> dims(
      static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.id)));
  if (!dims.empty())
    H5Sget_simple_extent_dims(space.id, dims.data(), nullptr);
  const std::vector<hsize_t> chunk = chunkExtents(dataset, dims.size());
  auto read = [&](hid_t selection) {
    if (H5Dread(dataset, memoryType, selection, selection, H5P_DEFAULT,
                values) < 0)
      throw badInput(where + ": damaged or truncated: cannot read its values");
  };
  if (chunk.empty()) {
    read(H5S_ALL);
    return;
  }
  hsize_t chunks = 1, valuesPerChunk = 1;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    chunks *= ceilDiv(dims[dim], chunk[dim]);
    valuesPerChunk =
        std::min(valuesPerChunk * std::min(chunk[dim], kFewValues), kFewValues);
  }
  if (chunks > kManyChunks && valuesPerChunk < kFewValues)
    throw badInput(where + ": stored in " + std::to_string(chunks) +
                   " chunks of " + std::to_string(valuesPerChunk) +
                   (valuesPerChunk == 1 ? " value" : " values") +
                   ", which would take minutes to read; h5repack writes it "
                   "with larger chunks");
  Boxes boxes(std::move(dims), chunk);
  do {
    if (!boxes.select(space.id))
      throw badInput(where + ": damaged: cannot read its chunks");
    read(space.id);
  } while (boxes.advance());
}

} // namespace brew::formats::hdf5
