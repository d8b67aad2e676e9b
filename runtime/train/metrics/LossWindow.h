//===- LossWindow.h - Moving average of the loss ----------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace brew::runtime {

/// The most recent losses and their mean, the displayed loss (average_loss).
///
/// Each change sums the window again. A running sum would never recover from a
/// loss that is not finite or large enough to round the others away. A window
/// of a thousand losses takes about a microsecond.
class LossWindow {
public:
  /// Appends a loss and keeps the last `size`, at least one.
  void add(double loss, int size);
  /// Keeps the last `size` losses.
  void shrink(int size);
  /// Replaces all losses, oldest first.
  void assign(const std::vector<double> &oldestFirst);
  void clear() { assign({}); }

  /// Returns the mean, or 0 if there are no losses.
  double mean() const { return average; }
  const std::deque<double> &losses() const { return window; }

private:
  void update();

  std::deque<double> window; ///< oldest first
  double average = 0;
};

} // namespace brew::runtime
