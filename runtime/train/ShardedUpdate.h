//===- ShardedUpdate.h - An update that ranks share -------------*- C++ -*-===//
//
// Each rank of a data-parallel run updates its part of the parameters and gives
// the others what came out. The solver history of the other parts is never
// touched, so that the system need not keep memory for it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/executor/Executor.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Where to cut `sizes` items of bytes that lie one behind the other into
/// `parts` of about as many bytes each: part p has the items [cuts[p],
/// cuts[p + 1]). A cut before item i is only made where `mayCut[i]`; parts may
/// be empty.
std::vector<std::size_t> splitEvenly(const std::vector<std::size_t> &sizes,
                                   const std::vector<bool> &mayCut,
                                   std::size_t parts);

class ShardedUpdate {
public:
  /// Of a program `update`; both outlive it. Throws Error (2) for a GPU.
  ShardedUpdate(Executor &executor, int updateProgram, Communicator &ranks);

  /// Updates this rank's part, then takes the others' from them.
  void run();
  /// Gives every rank the solver history of all and, if asked for, the updates
  /// that the program leaves in place of gradients; releaseHistory() follows.
  void gatherHistory(bool updates);
  /// Frees the memory of history that other ranks keep.
  void releaseHistory();

private:
  /// A part of the arenas of parameters, gradients and history, which lie
  /// alike.
  struct Span {
    std::size_t begin, end; ///< bytes
  };
  std::byte *baseOf(std::uint32_t buffer, std::size_t offset) const;
  void allGather(std::byte *base) const;

  Executor &executor;
  int program;
  Communicator &ranks;
  std::vector<Span> trained;        ///< parameters, in their order
  std::vector<std::size_t> offsets; ///< of the ranks' parts, and the end
  std::vector<std::pair<std::size_t, std::size_t>> steps; ///< runs of own ones
  std::byte *parameters = nullptr, *gradients = nullptr;
  std::vector<std::byte *> history; ///< by slot; as if it began at offset 0
};

} // namespace brew::runtime
