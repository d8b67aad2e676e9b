//===- BufferIndex.cpp - Index of buffers by address ----------------------===//
#include "passes/plan/BufferIndex.h"

#include "passes/plan/PlanSubviews.h"

using namespace mlir;
using namespace brew::dialects::plan;

using brew::passes::BufferIndex;
using brew::passes::Rows;

static int64_t sizeOf(BufferOp buffer) {
  return std::max<int64_t>(
      brew::passes::extentOf(cast<MemRefType>(buffer.getType())), 1);
}

BufferIndex::Key BufferIndex::keyOf(BufferOp buffer) {
  const Rows rows = brew::passes::rowsOf(buffer).value_or(Rows{});
  return {buffer.getArena(), rows.baseName, rows.base, rows.pitch,
          llvm::Log2_64(sizeOf(buffer))};
}

void BufferIndex::insert(BufferOp buffer) {
  Group &group = groups[keyOf(buffer)];
  group.byOffset.emplace(buffer.getOffset(), buffer);
  if (std::optional<Rows> rows = brew::passes::rowsOf(buffer)) {
    group.byColumn.emplace(rows->column, buffer);
    group.maxRowSize = std::max(group.maxRowSize, rows->size);
  }
}

void BufferIndex::erase(BufferOp buffer) {
  auto group = groups.find(keyOf(buffer));
  if (group == groups.end())
    return;
  group->second.byOffset.erase({buffer.getOffset(), buffer});
  if (std::optional<Rows> rows = brew::passes::rowsOf(buffer))
    group->second.byColumn.erase({rows->column, buffer});
}

SmallVector<BufferOp> BufferIndex::buffersNear(BufferOp buffer) const {
  SmallVector<BufferOp> found;
  auto findIn = [&](const Sorted &buffers, int64_t first, int64_t end) {
    for (auto it = buffers.lower_bound({first, nullptr});
         it != buffers.end() && it->first < end; ++it)
      found.push_back(cast<BufferOp>(it->second));
  };
  const int64_t begin = buffer.getOffset();
  const std::optional<Rows> rows = brew::passes::rowsOf(buffer);
  for (auto it = groups.lower_bound({buffer.getArena(), "", 0, 0, 0});
       it != groups.end() && std::get<0>(it->first) == buffer.getArena();
       ++it) {
    const auto &[arena, baseName, base, pitch, logSize] = it->first;
    const Group &group = it->second;
    if (rows && rows->baseName == baseName && rows->base == base &&
        rows->pitch == pitch)
      findIn(group.byColumn, rows->column - group.maxRowSize,
             rows->column + rows->size);
    else
      findIn(group.byOffset, begin - (2LL << logSize), begin + sizeOf(buffer));
  }
  return found;
}
