//===- Repulsion.h - Repulsive forces of t-SNE ------------------*- C++ -*-===//
//
// Uses the Barnes-Hut approximation (van der Maaten, "Accelerating t-SNE using
// tree-based algorithms", JMLR 2014) for sixteen neighbouring points at a time.
// The decision whether a cell's mean represents its points is made once for the
// bounding box of the sixteen, and the sums use SIMD vectors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/QuadTree.h"
#include "runtime/cpu/Threads.h"

namespace brew::embedding {

/// Computes the repulsive forces of a layout.
class Repulsion {
public:
  /// The mean of a cell represents its points if the cell's side is less than
  /// `theta` (0 to 1) times the distance. 0: all pairs are exact.
  Repulsion(double theta, const runtime::Threads &threads)
      : squaredTheta(static_cast<float>(theta * theta)), threads(threads) {}

  /// Computes forces(i) = sum over j of q(ij)^2 (y(i) - y(j)), where q(ij) = 1
  /// / (1 + |y(i) - y(j)|^2). Returns the sum of q(ij) over all i != j. The
  /// results are bitwise identical for any number of threads.
  double compute(const Points &points, Points &forces);

private:
  struct InteractionList;
  void collect(std::int32_t begin, std::int32_t end,
               InteractionList &list) const;
  double repel(std::int32_t begin, InteractionList &list, Points &forces) const;

  float squaredTheta;
  const runtime::Threads &threads;
  QuadTree tree;
  std::vector<double> sums; ///< of q, one per sixteen points
};

} // namespace brew::embedding
