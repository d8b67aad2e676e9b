//===- Arrivals.cpp - Order of blocks through counters --------------------===//
//
// Only counters order blocks of a launch: accesses that a block makes before it
// arrives at a counter happen before accesses that the last arriving block
// makes afterwards.
//
//===----------------------------------------------------------------------===//
#include "Engine.h"

#include <map>
#include <numeric>
#include <unordered_map>

#include <cstdlib>

namespace cudasim {

namespace {

/// Maps a block (the upper half of its stamps) to its barrier epoch at its last
/// arrival.
using Blocks = std::unordered_map<unsigned, unsigned>;

std::map<unsigned *, Blocks> counters; // arrivals at each counter
Blocks ordered; // blocks whose arrivals happened before the running block
/// Maps a previous number of a block to its next one.
std::unordered_map<unsigned, unsigned> renumbered;

} // namespace

void beginArrivals() {
  counters.clear();
  renumbered.clear();
}

void noteRenumbered(unsigned before, unsigned after) {
  renumbered[before] = after;
}

void endArrivals() {
  for (auto &[counter, blocks] : counters)
    if (*counter != 0)
      reportLaunchFinding("%zu blocks came to a counter, which is left at %u",
                          blocks.size(), *counter);
  counters.clear();
}

void beginBlockArrivals() { ordered.clear(); }

bool arrive(unsigned *counter, unsigned blocks, unsigned epoch) {
  Blocks &arrived = counters[counter];
  const unsigned upper =
      static_cast<unsigned>(cudasim_context.globalBlock >> 32);
  if (!arrived.insert_or_assign(upper, epoch).second && !launchState.hasStages)
    reportFinding("the block comes to a counter for the second time");
  // Like atomicInc, wraps around to 0 at the last arrival.
  const bool isLast = *counter == blocks - 1;
  *counter = *counter >= blocks - 1 ? 0 : *counter + 1;
  if (isLast)
    for (const auto &[block, last] : arrived)
      ordered[block] = last;
  return isLast;
}

bool happensBefore(unsigned upper, unsigned epoch) {
  if (auto found = ordered.find(upper); found != ordered.end()) {
    const unsigned barriersSinceAccess = (found->second - epoch) & kEpochMask;
    if (barriersSinceAccess != 0 && barriersSinceAccess <= kBarriersOfNumber)
      return true;
  }
  // The block was renumbered at a barrier and arrived with its new number, or
  // it is the running block.
  const auto current = static_cast<unsigned>(cudasim_context.globalBlock >> 32);
  for (auto next = renumbered.find(upper); next != renumbered.end();
       next = renumbered.find(next->second))
    if (next->second == current || ordered.count(next->second))
      return true;
  return false;
}

extern "C" unsigned long long cudasim_block_at(unsigned long long turn,
                                               unsigned long long count) {
  static const unsigned long long seed = [] {
    const char *text = std::getenv("CUDASIM_BLOCK_ORDER");
    return text ? std::strtoull(text, nullptr, 10) : 0ull;
  }();
  if (seed == 0)
    return turn;
  // A step that is coprime to `count` visits every block exactly once.
  unsigned long long step = (count / 2 + seed) % count | 1;
  while (std::gcd(step, count) != 1)
    ++step;
  return static_cast<unsigned long long>(
      (static_cast<unsigned __int128>(turn) * step + seed) % count);
}

} // namespace cudasim
