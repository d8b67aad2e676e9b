//===- StepOrder.cpp - Step order with a lower memory peak ----------------===//
//
// Starts from the program order, which suits caches, and changes it only around
// the peak: hoists later steps above the peak, with their dependencies, if they
// free more memory than they take, and sinks earlier steps below it, with their
// dependents. Repeatedly makes the move that lowers the peak most, until no
// move lowers it enough.
//
//===----------------------------------------------------------------------===//
#include "passes/plan/StepOrder.h"

#include <algorithm>
#include <numeric>

namespace brew::passes {

namespace {

/// Maximal number of moves.
constexpr int kMaxMoves = 48;
/// Candidates for a move are the steps that access the largest live values at
/// the peak; this is the number of these values.
constexpr size_t kMaxValues = 24;
/// Maximal distance from the peak to the target of a move.
constexpr unsigned kMaxDistance = 15;
/// A move must lower the peak by at least the peak divided by this number.
constexpr int64_t kMinGainDivisor = 256;

/// The peak of an order.
struct Peak {
  int64_t bytes = 0;
  unsigned position = 0; ///< position in the order
};

/// Simulates the memory usage of an order, and of changes to a section of it.
class Simulation {
public:
  explicit Simulation(const OrderProblem &problem)
      : problem(problem), readers(problem.values.size()),
        remainingReads(problem.values.size()),
        isWritten(problem.values.size()) {}

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
    simulate(order, 0, bytes, [&](int64_t during, int64_t after) {
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
    simulate(steps, begin, before[begin], [&](int64_t during, int64_t) {
      maxBytes = std::max(maxBytes, during);
    });
    return std::max(
        {maxBytes, largestBefore[begin], largestAfter[begin + steps.size()]});
  }

private:
  /// Simulates `steps` after the first `begin` steps of the order, with `bytes`
  /// live. Calls `callback` with the live bytes during and after each of these
  /// steps.
  template <typename Function>
  void simulate(const std::vector<unsigned> &steps, unsigned begin,
                int64_t bytes, const Function &callback) {
    for (unsigned number : steps)
      for (const std::vector<unsigned> *values :
           {&problem.steps[number].reads, &problem.steps[number].writes})
        for (unsigned value : *values) {
          const std::vector<unsigned> &positions = readers[value];
          remainingReads[value] =
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
      for (const OrderedStep::InPlacePair &pair : step.inPlacePairs)
        if (remainingReads[pair.read] == 1)
          during -= problem.values[pair.written].bytes;
      for (unsigned value : step.reads)
        if (--remainingReads[value] == 0)
          bytes -= problem.values[value].bytes;
      for (unsigned value : step.writes)
        if (remainingReads[value] == 0 && readers[value].empty())
          bytes -= problem.values[value].bytes;
      callback(during, bytes);
    }
  }

  const OrderProblem &problem;
  std::vector<unsigned> order;
  /// For each value, the positions of its readers and of its first writer.
  std::vector<std::vector<unsigned>> readers;
  std::vector<unsigned> firstWrite;
  /// At each position: live bytes before and during the step, and the maxima of
  /// `usage` before this position and from this position on.
  std::vector<int64_t> before, usage, largestBefore, largestAfter;
  // State of simulate(), for the values that the steps access.
  std::vector<int64_t> remainingReads;
  std::vector<bool> isWritten;
};

/// Searches for an order with a lower peak by moving single steps.
class OrderSearch {
public:
  explicit OrderSearch(const OrderProblem &problem)
      : problem(problem), simulation(problem), before(problem.steps.size()),
        after(problem.steps.size()), order(problem.steps.size()) {
    std::iota(order.begin(), order.end(), 0u);
    findDependencies();
  }

  std::vector<unsigned> run() {
    Peak peak = simulation.setOrder(order);
    for (int round = 0; round < kMaxMoves; ++round) {
      Section best;
      int64_t lowestPeak = peak.bytes;
      for (unsigned position : findCandidates(peak.position))
        // Try targets beyond the peak too: steps around it may need nearly as
        // much.
        for (unsigned distance = 0; distance <= kMaxDistance;
             distance = 2 * distance + 1) {
          Section moved = moveAcrossPeak(position, peak.position, distance);
          if (moved.steps.empty())
            break;
          const int64_t bytes = simulation.peakWith(moved.steps, moved.begin);
          if (bytes >= lowestPeak)
            continue;
          lowestPeak = bytes;
          best = std::move(moved);
        }
      if (best.steps.empty() ||
          (peak.bytes - lowestPeak) * kMinGainDivisor < peak.bytes)
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
    auto addDependency = [&](unsigned step, unsigned dependency) {
      if (step == dependency)
        return;
      before[step].push_back(dependency);
      after[dependency].push_back(step);
    };
    for (unsigned step = 0; step < problem.steps.size(); ++step) {
      const OrderedStep &orderedStep = problem.steps[step];
      for (unsigned value : orderedStep.reads)
        for (unsigned writer : writers[value])
          addDependency(step, writer);
      for (unsigned earlier : orderedStep.after)
        addDependency(step, earlier);
      for (unsigned value : orderedStep.writes)
        writers[value].push_back(step);
    }
  }

  /// Returns the positions of steps that write or read the largest live values
  /// at the peak.
  std::vector<unsigned> findCandidates(unsigned peak) const {
    std::vector<unsigned> first(problem.values.size(), order.size()),
        last(problem.values.size());
    for (unsigned position = 0; position < order.size(); ++position) {
      const OrderedStep &step = problem.steps[order[position]];
      for (unsigned value : step.writes)
        first[value] = std::min(first[value], position);
      for (unsigned value : step.reads)
        last[value] = position;
    }
    std::vector<unsigned> liveValues;
    for (unsigned value = 0; value < problem.values.size(); ++value)
      if ((first[value] <= peak || problem.values[value].liveAtStart) &&
          (last[value] >= peak || problem.values[value].liveAtEnd))
        liveValues.push_back(value);
    std::stable_sort(liveValues.begin(), liveValues.end(),
                     [&](unsigned a, unsigned b) {
                       return problem.values[a].bytes > problem.values[b].bytes;
                     });
    if (liveValues.size() > kMaxValues)
      liveValues.resize(kMaxValues);
    std::vector<bool> isLargest(problem.values.size());
    for (unsigned value : liveValues)
      isLargest[value] = true;
    auto accessesLargest = [&](const std::vector<unsigned> &values) {
      return std::any_of(values.begin(), values.end(),
                         [&](unsigned value) { return isLargest[value]; });
    };
    std::vector<unsigned> positions;
    for (unsigned position = 0; position < order.size(); ++position) {
      const OrderedStep &step = problem.steps[order[position]];
      if (position != peak &&
          (position < problem.forwardSteps) == (peak < problem.forwardSteps) &&
          accessesLargest(position < peak ? step.writes : step.reads))
        positions.push_back(position);
    }
    return positions;
  }

  /// Marks `step` and all steps in range that are reachable from it along
  /// `related`.
  void collectRelated(unsigned step,
                      const std::vector<std::vector<unsigned>> &related,
                      const std::vector<bool> &isInRange,
                      std::vector<bool> &found) const {
    std::vector<unsigned> worklist = {step};
    found[step] = true;
    while (!worklist.empty()) {
      const unsigned next = worklist.back();
      worklist.pop_back();
      for (unsigned other : related[next])
        if (isInRange[other] && !found[other]) {
          found[other] = true;
          worklist.push_back(other);
        }
    }
  }

  /// Moves the step at `position` across the peak and `distance` further steps.
  /// Returns an empty section if that is impossible.
  Section moveAcrossPeak(unsigned position, unsigned peak,
                         unsigned distance) const {
    const unsigned begin =
                       peak < problem.forwardSteps ? 0 : problem.forwardSteps,
                   end = peak < problem.forwardSteps ? problem.forwardSteps
                                                     : order.size();
    if (position < peak)
      return peak + distance < end ? sink(position, peak + distance)
                                   : Section();
    return peak >= begin + distance ? hoist(position, peak - distance)
                                    : Section();
  }

  /// Sinks the step at `position`, with its dependents, right below position
  /// `target`. Returns an empty section if the step there depends on it.
  Section sink(unsigned position, unsigned target) const {
    std::vector<bool> isInRange(order.size()), isMoved(order.size());
    for (unsigned i = position; i <= target; ++i)
      isInRange[order[i]] = true;
    collectRelated(order[position], after, isInRange, isMoved);
    if (isMoved[order[target]])
      return {};
    return partition(position, target + 1, isMoved, /*movedFirst=*/false);
  }

  /// Hoists the step at `position`, with its dependencies, right above position
  /// `target`. Returns an empty section if it depends on the step there.
  Section hoist(unsigned position, unsigned target) const {
    std::vector<bool> isInRange(order.size()), isMoved(order.size());
    for (unsigned i = target; i <= position; ++i)
      isInRange[order[i]] = true;
    collectRelated(order[position], before, isInRange, isMoved);
    if (isMoved[order[target]])
      return {};
    return partition(target, position + 1, isMoved, /*movedFirst=*/true);
  }

  /// Returns section [begin, end) with the moved steps before (`movedFirst`) or
  /// after the other steps.
  Section partition(unsigned begin, unsigned end,
                    const std::vector<bool> &isMoved, bool movedFirst) const {
    Section section{begin, {order.begin() + begin, order.begin() + end}};
    std::stable_partition(
        section.steps.begin(), section.steps.end(),
        [&](unsigned step) { return isMoved[step] == movedFirst; });
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
  return OrderSearch(problem).run();
}

} // namespace brew::passes
