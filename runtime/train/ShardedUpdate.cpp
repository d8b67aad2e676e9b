//===- ShardedUpdate.cpp - Parameter update sharded over ranks ------------===//

#include "runtime/train/ShardedUpdate.h"

#include "plan/Contract.h"
#include "support/Error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace brew::runtime {

std::vector<std::size_t> splitEvenly(const std::vector<std::size_t> &sizes,
                                     const std::vector<bool> &mayCut,
                                     std::size_t shards) {
  const std::size_t total =
      std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
  auto distance = [](std::size_t a, std::size_t b) {
    return a > b ? a - b : b - a;
  };
  std::vector<std::size_t> cuts = {0};
  for (std::size_t shard = 1; shard < shards; ++shard) {
    const std::size_t idealCut = total * shard / shards;
    // Find the nearest allowed cut that is not before the last one.
    std::size_t best = sizes.size(), bestDistance = total - idealCut;
    std::size_t bytesBefore = 0;
    for (std::size_t item = 0; item < sizes.size();
         bytesBefore += sizes[item++])
      if (item >= cuts.back() && (item == 0 || mayCut[item]) &&
          distance(bytesBefore, idealCut) < bestDistance) {
        best = item;
        bestDistance = distance(bytesBefore, idealCut);
      }
    cuts.push_back(best);
  }
  cuts.push_back(sizes.size());
  return cuts;
}

std::byte *ShardedUpdate::baseOf(std::uint32_t buffer,
                                 std::size_t offset) const {
  return executor.hostData(buffer) - offset;
}

ShardedUpdate::ShardedUpdate(Executor &net, int updateProgram,
                             Communicator &communicator)
    : executor(net), program(updateProgram), ranks(communicator) {
  const plan::Manifest &manifest = executor.manifest();
  auto bufferOf = [&](std::uint32_t index) -> const plan::Buffer & {
    return manifest.buffers(static_cast<int>(index));
  };
  std::map<std::size_t, std::size_t> ends; // by begin
  for (const plan::Parameter &parameter : manifest.parameters()) {
    if (!parameter.has_gradient_buffer_index())
      continue;
    const std::uint32_t index = parameter.buffer_index();
    const plan::Buffer &buffer = bufferOf(index);
    if (!executor.hostData(index))
      throw Error(ExitStatus::Usage,
                  "--shard-update supports only CPU plans: on GPUs each rank "
                  "computes the full update");
    ends[buffer.offset()] =
        buffer.offset() + plan::alignUp(std::size_t(buffer.size()));
    // The arenas have equal layouts: every parameter yields the same bases.
    parameters = baseOf(index, buffer.offset());
    gradients = baseOf(parameter.gradient_buffer_index(), buffer.offset());
    history.clear();
    for (std::uint32_t state : parameter.state_buffer_indices())
      history.push_back(baseOf(state, buffer.offset()));
  }
  for (const auto &[begin, end] : ends)
    trained.push_back({begin, end});

  // A step that updates several parameters keeps them together; a step that
  // reads all gradients runs on every rank.
  const plan::Program &update = manifest.programs(program);
  std::vector<bool> mayCut(trained.size(), true);
  std::vector<std::optional<std::size_t>> firstItemOfStep;
  for (const plan::Step &step : update.steps()) {
    std::size_t first = trained.size(), last = 0;
    bool readsAll = false;
    for (const plan::Operand &operand : step.operands()) {
      const plan::Buffer &buffer = bufferOf(operand.buffer_index());
      const plan::ArenaKind kind =
          manifest.arenas(static_cast<int>(buffer.arena_index())).kind();
      if (kind != plan::PARAMETERS && kind != plan::GRADIENTS)
        continue;
      const auto found =
          std::find_if(trained.begin(), trained.end(), [&](const Span &span) {
            return span.begin == buffer.offset() &&
                   buffer.offset() + buffer.size() <= span.end;
          });
      if (found == trained.end()) {
        readsAll = true;
        continue;
      }
      const auto number = static_cast<std::size_t>(found - trained.begin());
      first = std::min(first, number);
      last = std::max(last, number);
    }
    if (readsAll || first == trained.size()) {
      firstItemOfStep.push_back(std::nullopt);
      continue;
    }
    firstItemOfStep.push_back(first);
    for (std::size_t i = first + 1; i <= last; ++i)
      mayCut[i] = false;
  }

  std::vector<std::size_t> sizes;
  for (const Span &span : trained)
    sizes.push_back(span.end - span.begin);
  const auto count = static_cast<std::size_t>(ranks.ranks());
  const std::vector<std::size_t> cuts = splitEvenly(sizes, mayCut, count);
  const std::size_t end = trained.empty() ? 0 : trained.back().end;
  for (std::size_t cut : cuts)
    offsets.push_back(cut < trained.size() ? trained[cut].begin : end);

  const auto ownRank = static_cast<std::size_t>(ranks.rank());
  for (std::size_t step = 0; step < firstItemOfStep.size(); ++step) {
    if (firstItemOfStep[step] && (*firstItemOfStep[step] < cuts[ownRank] ||
                                  *firstItemOfStep[step] >= cuts[ownRank + 1]))
      continue;
    if (!steps.empty() && steps.back().second == step)
      ++steps.back().second;
    else
      steps.emplace_back(step, step + 1);
  }
}

/// Gathers the shards of an arena. Statistics and frozen parameters between
/// learnable ones keep each rank's values.
void ShardedUpdate::allGather(std::byte *base) const {
  std::vector<std::pair<std::size_t, std::vector<std::byte>>> localValues;
  std::size_t last = trained.empty() ? 0 : trained.front().begin;
  for (const Span &span : trained) {
    if (span.begin > last)
      localValues.emplace_back(
          last, std::vector<std::byte>(base + last, base + span.begin));
    last = span.end;
  }
  ranks.allGatherSlices(base, offsets);
  for (const auto &[offset, bytes] : localValues)
    std::memcpy(base + offset, bytes.data(), bytes.size());
}

void ShardedUpdate::run() {
  for (const auto &[begin, end] : steps)
    executor.run(program, begin, end);
  allGather(parameters);
}

void ShardedUpdate::gatherHistory(bool withUpdates) {
  for (std::byte *slot : history)
    allGather(slot);
  if (withUpdates) // the program leaves them in the gradient buffers
    allGather(gradients);
}

void ShardedUpdate::releaseHistory() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto release = [&](std::byte *from, std::byte *to) {
    const auto begin =
        (reinterpret_cast<std::uintptr_t>(from) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(to) / page * page;
    if (begin < end) // the pages read as zeros afterwards
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  };
  const auto ownRank = static_cast<std::size_t>(ranks.rank());
  for (std::byte *slot : history) {
    release(slot + offsets.front(), slot + offsets[ownRank]);
    release(slot + offsets[ownRank + 1], slot + offsets.back());
  }
}

} // namespace brew::runtime
