//===- RematerializationChoice.cpp - What the backward pass computes again --------===//
#include "passes/fused/RematerializationChoice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

using namespace brew;
using namespace brew::passes;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// What is looked at in each turn: the most promising of all that are alive at
/// the peak.
constexpr size_t kCandidates = 24;
/// Units of a problem so small that pairs are looked at too.
constexpr size_t kPairs = 200;
/// Units for each step that is taken at a time: of a deep net several are.
constexpr size_t kUnitsOfStep = 500;
/// Units and steps looked at, beyond which the search ends: some seconds.
constexpr size_t kMostWork = 1'000'000'000;
/// Inputs so many times smaller than what is made of them are saved.
constexpr int64_t kSmall = 64;

/// Where the backward pass needs units, with those that are computed again.
struct Needs {
  Needs(const RematerializationProblem &problem, const std::vector<bool> &again)
      : first(problem.units.size(), kNever), last(problem.units.size(), -1) {
    for (size_t u = problem.units.size(); u-- > 0;) {
      const RematerializationUnit &unit = problem.units[u];
      // What waits for it reads it a step later.
      const bool waits = again[u] && unit.beside >= 0;
      const int64_t from = unit.beside + (unit.reusesInputMemory ? 1 : 0);
      if (unit.lastBackwardUse >= 0) {
        first[u] = std::min(first[u], waits ? from : unit.firstBackwardUse);
        last[u] = std::max(last[u], waits ? std::max(from, unit.lastBackwardUse)
                                          : unit.lastBackwardUse);
      }
      if (!again[u] || last[u] < 0)
        continue;
      const int64_t read = waits && first[u] >= from ? unit.beside : first[u];
      for (unsigned input : unit.inputs) {
        first[input] = std::min(first[input], read);
        last[input] = std::max(last[input], read);
      }
    }
  }

  bool isNeeded(size_t u) const { return last[u] >= 0; }

  std::vector<int64_t> first, last;
};

/// What is taken first: what frees the most for its time, or what leaves the
/// smallest peak.
enum class Order { Time, Peak };

/// Searches one problem.
class Search {
public:
  Search(const RematerializationProblem &problem, int64_t wanted, Order order)
      : problem(problem), wanted(wanted), order(order),
        again(problem.units.size()) {}

  std::vector<bool> run() {
    now = evaluate(problem, again);
    isFinal.assign(now.bytesAt.size(), false);
    while (now.peakBytes > wanted && work < kMostWork)
      if (!step()) {
        // Other steps may still need less: what this one takes is an estimate.
        isFinal[now.peakStep] = true;
        findPeak(now);
      }
    saveTheNeedless();
    return again;
  }

private:
  /// The peak among the steps that may need less yet; 0 if there are none.
  void findPeak(RematerializationCost &outcome) const {
    outcome.peakBytes = outcome.peakStep = 0;
    for (size_t step = 0; step < isFinal.size(); ++step)
      if (!isFinal[step] && outcome.bytesAt[step] > outcome.peakBytes) {
        outcome.peakBytes = outcome.bytesAt[step];
        outcome.peakStep = static_cast<int64_t>(step);
      }
  }

  /// What `choice` comes to; nothing if a step that is final would need more.
  std::optional<RematerializationCost> tried(const std::vector<bool> &choice) const {
    RematerializationCost outcome = evaluate(problem, choice);
    work += problem.units.size() + problem.otherBytes.size();
    for (size_t step = 0; step < isFinal.size(); ++step)
      if (isFinal[step] && outcome.bytesAt[step] > now.bytesAt[step] &&
          outcome.bytesAt[step] > wanted)
        return std::nullopt;
    findPeak(outcome);
    return outcome;
  }

  /// Computes `u` again, and what it reads unless the backward pass reads that
  /// anyway.
  void add(std::vector<bool> &choice, const Needs &needs, unsigned u) const {
    choice[u] = true;
    for (unsigned input : problem.units[u].inputs)
      if (!choice[input] && !needs.isNeeded(input) &&
          problem.units[input].canRematerialize &&
          problem.units[input].bytes * kSmall > problem.units[u].bytes)
        add(choice, needs, input);
  }

  /// Units whose results lie at the peak from the forward to the backward pass,
  /// by what they free in a second.
  std::vector<unsigned> candidates(const Needs &needs) const {
    std::vector<unsigned> found;
    for (unsigned u = 0; u < problem.units.size(); ++u) {
      const RematerializationUnit &unit = problem.units[u];
      if (unit.canRematerialize && !again[u] && needs.isNeeded(u) &&
          unit.lastForwardUse < now.peakStep && now.peakStep <= needs.last[u])
        found.push_back(u);
    }
    auto gain = [&](unsigned u) {
      const RematerializationUnit &unit = problem.units[u];
      return static_cast<double>(unit.bytes) / std::max(unit.seconds, 1e-9);
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](unsigned a, unsigned b) { return gain(a) > gain(b); });
    if (found.size() > kCandidates) {
      // Large ones may free more than many that are cheap.
      std::stable_sort(found.begin() + kCandidates / 2, found.end(),
                       [&](unsigned a, unsigned b) {
                         return problem.units[a].bytes > problem.units[b].bytes;
                       });
      found.resize(kCandidates);
    }
    return found;
  }

  /// A choice that has been looked at.
  struct Tried {
    std::vector<bool> again;
    RematerializationCost outcome;
  };

  /// Adds `choice` to those found, if it frees something at the peak and the
  /// peak is then at most `most`.
  void look(std::vector<Tried> &found, std::vector<bool> choice,
            int64_t most) const {
    std::optional<RematerializationCost> outcome = tried(choice);
    if (outcome && outcome->bytesAt[now.peakStep] < now.bytesAt[now.peakStep] &&
        outcome->peakBytes <= most)
      found.push_back({std::move(choice), std::move(*outcome)});
  }

  /// What is better has the larger one.
  std::pair<double, double> rank(const RematerializationCost &of) const {
    const auto peak = -static_cast<double>(of.peakBytes);
    const double gain = static_cast<double>(now.bytesAt[now.peakStep] -
                                            of.bytesAt[now.peakStep]) /
                        std::max(of.seconds - now.seconds, 1e-9);
    return order == Order::Time ? std::pair(gain, peak) : std::pair(peak, gain);
  }

  /// Takes the best next step, of a large problem several; returns whether
  /// there is one.
  bool step() {
    const Needs needs(problem, again);
    const std::vector<unsigned> promising = candidates(needs);
    std::vector<Tried> found;
    for (unsigned u : promising) {
      std::vector<bool> choice = again;
      choice[u] = true;
      look(found, choice, now.peakBytes);
      add(choice, needs, u);
      look(found, std::move(choice), now.peakBytes);
    }
    // What is made again around the peak, and all that is there for it, may
    // take more than it frees elsewhere.
    if (found.empty())
      for (unsigned u = 0; u < again.size(); ++u)
        if (again[u] && needs.first[u] <= now.peakStep &&
            now.peakStep <= needs.last[u]) {
          std::vector<bool> choice = again;
          choice[u] = false;
          look(found, std::move(choice), now.peakBytes - 1);
        }
    // One may need another one's memory.
    if (found.empty() && again.size() <= kPairs)
      for (unsigned u : promising)
        for (unsigned other : promising)
          if (other < u) {
            std::vector<bool> choice = again;
            add(choice, needs, u);
            add(choice, needs, other);
            look(found, std::move(choice), now.peakBytes);
          }
    if (found.empty())
      return false;
    take(found);
    return true;
  }

  void take(std::vector<Tried> &found) {
    std::stable_sort(found.begin(), found.end(),
                     [&](const Tried &a, const Tried &b) {
                       return rank(a.outcome) > rank(b.outcome);
                     });
    const size_t most = 1 + again.size() / kUnitsOfStep;
    if (most > 1 && found.size() > 1) {
      std::vector<bool> all = again;
      for (size_t i = 0; i < std::min(most, found.size()); ++i)
        for (size_t u = 0; u < all.size(); ++u)
          all[u] = all[u] || found[i].again[u];
      std::vector<Tried> together;
      look(together, std::move(all), found.front().outcome.peakBytes);
      if (!together.empty())
        std::swap(found.front(), together.front());
    }
    again = std::move(found.front().again);
    now = std::move(found.front().outcome);
  }

  /// Saves what need not be computed again, the dearest first.
  void saveTheNeedless() {
    std::vector<unsigned> dearest;
    for (unsigned u = 0; u < again.size(); ++u)
      if (again[u])
        dearest.push_back(u);
    std::stable_sort(
        dearest.begin(), dearest.end(), [&](unsigned a, unsigned b) {
          return problem.units[a].seconds > problem.units[b].seconds;
        });
    const int64_t most = std::max(wanted, now.peakBytes);
    for (unsigned u : dearest) {
      again[u] = false;
      std::optional<RematerializationCost> outcome = tried(again);
      if (outcome && outcome->peakBytes <= most &&
          outcome->seconds <= now.seconds)
        now = std::move(*outcome);
      else
        again[u] = true;
    }
  }

  const RematerializationProblem &problem;
  const int64_t wanted;
  const Order order;
  std::vector<bool> again;
  RematerializationCost now; ///< its peak is that of steps that are not final
  std::vector<bool> isFinal;
  mutable size_t work = 0; ///< of all evaluations
};

} // namespace

RematerializationCost brew::passes::evaluate(const RematerializationProblem &problem,
                                        const std::vector<bool> &again) {
  const Needs needs(problem, again);
  const size_t steps = problem.otherBytes.size();
  std::vector<int64_t> changes(steps + 1);
  auto live = [&](const RematerializationUnit &unit, int64_t first, int64_t last) {
    changes[first] += unit.bytes;
    changes[last + 1] -= unit.bytes;
  };
  RematerializationCost result;
  for (size_t u = 0; u < problem.units.size(); ++u) {
    const RematerializationUnit &unit = problem.units[u];
    if (again[u] && needs.isNeeded(u)) {
      result.seconds += unit.seconds;
      live(unit, unit.made, unit.lastForwardUse);
      live(unit, needs.first[u], needs.last[u]);
    } else {
      live(unit, unit.made, std::max(unit.lastForwardUse, needs.last[u]));
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

std::vector<bool> brew::passes::chooseRematerialized(const RematerializationProblem &problem,
                                                int64_t bytes) {
  std::vector<bool> first = Search(problem, bytes, Order::Time).run();
  const int64_t peak = evaluate(problem, first).peakBytes;
  if (peak <= bytes)
    return first;
  std::vector<bool> second = Search(problem, bytes, Order::Peak).run();
  return evaluate(problem, second).peakBytes < peak ? second : first;
}

std::vector<bool> brew::passes::chooseFused(const RematerializationProblem &problem,
                                             double seconds) {
  const RematerializationCost saved =
      evaluate(problem, std::vector<bool>(problem.units.size()));
  // One kernel may make the gradients of all parts of a joined tensor: with
  // that it is fuller than any of its nests.
  auto isFull = [&](const RematerializationUnit &unit) {
    int64_t whole = 0;
    for (unsigned input : unit.inputs)
      whole = std::max(whole, problem.units[input].bytes);
    return !unit.reusesInputMemory &&
           saved.bytesAt[static_cast<size_t>(unit.beside)] + 2 * whole >
               saved.peakBytes;
  };
  std::vector<unsigned> can;
  for (unsigned u = 0; u < problem.units.size(); ++u)
    if (const RematerializationUnit &unit = problem.units[u];
        unit.canRematerialize && unit.beside >= 0 && !isFull(unit))
      can.push_back(u);
  std::stable_sort(can.begin(), can.end(), [&](unsigned a, unsigned b) {
    return problem.units[a].bytes > problem.units[b].bytes;
  });
  std::vector<bool> again(problem.units.size());
  double sum = 0;
  for (unsigned u : can)
    if (sum + problem.units[u].seconds <= seconds) {
      sum += problem.units[u].seconds;
      again[u] = true;
    }
  // What lowers no peak is saved after all; the smallest may do little.
  int64_t peak = evaluate(problem, again).peakBytes;
  for (auto next = can.rbegin(); next != can.rend(); ++next) {
    const unsigned u = *next;
    if (!again[u])
      continue;
    again[u] = false;
    const int64_t now = evaluate(problem, again).peakBytes;
    if (now > peak)
      again[u] = true;
    else
      peak = now;
  }
  return again;
}
