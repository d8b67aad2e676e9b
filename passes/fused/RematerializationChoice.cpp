//===- RematerializationChoice.cpp - Choice of recomputed values ----------===//
#include "passes/fused/RematerializationChoice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

using namespace brew;
using namespace brew::passes;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// Candidates per turn: the most promising units that are live at the peak.
constexpr size_t kMaxCandidates = 24;
/// Maximal number of units of a problem in which pairs are tried too.
constexpr size_t kMaxUnitsForPairs = 200;
/// Number of units per move of a turn: in deep nets a turn makes several moves.
constexpr size_t kUnitsPerMove = 500;
/// Limit of the search, in units and steps evaluated: some seconds.
constexpr size_t kMaxWork = 1'000'000'000;
/// Inputs this many times smaller than their unit are saved.
constexpr int64_t kSmallInput = 64;

/// First and last use of each unit in the backward pass, including uses by
/// recomputed units.
struct BackwardUses {
  BackwardUses(const RematerializationProblem &problem,
               const std::vector<bool> &rematerialized)
      : first(problem.units.size(), kNever), last(problem.units.size(), -1) {
    for (size_t u = problem.units.size(); u-- > 0;) {
      const RematerializationUnit &unit = problem.units[u];
      // Deferred readers read the unit a step later.
      const bool isDeferred = rematerialized[u] && unit.fusionStep >= 0;
      const int64_t deferredUse =
          unit.fusionStep + (unit.reusesInputMemory ? 1 : 0);
      if (unit.lastBackwardUse >= 0) {
        first[u] = std::min(first[u],
                            isDeferred ? deferredUse : unit.firstBackwardUse);
        last[u] = std::max(
            last[u], isDeferred ? std::max(deferredUse, unit.lastBackwardUse)
                                : unit.lastBackwardUse);
      }
      if (!rematerialized[u] || last[u] < 0)
        continue;
      const int64_t inputUse =
          isDeferred && first[u] >= deferredUse ? unit.fusionStep : first[u];
      for (unsigned input : unit.inputs) {
        first[input] = std::min(first[input], inputUse);
        last[input] = std::max(last[input], inputUse);
      }
    }
  }

  bool isUsed(size_t u) const { return last[u] >= 0; }

  std::vector<int64_t> first, last;
};

/// Criterion of the greedy search: most memory freed per second, or smallest
/// remaining peak.
enum class Order { Time, Peak };

/// Searches one problem.
class Search {
public:
  Search(const RematerializationProblem &problem, int64_t limitBytes,
         Order order)
      : problem(problem), limitBytes(limitBytes), order(order),
        rematerialized(problem.units.size()) {}

  std::vector<bool> run() {
    current = evaluate(problem, rematerialized);
    isFinal.assign(current.bytesAt.size(), false);
    while (current.peakBytes > limitBytes && work < kMaxWork)
      if (!makeMove()) {
        // Other steps may still be improved: the memory of this one is an
        // estimate.
        isFinal[current.peakStep] = true;
        findPeak(current);
      }
    dropUnneeded();
    return rematerialized;
  }

private:
  /// Sets the peak among the steps that are not final; 0 if all are.
  void findPeak(RematerializationCost &outcome) const {
    outcome.peakBytes = outcome.peakStep = 0;
    for (size_t step = 0; step < isFinal.size(); ++step)
      if (!isFinal[step] && outcome.bytesAt[step] > outcome.peakBytes) {
        outcome.peakBytes = outcome.bytesAt[step];
        outcome.peakStep = static_cast<int64_t>(step);
      }
  }

  /// Evaluates `choice`. Returns nullopt if a final step would need more
  /// memory.
  std::optional<RematerializationCost>
  tryChoice(const std::vector<bool> &choice) const {
    RematerializationCost outcome = evaluate(problem, choice);
    work += problem.units.size() + problem.otherBytes.size();
    for (size_t step = 0; step < isFinal.size(); ++step)
      if (isFinal[step] && outcome.bytesAt[step] > current.bytesAt[step] &&
          outcome.bytesAt[step] > limitBytes)
        return std::nullopt;
    findPeak(outcome);
    return outcome;
  }

  /// Adds `u` to the choice, and recursively its inputs unless the backward
  /// pass reads them anyway.
  void addWithInputs(std::vector<bool> &choice, const BackwardUses &uses,
                     unsigned u) const {
    choice[u] = true;
    for (unsigned input : problem.units[u].inputs)
      if (!choice[input] && !uses.isUsed(input) &&
          problem.units[input].canRematerialize &&
          problem.units[input].bytes * kSmallInput > problem.units[u].bytes)
        addWithInputs(choice, uses, input);
  }

  /// Returns the units that are saved across the peak, sorted by bytes freed
  /// per second.
  std::vector<unsigned> candidates(const BackwardUses &uses) const {
    std::vector<unsigned> units;
    for (unsigned u = 0; u < problem.units.size(); ++u) {
      const RematerializationUnit &unit = problem.units[u];
      if (unit.canRematerialize && !rematerialized[u] && uses.isUsed(u) &&
          unit.lastForwardUse < current.peakStep &&
          current.peakStep <= uses.last[u])
        units.push_back(u);
    }
    auto gain = [&](unsigned u) {
      const RematerializationUnit &unit = problem.units[u];
      return static_cast<double>(unit.bytes) / std::max(unit.seconds, 1e-9);
    };
    std::stable_sort(units.begin(), units.end(),
                     [&](unsigned a, unsigned b) { return gain(a) > gain(b); });
    if (units.size() > kMaxCandidates) {
      // A large unit may free more than many cheap ones.
      std::stable_sort(units.begin() + kMaxCandidates / 2, units.end(),
                       [&](unsigned a, unsigned b) {
                         return problem.units[a].bytes > problem.units[b].bytes;
                       });
      units.resize(kMaxCandidates);
    }
    return units;
  }

  /// An evaluated choice.
  struct Candidate {
    std::vector<bool> rematerialized;
    RematerializationCost outcome;
  };

  /// Evaluates `choice` and adds it to `moves` if it frees memory at the peak
  /// step and the new peak is at most `maxPeakBytes`.
  void consider(std::vector<Candidate> &moves, std::vector<bool> choice,
                int64_t maxPeakBytes) const {
    std::optional<RematerializationCost> outcome = tryChoice(choice);
    if (outcome &&
        outcome->bytesAt[current.peakStep] <
            current.bytesAt[current.peakStep] &&
        outcome->peakBytes <= maxPeakBytes)
      moves.push_back({std::move(choice), std::move(*outcome)});
  }

  /// Returns the rank of an outcome; larger is better.
  std::pair<double, double> rank(const RematerializationCost &outcome) const {
    const auto peak = -static_cast<double>(outcome.peakBytes);
    const double gain = static_cast<double>(current.bytesAt[current.peakStep] -
                                            outcome.bytesAt[current.peakStep]) /
                        std::max(outcome.seconds - current.seconds, 1e-9);
    return order == Order::Time ? std::pair(gain, peak) : std::pair(peak, gain);
  }

  /// Makes the best move, or several moves in a large problem. Returns whether
  /// there is one.
  bool makeMove() {
    const BackwardUses uses(problem, rematerialized);
    const std::vector<unsigned> promising = candidates(uses);
    std::vector<Candidate> moves;
    for (unsigned u : promising) {
      std::vector<bool> choice = rematerialized;
      choice[u] = true;
      consider(moves, choice, current.peakBytes);
      addWithInputs(choice, uses, u);
      consider(moves, std::move(choice), current.peakBytes);
    }
    // A unit recomputed around the peak, with its inputs, may need more memory
    // there than it frees elsewhere: try saving it.
    if (moves.empty())
      for (unsigned u = 0; u < rematerialized.size(); ++u)
        if (rematerialized[u] && uses.first[u] <= current.peakStep &&
            current.peakStep <= uses.last[u]) {
          std::vector<bool> choice = rematerialized;
          choice[u] = false;
          consider(moves, std::move(choice), current.peakBytes - 1);
        }
    // Two units may help only together.
    if (moves.empty() && rematerialized.size() <= kMaxUnitsForPairs)
      for (unsigned u : promising)
        for (unsigned other : promising)
          if (other < u) {
            std::vector<bool> choice = rematerialized;
            addWithInputs(choice, uses, u);
            addWithInputs(choice, uses, other);
            consider(moves, std::move(choice), current.peakBytes);
          }
    if (moves.empty())
      return false;
    applyBest(moves);
    return true;
  }

  void applyBest(std::vector<Candidate> &moves) {
    std::stable_sort(moves.begin(), moves.end(),
                     [&](const Candidate &a, const Candidate &b) {
                       return rank(a.outcome) > rank(b.outcome);
                     });
    const size_t moveCount = 1 + rematerialized.size() / kUnitsPerMove;
    if (moveCount > 1 && moves.size() > 1) {
      std::vector<bool> combinedChoice = rematerialized;
      for (size_t i = 0; i < std::min(moveCount, moves.size()); ++i)
        for (size_t u = 0; u < combinedChoice.size(); ++u)
          combinedChoice[u] = combinedChoice[u] || moves[i].rematerialized[u];
      std::vector<Candidate> combined;
      consider(combined, std::move(combinedChoice),
               moves.front().outcome.peakBytes);
      if (!combined.empty())
        std::swap(moves.front(), combined.front());
    }
    rematerialized = std::move(moves.front().rematerialized);
    current = std::move(moves.front().outcome);
  }

  /// Saves units that need not be recomputed, most expensive first.
  void dropUnneeded() {
    std::vector<unsigned> byCost;
    for (unsigned u = 0; u < rematerialized.size(); ++u)
      if (rematerialized[u])
        byCost.push_back(u);
    std::stable_sort(byCost.begin(), byCost.end(), [&](unsigned a, unsigned b) {
      return problem.units[a].seconds > problem.units[b].seconds;
    });
    const int64_t maxPeakBytes = std::max(limitBytes, current.peakBytes);
    for (unsigned u : byCost) {
      rematerialized[u] = false;
      std::optional<RematerializationCost> outcome = tryChoice(rematerialized);
      if (outcome && outcome->peakBytes <= maxPeakBytes &&
          outcome->seconds <= current.seconds)
        current = std::move(*outcome);
      else
        rematerialized[u] = true;
    }
  }

  const RematerializationProblem &problem;
  const int64_t limitBytes;
  const Order order;
  std::vector<bool> rematerialized;
  /// Outcome of `rematerialized`. Its peak covers only steps that are not
  /// final.
  RematerializationCost current;
  std::vector<bool> isFinal;
  mutable size_t work = 0; ///< of all evaluations
};

} // namespace

RematerializationCost
brew::passes::evaluate(const RematerializationProblem &problem,
                       const std::vector<bool> &rematerialized) {
  const BackwardUses uses(problem, rematerialized);
  const size_t steps = problem.otherBytes.size();
  std::vector<int64_t> changes(steps + 1);
  auto addLifetime = [&](const RematerializationUnit &unit, int64_t first,
                         int64_t last) {
    changes[first] += unit.bytes;
    changes[last + 1] -= unit.bytes;
  };
  RematerializationCost result;
  for (size_t u = 0; u < problem.units.size(); ++u) {
    const RematerializationUnit &unit = problem.units[u];
    if (rematerialized[u] && uses.isUsed(u)) {
      result.seconds += unit.seconds;
      addLifetime(unit, unit.definedAt, unit.lastForwardUse);
      addLifetime(unit, uses.first[u], uses.last[u]);
    } else {
      addLifetime(unit, unit.definedAt,
                  std::max(unit.lastForwardUse, uses.last[u]));
    }
  }
  result.bytesAt.resize(steps);
  int64_t bytes = 0;
  for (size_t step = 0; step < steps; ++step) {
    bytes += changes[step];
    result.bytesAt[step] = bytes + problem.otherBytes[step];
    if (result.bytesAt[step] > result.peakBytes) {
      result.peakBytes = result.bytesAt[step];
      result.peakStep = static_cast<int64_t>(step);
    }
  }
  return result;
}

std::vector<bool>
brew::passes::chooseRematerialized(const RematerializationProblem &problem,
                                   int64_t bytes) {
  std::vector<bool> first = Search(problem, bytes, Order::Time).run();
  const int64_t peak = evaluate(problem, first).peakBytes;
  if (peak <= bytes)
    return first;
  std::vector<bool> second = Search(problem, bytes, Order::Peak).run();
  return evaluate(problem, second).peakBytes < peak ? second : first;
}

std::vector<bool>
brew::passes::chooseFused(const RematerializationProblem &problem,
                          double seconds) {
  const RematerializationCost saved =
      evaluate(problem, std::vector<bool>(problem.units.size()));
  // One kernel may compute the gradients of all slices of a concatenated
  // tensor; then it needs more memory than any of its nests.
  auto isFull = [&](const RematerializationUnit &unit) {
    int64_t largest = 0;
    for (unsigned input : unit.inputs)
      largest = std::max(largest, problem.units[input].bytes);
    return !unit.reusesInputMemory &&
           saved.bytesAt[static_cast<size_t>(unit.fusionStep)] + 2 * largest >
               saved.peakBytes;
  };
  std::vector<unsigned> possible;
  for (unsigned u = 0; u < problem.units.size(); ++u)
    if (const RematerializationUnit &unit = problem.units[u];
        unit.canRematerialize && unit.fusionStep >= 0 && !isFull(unit))
      possible.push_back(u);
  std::stable_sort(possible.begin(), possible.end(),
                   [&](unsigned a, unsigned b) {
                     return problem.units[a].bytes > problem.units[b].bytes;
                   });
  std::vector<bool> rematerialized(problem.units.size());
  double sum = 0;
  for (unsigned u : possible)
    if (sum + problem.units[u].seconds <= seconds) {
      sum += problem.units[u].seconds;
      rematerialized[u] = true;
    }
  // Save units that do not lower the peak, smallest first.
  int64_t peak = evaluate(problem, rematerialized).peakBytes;
  for (auto next = possible.rbegin(); next != possible.rend(); ++next) {
    const unsigned u = *next;
    if (!rematerialized[u])
      continue;
    rematerialized[u] = false;
    const int64_t newPeak = evaluate(problem, rematerialized).peakBytes;
    if (newPeak > peak)
      rematerialized[u] = true;
    else
      peak = newPeak;
  }
  return rematerialized;
}
