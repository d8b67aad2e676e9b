//===- CtcAlignment.h - Paths that give a sequence of labels ----*- C++ -*-===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// The forward-backward algorithm of connectionist temporal classification, for
/// one item. A state is a position in the labels with blanks before, between
/// and after them.
class CtcAlignment {
public:
  /// `logs` are log probabilities (steps, alphabet), and must outlive it.
  CtcAlignment(const std::vector<double> &logs, std::int64_t steps,
               std::int64_t alphabet, const std::vector<int> &labels,
               int blank);

  /// Returns log of the probability of the labels; -infinity if there are too
  /// many. Sets log of the sum over the paths through each symbol at each time
  /// step (steps, alphabet).
  double compute(std::vector<double> &symbolSums) const;

private:
  std::size_t index(std::int64_t step, int symbol) const {
    return static_cast<std::size_t>(step * alphabet + symbol);
  }
  /// Returns log probabilities (steps, states) of the paths from the start to
  /// each state, or, reversed, from the end.
  std::vector<double> pathsTo(bool reversed) const;

  const std::vector<double> &logs;
  const std::int64_t steps, alphabet;
  std::vector<int> symbols; ///< of the states
};

} // namespace brew::runtime
