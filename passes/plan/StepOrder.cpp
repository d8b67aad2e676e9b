//===- StepOrder.cpp - Step order with a lower memory peak ----------------===//
//
// Starts from the program order, which suits caches, and changes it only around
// the peak: hoists later steps that free more memory than they take, with their
// dependencies, before it, and sinks earlier steps, with their dependents,
// below it. Repeats the move that lowers the peak most, until none does.
//
//===----------------------------------------------------------------------===//
#include "passes/plan/StepOrder.h"

#include <algorithm>
#include <numeric>

namespace brew::passes {

namespace {

/// Maximal number of moves.
constexpr int kMaxMoves = 48;
/// Only steps of this many largest live values at the peak are candidates.
constexpr size_t kMaxValues = 24;
/// Maximal distance from the peak to the target of a move.
constexpr unsigned kMaxDistance = 15;
/// Minimal gain of a round: this fraction of the peak.
constexpr int64_t kMinGainDivisor = 256;

/// The peak of an order.
struct Peak {
  int64_t bytes = 0;
  unsigned at = 0; ///< position in the order
};

/// Simulates the memory usage of an order, and of changes to a section of it.
class Simulation {
public:
  explicit Simulation(const OrderProblem &problem)
      : problem(problem), readers(problem.values.size()),
        left(problem.values.size()), isWritten(problem.values.size()) {}

  /// Simulates a full order. Returns its peak.
  Peak setOrder(const std::vector<unsigned> &newOrder) {
    order = newOrder;
    for (auto &positions : readers)
      positions.clear();
    firstWrite.assign(problem.values.size(), order.size());
    for (unsigned position = 0; position < order.size(); ++position) {
      const OrderedStep &step = problem.steps[order[position]];
      for (unsigned value : step.reads)
        readers[value].push_back(position);
      for (unsigned value : step.writes)
        firstWrite[value] = std::min(firstWrite[value], position);
    }
    int64_t bytes = 0;
    for (const OrderedValue &value : problem.values)
      bytes += value.liveAtStart ? value.bytes : 0;
    before.assign(1, bytes);
    usage.clear();
    walk(order, 0, bytes, [&](int64_t during, int64_t after) {
      usage.push_back(during);
      before.push_back(after);
    });
    largestBefore.assign(1, 0);
    for (int64_t during : usage)
      largestBefore.push_back(std::max(largestBefore.back(), during));
    largestAfter.assign(order.size() + 1, 0);
    for (size_t position = order.size(); position-- > 0;)
      largestAfter[position] =
          std::max(largestAfter[position + 1], usage[position]);
    Peak peak;
    for (unsigned position = 0; position < order.size(); ++position)
      if (usage[position] > peak.bytes)
        peak = {usage[position], position};
    return peak;
  }

  /// Returns the live bytes before, and during, each step of the order.
  const std::vector<int64_t> &bytesBefore() const { return before; }
  const std::vector<int64_t> &bytesDuring() const { return usage; }

  /// Returns the peak if the section from `begin` on is replaced by `steps`, a
  /// permutation of it. The usage of all other steps does not change.
  int64_t peakWith(const std::vector<unsigned> &steps, unsigned begin) {
    int64_t maxBytes = 0;
    walk(steps, begin, before[begin], [&](int64_t during, int64_t) {
      maxBytes = std::max(maxBytes, during);
    });
    return std::max(
        {maxBytes, largestBefore[begin], largestAfter[begin + steps.size()]});
  }

private:
  /// Simulates `steps` after the first `begin` steps of the order, with `bytes`
  /// live. Calls `note` with the live bytes during and after each of them.
  template <typename Function>
  void walk(const std::vector<unsigned> &steps, unsigned begin, int64_t bytes,
            const Function &note) {
    for (unsigned number : steps)
      for (const std::vector<unsigned> *values :
           {&problem.steps[number].reads, &problem.steps[number].writes})
        for (unsigned value : *values) {
          const std::vector<unsigned> &positions = readers[value];
          left[value] =
              positions.end() -
              std::lower_bound(positions.begin(), positions.end(), begin) +
              problem.values[value].liveAtEnd;
          isWritten[value] =
              problem.values[value].liveAtStart || firstWrite[value] < begin;
        }
    for (unsigned number : steps) {
      const OrderedStep &step = problem.steps[number];
      for (unsigned value : step.writes)
        if (!isWritten[value]) {
          isWritten[value] = true;
          bytes += problem.values[value].bytes;
        }
      int64_t during = bytes;
      for (const OrderedStep::InPlacePair &share : step.inPlacePairs)
        if (left[share.read] == 1)
          during -= problem.values[share.written].bytes;
      for (unsigned value : step.reads)
        if (--left[value] == 0)
          bytes -= problem.values[value].bytes;
      for (unsigned value : step.writes)
        if (left[value] == 0 && readers[value].empty())
          bytes -= problem.values[value].bytes;
      note(during, bytes);
    }
  }

  const OrderProblem &problem;
  std::vector<unsigned> order;
  /// For each value, the positions of its readers and of its first writer.
  std::vector<std::vector<unsigned>> readers;
  std::vector<unsigned> firstWrite;
  /// At each position: live bytes before and during the step, and the maximum
  /// of the latter before this position and from it on.
  std::vector<int64_t> before, usage, largestBefore, largestAfter;
  // State of walk(), for the values that the steps access.
  std::vector<int64_t> left; ///< remaining reads
  std::vector<bool> isWritten;
};

class Ordering {
public:
  explicit Ordering(const OrderProblem &problem)
      : problem(problem), simulation(problem), before(problem.steps.size()),
        after(problem.steps.size()), order(problem.steps.size()) {
    std::iota(order.begin(), order.end(), 0u);
    findDependencies();
  }

  std::vector<unsigned> run() {
    Peak peak = simulation.setOrder(order);
    for (int round = 0; round < kMaxMoves; ++round) {
      Section best;
      int64_t least = peak.bytes;
      for (unsigned position : candidates(peak.at))
        // Try targets beyond the peak too: steps around it may need nearly as
        // much.
        for (unsigned reach = 0; reach <= kMaxDistance; reach = 2 * reach + 1) {
          Section moved = move(position, peak.at, reach);
          if (moved.steps.empty())
            break;
          const int64_t bytes = simulation.peakWith(moved.steps, moved.begin);
          if (bytes >= least)
            continue;
          least = bytes;
          best = std::move(moved);
        }
      if (best.steps.empty() ||
          (peak.bytes - least) * kMinGainDivisor < peak.bytes)
        break;
      std::copy(best.steps.begin(), best.steps.end(),
                order.begin() + best.begin);
      peak = simulation.setOrder(order);
    }
    return order;
  }

private:
  /// A reordered section of the order.
  struct Section {
    unsigned begin = 0;
    std::vector<unsigned> steps;
  };

  void findDependencies() {
    // Writers of (slices of) each value, in program order.
    std::vector<std::vector<unsigned>> writers(problem.values.size());
    auto depend = [&](unsigned step, unsigned on) {
      if (step == on)
        return;
      before[step].push_back(on);
      after[on].push_back(step);
    };
    for (unsigned step = 0; step < problem.steps.size(); ++step) {
      const OrderedStep &each = problem.steps[step];
      for (unsigned value : each.reads)
        for (unsigned writer : writers[value])
          depend(step, writer);
      for (unsigned other : each.after)
        depend(step, other);
      for (unsigned value : each.writes)
        writers[value].push_back(step);
    }
  }

  /// Returns the positions of steps that write or read the largest live values
  /// at the peak.
  std::vector<unsigned> candidates(unsigned peak) const {
    std::vector<unsigned> first(problem.values.size(), order.size()),
        last(problem.values.size());
    for (unsigned position = 0; position < order.size(); ++position) {
      const OrderedStep &step = problem.steps[order[position]];
      for (unsigned value : step.writes)
        first[value] = std::min(first[value], position);
      for (unsigned value : step.reads)
        last[value] = position;
    }
    std::vector<unsigned> alive;
    for (unsigned value = 0; value < problem.values.size(); ++value)
      if ((first[value] <= peak || problem.values[value].liveAtStart) &&
          (last[value] >= peak || problem.values[value].liveAtEnd))
        alive.push_back(value);
    std::stable_sort(alive.begin(), alive.end(), [&](unsigned a, unsigned b) {
      return problem.values[a].bytes > problem.values[b].bytes;
    });
    if (alive.size() > kMaxValues)
      alive.resize(kMaxValues);
    std::vector<bool> isOne(problem.values.size());
    for (unsigned value : alive)
      isOne[value] = true;
    auto touches = [&](const std::vector<unsigned> &values) {
      return std::any_of(values.begin(), values.end(),
                         [&](unsigned value) { return isOne[value]; });
    };
    std::vector<unsigned> positions;
    for (unsigned position = 0; position < order.size(); ++position) {
      const OrderedStep &step = problem.steps[order[position]];
      if (position != peak &&
          (position < problem.forwardSteps) == (peak < problem.forwardSteps) &&
          touches(position < peak ? step.writes : step.reads))
        positions.push_back(position);
    }
    return positions;
  }

  /// Marks `step` and all steps in reach that `related` leads to transitively.
  void collectRelated(unsigned step,
                      const std::vector<std::vector<unsigned>> &related,
                      const std::vector<bool> &isInReach,
                      std::vector<bool> &found) const {
    std::vector<unsigned> left = {step};
    found[step] = true;
    while (!left.empty()) {
      const unsigned next = left.back();
      left.pop_back();
      for (unsigned other : related[next])
        if (isInReach[other] && !found[other]) {
          found[other] = true;
          left.push_back(other);
        }
    }
  }

  /// Moves the step at `position` to the other side of the peak and of `reach`
  /// steps beyond it. Returns an empty section if that is impossible.
  Section move(unsigned position, unsigned peak, unsigned reach) const {
    const unsigned begin =
                       peak < problem.forwardSteps ? 0 : problem.forwardSteps,
                   end = peak < problem.forwardSteps ? problem.forwardSteps
                                                     : order.size();
    if (position < peak)
      return peak + reach < end ? sink(position, peak + reach) : Section();
    return peak >= begin + reach ? hoist(position, peak - reach) : Section();
  }

  /// Sinks the step at `position`, with its dependents, right below the peak.
  /// Returns an empty section if the peak depends on it.
  Section sink(unsigned position, unsigned peak) const {
    std::vector<bool> isInReach(order.size()), moves(order.size());
    for (unsigned i = position; i <= peak; ++i)
      isInReach[order[i]] = true;
    collectRelated(order[position], after, isInReach, moves);
    if (moves[order[peak]])
      return {};
    return partition(position, peak + 1, moves, /*first=*/false);
  }

  /// Hoists the step at `position`, with its dependencies, right before the
  /// peak. Returns an empty section if it depends on the peak.
  Section hoist(unsigned position, unsigned peak) const {
    std::vector<bool> isInReach(order.size()), moves(order.size());
    for (unsigned i = peak; i <= position; ++i)
      isInReach[order[i]] = true;
    collectRelated(order[position], before, isInReach, moves);
    if (moves[order[peak]])
      return {};
    return partition(peak, position + 1, moves, /*first=*/true);
  }

  /// Returns section [begin, end) with the moving steps before (`first`) or
  /// after the rest.
  Section partition(unsigned begin, unsigned end,
                    const std::vector<bool> &moves, bool first) const {
    Section section{begin, {order.begin() + begin, order.begin() + end}};
    std::stable_partition(section.steps.begin(), section.steps.end(),
                          [&](unsigned step) { return moves[step] == first; });
    return section;
  }

  const OrderProblem &problem;
  Simulation simulation;
  /// Steps that must come before and after each step.
  std::vector<std::vector<unsigned>> before, after;
  std::vector<unsigned> order;
};

} // namespace

int64_t peakBytesOf(const OrderProblem &problem,
                    const std::vector<unsigned> &order) {
  return Simulation(problem).setOrder(order).bytes;
}

MemoryUsage memoryUsageOf(const OrderProblem &problem) {
  std::vector<unsigned> order(problem.steps.size());
  std::iota(order.begin(), order.end(), 0u);
  Simulation simulation(problem);
  MemoryUsage usage;
  usage.peak = simulation.setOrder(order).bytes;
  usage.before = simulation.bytesBefore();
  usage.during = simulation.bytesDuring();
  usage.lastRead.resize(problem.values.size());
  usage.firstWrite.resize(problem.values.size());
  for (unsigned number : order) {
    for (unsigned value : problem.steps[number].reads)
      usage.lastRead[value] = number;
    for (unsigned value : problem.steps[number].writes)
      if (!usage.firstWrite[value])
        usage.firstWrite[value] = number;
  }
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (problem.values[value].liveAtEnd)
      usage.lastRead[value] = problem.steps.size();
  return usage;
}

std::vector<unsigned> reducePeak(const OrderProblem &problem) {
  return Ordering(problem).run();
}

} // namespace brew::passes
