//===- Repulsion.h - What drives the points apart ---------------*- C++ -*-===//
//
// Barnes and Hut's approximation (as in van der Maaten, "Accelerating t-SNE
// using tree-based algorithms", JMLR 2014), for sixteen neighbouring points at
// a time: what a cell's mean may stand for is decided once for all of them,
// by the nearest place that one of them could have, and the sums are vectors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/QuadTree.h"
#include "runtime/cpu/Threads.h"

namespace brew::embedding {

class Repulsion {
public:
  /// A cell's mean stands for its points where its side is less than `theta`
  /// (0 to 1) times the distance. 0: every pair counts.
  Repulsion(double theta, const runtime::Threads &threads)
      : squaredTheta(static_cast<float>(theta * theta)), threads(threads) {}

  /// With q(ij) = 1 / (1 + |y(i) - y(j)|^2): forces(i) is the sum over j of
  /// q(ij)^2 (y(i) - y(j)). Returns the sum of q(ij) over all i and j that
  /// differ. The same bits for any number of threads.
  double compute(const Points &points, Points &forces);

private:
  struct InteractionList;
  void collect(std::int32_t begin, std::int32_t end, InteractionList &list) const;
  double repel(std::int32_t begin, InteractionList &list, Points &forces) const;

  float squaredTheta;
  const runtime::Threads &threads;
  QuadTree tree;
  std::vector<double> sums; ///< of q, of sixteen points each
};

} // namespace brew::embedding
