//===- ItemCounts.h - How much of a blob a run has made ---------*- C++ -*-===//
#pragma once

#include "caffe/weights/BufferLayout.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// The buffer that tells how many items of a blob there are after a run, or
/// null if it always has all.
inline const plan::NamedBuffer *findItemCount(const plan::Program &program,
                                              const std::string &blob) {
  for (const plan::NamedBuffer &count : program.item_counts())
    if (count.name() == blob)
      return &count;
  return nullptr;
}

/// Dimensions of what a run left of `blob` in the buffer `index`: those of the
/// buffer, or fewer items. The values are the first ones in row-major order,
/// since only dimensions of extent 1 stand before that of the items. `source`
/// is an Executor or RunResults.
template <typename Source>
std::vector<std::int64_t>
dimsAfterRun(const plan::Manifest &manifest, const plan::Program &program,
             const Source &source, const std::string &blob,
             std::uint32_t index) {
  std::vector<std::int64_t> dims =
      caffe::toVector(manifest.buffers(static_cast<int>(index)).dims());
  const plan::NamedBuffer *named = findItemCount(program, blob);
  if (!named)
    return dims;
  const plan::Buffer &buffer =
      manifest.buffers(static_cast<int>(named->buffer_index()));
  double count = 0;
  source.read(named->buffer_index(), [&](const std::byte *bytes) {
    caffe::load(buffer, bytes, &count);
  });
  const auto axis = static_cast<std::size_t>(buffer.dims_size());
  dims[axis] =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(count), 0, dims[axis]);
  return dims;
}

} // namespace brew::runtime
