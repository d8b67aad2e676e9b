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
      // Deferred readers read it a step later.
      const bool waits = rematerialized[u] && unit.fusionStep >= 0;
      const int64_t from = unit.fusionStep + (unit.reusesInputMemory ? 1 : 0);
      if (unit.lastBackwardUse >= 0) {
        first[u] = std::min(first[u], waits ? from : unit.firstBackwardUse);
        last[u] = std::max(last[u], waits ? std::max(from, unit.lastBackwardUse)
                                          : unit.lastBackwardUse);
      }
      if (!rematerialized[u] || last[u] < 0)
        continue;
      const int64_t read =
          waits && first[u] >= from ? unit.fusionStep : first[u];
      for (unsigned input : unit.inputs) {
        first[input] = std::min(first[input], read);
        last[input] = std::max(last[input], read);
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
  Search(const RematerializationProblem &problem, int64_t wanted, Order order)
      : problem(problem), wanted(wanted), order(order),
        rematerialized(problem.units.size()) {}

  std::vector<bool> run() {
    now = evaluate(problem, rematerialized);
    isFinal.assign(now.bytesAt.size(), false);
    while (now.peakBytes > wanted && work < kMaxWork)
      if (!step()) {
        // Other steps may still be improved: the memory of this one is an
        // estimate.
        isFinal[now.peakStep] = true;
        findPeak(now);
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

  /// Evaluates `choice`. Returns nothing if a final step would need more
  /// memory.
  std::optional<RematerializationCost>
  tryChoice(const std::vector<bool> &choice) const {
    RematerializationCost outcome = evaluate(problem, choice);
    work += problem.units.size() + problem.otherBytes.size();
    for (size_t step = 0; step < isFinal.size(); ++step)
      if (isFinal[step] && outcome.bytesAt[step] > now.bytesAt[step] &&
          outcome.bytesAt[step] > wanted)
        return std::nullopt;
    findPeak(outcome);
    return outcome;
  }

  /// Adds `u` to the choice, and recursively its inputs unless the backward
  /// pass reads them anyway.
  void add(std::vector<bool> &choice, const BackwardUses &uses,
           unsigned u) const {
    choice[u] = true;
    for (unsigned input : problem.units[u].inputs)
      if (!choice[input] && !uses.isUsed(input) &&
          problem.units[input].canRematerialize &&
          problem.units[input].bytes * kSmallInput > problem.units[u].bytes)
        add(choice, uses, input);
  }

  /// Returns the units that are saved across the peak, sorted by bytes freed
  /// per second.
  std::vector<unsigned> candidates(const BackwardUses &uses) const {
    std::vector<unsigned> found;
    for (unsigned u = 0; u < problem.units.size(); ++u) {
      const RematerializationUnit &unit = problem.units[u];
      if (unit.canRematerialize && !rematerialized[u] && uses.isUsed(u) &&
          unit.lastForwardUse < now.peakStep && now.peakStep <= uses.last[u])
        found.push_back(u);
    }
    auto gain = [&](unsigned u) {
      const RematerializationUnit &unit = problem.units[u];
      return static_cast<double>(unit.bytes) / std::max(unit.seconds, 1e-9);
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](unsigned a, unsigned b) { return gain(a) > gain(b); });
    if (found.size() > kMaxCandidates) {
      // A large unit may free more than many cheap ones.
      std::stable_sort(found.begin() + kMaxCandidates / 2, found.end(),
                       [&](unsigned a, unsigned b) {
                         return problem.units[a].bytes > problem.units[b].bytes;
                       });
      found.resize(kMaxCandidates);
    }
    return found;
  }

  /// An evaluated choice.
  struct Candidate {
    std::vector<bool> rematerialized;
    RematerializationCost outcome;
  };

  /// Evaluates `choice` and adds it to `found` if it frees memory at the peak
  /// step and the new peak is at most `most`.
  void consider(std::vector<Candidate> &found, std::vector<bool> choice,
                int64_t most) const {
    std::optional<RematerializationCost> outcome = tryChoice(choice);
    if (outcome && outcome->bytesAt[now.peakStep] < now.bytesAt[now.peakStep] &&
        outcome->peakBytes <= most)
      found.push_back({std::move(choice), std::move(*outcome)});
  }

  /// Returns the rank of an outcome; larger is better.
  std::pair<double, double> rank(const RematerializationCost &of) const {
    const auto peak = -static_cast<double>(of.peakBytes);
    const double gain = static_cast<double>(now.bytesAt[now.peakStep] -
                                            of.bytesAt[now.peakStep]) /
                        std::max(of.seconds - now.seconds, 1e-9);
    return order == Order::Time ? std::pair(gain, peak) : std::pair(peak, gain);
  }

  /// Makes the best move, in a large problem several. Returns whether there is
  /// one.
  bool step() {
    const BackwardUses uses(problem, rematerialized);
    const std::vector<unsigned> promising = candidates(uses);
    std::vector<Candidate> found;
    for (unsigned u : promising) {
      std::vector<bool> choice = rematerialized;
      choice[u] = true;
      consider(found, choice, now.peakBytes);
      add(choice, uses, u);
      consider(found, std::move(choice), now.peakBytes);
    }
    // A unit recomputed around the peak, with its inputs, may need more memory
    // there than it frees elsewhere: try saving it.
    if (found.empty())
      for (unsigned u = 0; u < rematerialized.size(); ++u)
        if (rematerialized[u] && uses.first[u] <= now.peakStep &&
            now.peakStep <= uses.last[u]) {
          std::vector<bool> choice = rematerialized;
          choice[u] = false;
          consider(found, std::move(choice), now.peakBytes - 1);
        }
    // Two units may help only together.
    if (found.empty() && rematerialized.size() <= kMaxUnitsForPairs)
      for (unsigned u : promising)
        for (unsigned other : promising)
          if (other < u) {
            std::vector<bool> choice = rematerialized;
            add(choice, uses, u);
            add(choice, uses, other);
            consider(found, std::move(choice), now.peakBytes);
          }
    if (found.empty())
      return false;
    take(found);
    return true;
  }

  void take(std::vector<Candidate> &found) {
    std::stable_sort(found.begin(), found.end(),
                     [&](const Candidate &a, const Candidate &b) {
                       return rank(a.outcome) > rank(b.outcome);
                     });
    const size_t most = 1 + rematerialized.size() / kUnitsPerMove;
    if (most > 1 && found.size() > 1) {
      std::vector<bool> all = rematerialized;
      for (size_t i = 0; i < std::min(most, found.size()); ++i)
        for (size_t u = 0; u < all.size(); ++u)
          all[u] = all[u] || found[i].rematerialized[u];
      std::vector<Candidate> together;
      consider(together, std::move(all), found.front().outcome.peakBytes);
      if (!together.empty())
        std::swap(found.front(), together.front());
    }
    rematerialized = std::move(found.front().rematerialized);
    now = std::move(found.front().outcome);
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
    const int64_t most = std::max(wanted, now.peakBytes);
    for (unsigned u : byCost) {
      rematerialized[u] = false;
      std::optional<RematerializationCost> outcome = tryChoice(rematerialized);
      if (outcome && outcome->peakBytes <= most &&
          outcome->seconds <= now.seconds)
        now = std::move(*outcome);
      else
        rematerialized[u] = true;
    }
  }

  const RematerializationProblem &problem;
  const int64_t wanted;
  const Order order;
  std::vector<bool> rematerialized;
  RematerializationCost now; ///< its peak covers only steps that are not final
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
  auto live = [&](const RematerializationUnit &unit, int64_t first,
                  int64_t last) {
    changes[first] += unit.bytes;
    changes[last + 1] -= unit.bytes;
  };
  RematerializationCost result;
  for (size_t u = 0; u < problem.units.size(); ++u) {
    const RematerializationUnit &unit = problem.units[u];
    if (rematerialized[u] && uses.isUsed(u)) {
      result.seconds += unit.seconds;
      live(unit, unit.definedAt, unit.lastForwardUse);
      live(unit, uses.first[u], uses.last[u]);
    } else {
      live(unit, unit.definedAt, std::max(unit.lastForwardUse, uses.last[u]));
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
    const int64_t now = evaluate(problem, rematerialized).peakBytes;
    if (now > peak)
      rematerialized[u] = true;
    else
      peak = now;
  }
  return rematerialized;
}
