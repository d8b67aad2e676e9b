//===- Arenas.cpp - Memory of a plan on a CPU -----------------------------===//
#include "runtime/cpu/Arenas.h"

#include "plan/Operands.h"
#include "support/Error.h"

#include <cstring>
#include <utility>

namespace brew::runtime {

Arenas::Arenas(const plan::PlanFile &plan, std::shared_ptr<Arena> parameters)
    : plan(plan), manifest(plan.manifest()) {
  auto isShared = [&](const plan::Arena &arena) {
    return parameters && arena.kind() == plan::PARAMETERS;
  };
  // The system overcommits memory and would kill the process later, so reject
  // plans that cannot fit.
  std::uint64_t total = 0;
  for (const plan::Arena &arena : manifest.arenas())
    total += isShared(arena) ? 0 : arena.size();
  if (total > machineMemory())
    throw unavailable(plan.path() + ": the net needs " + describeBytes(total) +
                      " of memory, this machine has " +
                      describeBytes(machineMemory()));
  for (const plan::Arena &arena : manifest.arenas()) {
    if (isShared(arena)) {
      arenas.push_back(parameters);
      continue;
    }
    auto memory = std::make_shared<Arena>(
        arena.size(), plan.path() + ", arena " +
                          plan::ArenaKind_Name(arena.kind()) + " of " +
                          describeBytes(total) + " in all");
    if (arena.has_initial_segment_index()) {
      std::uint32_t segment = arena.initial_segment_index();
      std::uint64_t size = manifest.segments(static_cast<int>(segment)).size();
      if (size > 0)
        std::memcpy(memory->data(), plan.segment(segment), size);
    }
    arenas.push_back(std::move(memory));
  }
}

std::byte *Arenas::address(std::uint32_t index) const {
  const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
  for (const auto &[other, memory] : bound) {
    const plan::Buffer &outer = manifest.buffers(static_cast<int>(other));
    if (isWithin(buffer, outer))
      return memory + (buffer.offset() - outer.offset());
  }
  return data(buffer.arena_index()) + buffer.offset();
}

std::shared_ptr<Arena> Arenas::parameters() const {
  for (int i = 0; i < manifest.arenas_size(); ++i)
    if (manifest.arenas(i).kind() == plan::PARAMETERS)
      return arenas[static_cast<std::size_t>(i)];
  return std::make_shared<Arena>();
}

void Arenas::commitPages() const {
  constexpr std::uint64_t kPage = 4096;
  for (const std::shared_ptr<Arena> &arena : arenas)
    for (std::uint64_t i = 0; i < arena->size(); i += kPage) {
      volatile std::byte *byte = arena->data() + i;
      *byte = *byte;
    }
}

void Arenas::bind(std::uint32_t index, std::byte *memory) {
  const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
  for (const plan::Buffer &other : manifest.buffers())
    if (plan::overlap(other, buffer) && !isWithin(other, buffer))
      throw Error(ExitStatus::Usage,
                  plan.path() + ": the blob is a view of a larger buffer, so "
                                "it cannot be in the caller's memory");
  if (!memory) {
    bound.erase(index);
    return;
  }
  // Otherwise it would be ambiguous which memory the steps must use.
  for (const auto &[other, otherMemory] : bound)
    if (other != index &&
        plan::overlap(manifest.buffers(static_cast<int>(other)), buffer))
      throw Error(ExitStatus::Usage,
                  plan.path() + ": the blob shares bytes with another one "
                                "that is in the caller's memory");
  bound[index] = memory;
}

bool isWithin(const plan::Buffer &inner, const plan::Buffer &outer) {
  return inner.arena_index() == outer.arena_index() &&
         inner.offset() >= outer.offset() &&
         inner.offset() + inner.size() <= outer.offset() + outer.size();
}

} // namespace brew::runtime
