//===- StepOrder.cpp - An order of steps that needs less memory -----------===//
//
// Starts from the program's order, which suits caches, and changes it only
// around the step that needs the most: steps behind it that free more than they
// take are done before it, with all that they need, and steps before it are put
// off, with all that needs them. What lowers the peak most stays, until nothing
// does.
//
//===----------------------------------------------------------------------===//
#include "passes/plan/StepOrder.h"

#include <algorithm>
#include <numeric>

namespace brew::passes {

namespace {

/// Changes of the order.
constexpr int kMostRounds = 48;
/// Values at the peak whose steps are tried elsewhere, the largest.
constexpr size_t kMostValues = 24;
/// Steps between the peak and where another one is moved to.
constexpr unsigned kFarthest = 15;
/// What a round must gain: 1 part in so many.
constexpr int64_t kWorthwhile = 256;

/// What a program needs over time.
struct Peak {
  int64_t bytes = 0;
  unsigned at = 0; ///< position in the order
};

/// What an order needs at each position, and what it would need were a part of
/// it arranged otherwise.
class Simulation {
public:
  explicit Simulation(const OrderProblem &problem)
      : problem(problem), readers(problem.values.size()),
        left(problem.values.size()), isThere(problem.values.size()) {}

  /// Looks at the whole of `given`.
  Peak setOrder(const std::vector<unsigned> &given) {
    order = given;
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
    needs.clear();
    walk(order, 0, bytes, [&](int64_t need, int64_t after) {
      needs.push_back(need);
      before.push_back(after);
    });
    largestBefore.assign(1, 0);
    for (int64_t need : needs)
      largestBefore.push_back(std::max(largestBefore.back(), need));
    largestBehind.assign(order.size() + 1, 0);
    for (size_t position = order.size(); position-- > 0;)
      largestBehind[position] =
          std::max(largestBehind[position + 1], needs[position]);
    Peak peak;
    for (unsigned position = 0; position < order.size(); ++position)
      if (needs[position] > peak.bytes)
        peak = {needs[position], position};
    return peak;
  }

  /// Bytes that are there when each step of the order begins, and those that
  /// each needs.
  const std::vector<int64_t> &bytesBefore() const { return before; }
  const std::vector<int64_t> &bytesDuring() const { return needs; }

  /// The peak if the steps from `begin` on were these, the same ones in another
  /// order. The rest needs what it does now.
  int64_t peakWith(const std::vector<unsigned> &steps, unsigned begin) {
    int64_t most = 0;
    walk(steps, begin, before[begin],
         [&](int64_t need, int64_t) { most = std::max(most, need); });
    return std::max(
        {most, largestBefore[begin], largestBehind[begin + steps.size()]});
  }

private:
  /// Tells `note` what each of the steps needs that follow the first `begin` of
  /// the order, which leave `bytes`, and what it leaves.
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
          isThere[value] =
              problem.values[value].liveAtStart || firstWrite[value] < begin;
        }
    for (unsigned number : steps) {
      const OrderedStep &step = problem.steps[number];
      for (unsigned value : step.writes)
        if (!isThere[value]) {
          isThere[value] = true;
          bytes += problem.values[value].bytes;
        }
      int64_t need = bytes;
      for (const OrderedStep::InPlacePair &share : step.inPlacePairs)
        if (left[share.read] == 1)
          need -= problem.values[share.written].bytes;
      for (unsigned value : step.reads)
        if (--left[value] == 0)
          bytes -= problem.values[value].bytes;
      for (unsigned value : step.writes)
        if (left[value] == 0 && readers[value].empty())
          bytes -= problem.values[value].bytes;
      note(need, bytes);
    }
  }

  const OrderProblem &problem;
  std::vector<unsigned> order;
  /// Of each value, positions of the steps that read it, and of the first that
  /// writes it.
  std::vector<std::vector<unsigned>> readers;
  std::vector<unsigned> firstWrite;
  /// At each position: what steps before have left, what it needs, and the
  /// most that those before and from there on need.
  std::vector<int64_t> before, needs, largestBefore, largestBehind;
  // While steps are walked through, of values that they touch.
  std::vector<int64_t> left; ///< times that it is still read
  std::vector<bool> isThere;
};

class Ordering {
public:
  explicit Ordering(const OrderProblem &problem)
      : problem(problem), simulation(problem), before(problem.steps.size()),
        behind(problem.steps.size()), order(problem.steps.size()) {
    std::iota(order.begin(), order.end(), 0u);
    findDependences();
  }

  std::vector<unsigned> run() {
    Peak peak = simulation.setOrder(order);
    for (int round = 0; round < kMostRounds; ++round) {
      Part best;
      int64_t least = peak.bytes;
      for (unsigned position : candidates(peak.at))
        // The steps around the peak may need nearly as much.
        for (unsigned reach = 0; reach <= kFarthest; reach = 2 * reach + 1) {
          Part moved = move(position, peak.at, reach);
          if (moved.steps.empty())
            break;
          const int64_t bytes = simulation.peakWith(moved.steps, moved.begin);
          if (bytes >= least)
            continue;
          least = bytes;
          best = std::move(moved);
        }
      if (best.steps.empty() || (peak.bytes - least) * kWorthwhile < peak.bytes)
        break;
      std::copy(best.steps.begin(), best.steps.end(),
                order.begin() + best.begin);
      peak = simulation.setOrder(order);
    }
    return order;
  }

private:
  /// A part of the order, arranged otherwise.
  struct Part {
    unsigned begin = 0;
    std::vector<unsigned> steps;
  };

  void findDependences() {
    // Writers of parts of a value, in the program's order.
    std::vector<std::vector<unsigned>> writers(problem.values.size());
    auto depend = [&](unsigned step, unsigned on) {
      if (step == on)
        return;
      before[step].push_back(on);
      behind[on].push_back(step);
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

  /// Positions of the steps that make or read the largest values at the peak.
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
    if (alive.size() > kMostValues)
      alive.resize(kMostValues);
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
          (position < problem.boundary) == (peak < problem.boundary) &&
          touches(position < peak ? step.writes : step.reads))
        positions.push_back(position);
    }
    return positions;
  }

  /// Marks `step` and all on the same side of the peak that `related` leads to.
  void gather(unsigned step, const std::vector<std::vector<unsigned>> &related,
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
  /// steps behind or before it; empty if it cannot.
  Part move(unsigned position, unsigned peak, unsigned reach) const {
    const unsigned begin = peak < problem.boundary ? 0 : problem.boundary,
                   end = peak < problem.boundary ? problem.boundary
                                                 : order.size();
    if (position < peak)
      return peak + reach < end ? putOff(position, peak + reach) : Part();
    return peak >= begin + reach ? bringForward(position, peak - reach)
                                 : Part();
  }

  /// Puts the step at `position`, and what needs it, right behind the peak;
  /// empty if the peak needs it.
  Part putOff(unsigned position, unsigned peak) const {
    std::vector<bool> isInReach(order.size()), moves(order.size());
    for (unsigned i = position; i <= peak; ++i)
      isInReach[order[i]] = true;
    gather(order[position], behind, isInReach, moves);
    if (moves[order[peak]])
      return {};
    return arrange(position, peak + 1, moves, /*first=*/false);
  }

  /// Puts the step at `position`, and what it needs, right before the peak;
  /// empty if it needs the peak.
  Part bringForward(unsigned position, unsigned peak) const {
    std::vector<bool> isInReach(order.size()), moves(order.size());
    for (unsigned i = peak; i <= position; ++i)
      isInReach[order[i]] = true;
    gather(order[position], before, isInReach, moves);
    if (moves[order[peak]])
      return {};
    return arrange(peak, position + 1, moves, /*first=*/true);
  }

  /// [begin, end) of the order with those that move before or behind the rest.
  Part arrange(unsigned begin, unsigned end, const std::vector<bool> &moves,
               bool first) const {
    Part part{begin, {order.begin() + begin, order.begin() + end}};
    std::stable_partition(part.steps.begin(), part.steps.end(),
                          [&](unsigned step) { return moves[step] == first; });
    return part;
  }

  const OrderProblem &problem;
  Simulation simulation;
  /// Steps that must be before and behind each step.
  std::vector<std::vector<unsigned>> before, behind;
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
  MemoryUsage needs;
  needs.peak = simulation.setOrder(order).bytes;
  needs.before = simulation.bytesBefore();
  needs.during = simulation.bytesDuring();
  needs.lastRead.resize(problem.values.size());
  needs.firstWrite.resize(problem.values.size());
  for (unsigned number : order) {
    for (unsigned value : problem.steps[number].reads)
      needs.lastRead[value] = number;
    for (unsigned value : problem.steps[number].writes)
      if (!needs.firstWrite[value])
        needs.firstWrite[value] = number;
  }
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (problem.values[value].liveAtEnd)
      needs.lastRead[value] = problem.steps.size();
  return needs;
}

std::vector<unsigned> reducePeak(const OrderProblem &problem) {
  return Ordering(problem).run();
}

} // namespace brew::passes
