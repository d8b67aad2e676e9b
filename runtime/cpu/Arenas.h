//===- Arenas.h - Memory of a plan on a CPU ---------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cpu/Arena.h"
#include "runtime/executor/MemoryBindings.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace brew::runtime {

/// One allocation per arena of the plan, with its initial contents. Buffers may
/// be in the caller's memory instead.
class Arenas {
public:
  /// `parameters` replaces the arena of parameters and keeps its values; null:
  /// allocate it. `plan` must outlive this object. Throws Error (3) if this
  /// machine has too little memory.
  Arenas(const plan::PlanFile &plan, std::shared_ptr<Arena> parameters);

  /// Returns the first byte of an arena.
  std::byte *data(std::uint32_t arena) const { return arenas[arena]->data(); }
  /// Returns the first byte of a buffer.
  std::byte *address(std::uint32_t buffer) const;
  /// Returns the arena of parameters; empty memory if the net has none.
  std::shared_ptr<Arena> parameters() const;
  /// Makes the system allocate pages that were never written. Until then, all
  /// map to one page of zeros, which stays in the caches.
  void commitPages() const;

  const MemoryBindings &bindings() const { return bound; }
  /// Moves a buffer to the caller's memory, or with null back to its arena.
  /// Throws Error (2) if a buffer that is not within this one overlaps it, or
  /// if another buffer in the caller's memory does.
  void bind(std::uint32_t buffer, std::byte *memory);
  /// Restores earlier bindings().
  void setBindings(MemoryBindings bindings) { bound = std::move(bindings); }

private:
  const plan::PlanFile &plan;
  const plan::Manifest &manifest;
  std::vector<std::shared_ptr<Arena>> arenas; ///< parameters may be shared
  MemoryBindings bound;
};

/// Returns whether `inner` is within `outer` or equal to it.
bool isWithin(const plan::Buffer &inner, const plan::Buffer &outer);

} // namespace brew::runtime
