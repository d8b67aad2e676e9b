//===- Repulsion.cpp - Repulsive forces of t-SNE --------------------------===//

#include "extras/embedding/Repulsion.h"

#include "extras/embedding/Lanes.h"
#include "extras/embedding/MatrixProducts.h"

#include <algorithm>

namespace brew::embedding {
namespace {

/// Points of one task of the parallel loop.
constexpr std::int64_t kBlockPoints = 16 * kLanes;

/// Computes the forces on sixteen points. `sums` receives sixteen values each
/// of x, y and q.
BREW_EMBED_INLINE void sumForces(const float *x, const float *y,
                                 const float *otherX, const float *otherY,
                                 const float *mass, std::size_t count,
                                 float *sums) {
  const Lanes ownX = BREW_EMBED_LOAD(x), ownY = BREW_EMBED_LOAD(y);
  Lanes forceX = {}, forceY = {}, total = {};
  for (std::size_t i = 0; i < count; ++i) {
    const Lanes dx = ownX - otherX[i], dy = ownY - otherY[i];
    const Lanes q = 1 / (1 + dx * dx + dy * dy);
    const Lanes weightedQ = q * mass[i];
    const Lanes force = weightedQ * q;
    total += weightedQ;
    forceX += force * dx;
    forceY += force * dy;
  }
  std::memcpy(sums, &forceX, sizeof forceX);
  std::memcpy(sums + kLanes, &forceY, sizeof forceY);
  std::memcpy(sums + 2 * kLanes, &total, sizeof total);
}
BREW_EMBED_FOR_PROCESSORS(void, forcesOn,
                          (const float *x, const float *y, const float *otherX,
                           const float *otherY, const float *mass,
                           std::size_t count, float *sums),
                          sumForces, (x, y, otherX, otherY, mass, count, sums))

} // namespace

/// The cell means and single points that act on sixteen points.
struct Repulsion::InteractionList {
  std::vector<float> x, y, mass;
  void clear() {
    x.clear();
    y.clear();
    mass.clear();
  }
  void add(float pointX, float pointY, float weight) {
    x.push_back(pointX);
    y.push_back(pointY);
    mass.push_back(weight);
  }
};

double Repulsion::compute(const Points &points, Points &forces) {
  tree.build(points);
  forces.x.resize(points.x.size());
  forces.y.resize(points.y.size());
  sums.assign((points.x.size() + kLanes - 1) / kLanes, 0);
  parallelForBlocks(threads, points.size(), kBlockPoints,
                    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                      InteractionList list;
                      for (std::int64_t i = begin; i < end; i += kLanes)
                        sums[i / kLanes] =
                            repel(static_cast<std::int32_t>(i), list, forces);
                    });
  double total = 0;
  for (double sum : sums)
    total += sum;
  return total;
}

void Repulsion::collect(std::int32_t begin, std::int32_t end,
                        InteractionList &list) const {
  const Points &points = tree.sorted();
  const auto [left, right] =
      std::minmax_element(points.x.begin() + begin, points.x.begin() + end);
  const auto [bottom, top] =
      std::minmax_element(points.y.begin() + begin, points.y.begin() + end);
  const std::vector<QuadTreeCell> &cells = tree.cells();
  for (std::size_t at = 0; at < cells.size();) {
    const QuadTreeCell &cell = cells[at];
    const float dx = std::max({*left - cell.x, cell.x - *right, 0.0f});
    const float dy = std::max({*bottom - cell.y, cell.y - *top, 0.0f});
    // A cell that contains some of the sixteen points is never approximated.
    const bool isDisjoint = cell.end <= begin || cell.begin >= end;
    if (isDisjoint &&
        cell.side * cell.side < squaredTheta * (dx * dx + dy * dy)) {
      list.add(cell.x, cell.y, cell.mass());
      at = static_cast<std::size_t>(cell.next);
    } else if (cell.leaf) {
      for (std::int32_t i = cell.begin; i < cell.end; ++i)
        list.add(points.x[i], points.y[i], 1);
      at = static_cast<std::size_t>(cell.next);
    } else {
      ++at;
    }
  }
}

double Repulsion::repel(std::int32_t begin, InteractionList &list,
                        Points &forces) const {
  const Points &points = tree.sorted();
  const auto end = static_cast<std::int32_t>(
      std::min<std::int64_t>(begin + kLanes, points.size()));
  list.clear();
  collect(begin, end, list);
  float x[kLanes] = {}, y[kLanes] = {}, result[3 * kLanes];
  std::copy(points.x.begin() + begin, points.x.begin() + end, x);
  std::copy(points.y.begin() + begin, points.y.begin() + end, y);
  forcesOn(x, y, list.x.data(), list.y.data(), list.mass.data(), list.x.size(),
           result);
  double sum = 0;
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t lane = i - begin, point = tree.order()[i];
    forces.x[point] = result[lane];
    forces.y[point] = result[kLanes + lane];
    sum += double(result[2 * kLanes + lane]) - 1; // without q(ii) = 1
  }
  return sum;
}

} // namespace brew::embedding
