//===- PermutohedralLattice.h - Gaussian filters of points ------*- C++ -*-===//
//
// Adams, Baek and Davis, "Fast high-dimensional filtering using the
// permutohedral lattice", Eurographics 2010: a Gaussian filter of the values at
// scattered points. Each point distributes its value among the vertices of the
// simplex that contains it (splatting), the values of neighbouring vertices are
// blurred along each axis of the lattice, and each point interpolates the
// result (slicing).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::runtime {

class PermutohedralLattice {
public:
  PermutohedralLattice() = default;
  /// `features` are the coordinates of one point after the other, in standard
  /// deviations of the filter. Throws Error (1) if a coordinate is not finite
  /// or too large.
  PermutohedralLattice(const std::vector<float> &features, int dimensions);

  std::int64_t pointCount() const { return points; }

  /// Filters `channels` values of each point: value `channel` of point `i` is
  /// at `channel` * pointCount() + i. `transposed` is the transpose of this
  /// linear function.
  template <typename Real>
  std::vector<Real> filter(const Real *values, std::int64_t channels,
                           bool transposed) const;

private:
  /// A vertex of the simplex of a point and its barycentric coordinate.
  struct Corner {
    std::int32_t vertex;
    float weight;
  };
  /// The neighbours of a vertex along one axis.
  struct Neighbours {
    std::int32_t before, after;
  };
  class VertexTable;
  class Simplex;

  void findNeighbours(const VertexTable &table);
  template <typename Real>
  std::vector<Real> splat(const Real *values, std::int64_t channels) const;
  template <typename Real>
  void blur(std::vector<Real> &values, std::int64_t channels, int axis) const;

  int axes = 0; ///< one more than dimensions
  std::int64_t points = 0;
  std::int64_t vertices = 1;          ///< vertex 0 stands for all absent ones
  std::vector<Corner> corners;        ///< `axes` for each point
  std::vector<Neighbours> neighbours; ///< of all vertices, for each axis
};

} // namespace brew::runtime
