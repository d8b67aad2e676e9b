//===- ItemCounts.h - Number of items in a blob after a run -----*- C++ -*-===//
#pragma once

#include "caffe/weights/BufferLayout.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Returns the buffer that contains the number of items of a blob after a run,
/// or null if the number is constant.
inline const plan::NamedBuffer *findItemCount(const plan::Program &program,
                                              const std::string &blob) {
  for (const plan::NamedBuffer &count : program.item_counts())
    if (count.name() == blob)
      return &count;
  return nullptr;
}

/// Returns the dimensions of `blob`, which is in buffer `index`, after a run:
/// those of the buffer, but with the number of valid items. The valid values
/// come first in row-major order, since all dimensions before the items have
/// extent 1. `source` is an Executor or RunResults.
template <typename Source>
std::vector<std::int64_t>
dimsAfterRun(const plan::Manifest &manifest, const plan::Program &program,
             const Source &source, const std::string &blob,
             std::uint32_t index) {
  std::vector<std::int64_t> dims =
      caffe::toVector(manifest.buffers(static_cast<int>(index)).dims());
  const plan::NamedBuffer *itemCount = findItemCount(program, blob);
  if (!itemCount)
    return dims;
  const plan::Buffer &buffer =
      manifest.buffers(static_cast<int>(itemCount->buffer_index()));
  double count = 0;
  source.read(itemCount->buffer_index(), [&](const std::byte *bytes) {
    caffe::load(buffer, bytes, &count);
  });
  // The rank of the count's buffer is the index of the item dimension.
  const auto axis = static_cast<std::size_t>(buffer.dims_size());
  dims[axis] =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(count), 0, dims[axis]);
  return dims;
}

} // namespace brew::runtime
