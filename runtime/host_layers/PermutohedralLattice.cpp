//===- PermutohedralLattice.cpp - Gaussian filters of points --------------===//
//
// The lattice of dimension d lies in the hyperplane of d + 1 coordinates whose
// sum is 0. Its vertices of remainder k are the integer points whose
// coordinates are all congruent to k modulo d + 1. The last coordinate follows
// from the others, so that d coordinates identify a vertex.
//
// Positions are computed in 32 bits, with the ties of CRF-RNN's implementation:
// at the border between simplices, they determine which vertices exist.
//
//===----------------------------------------------------------------------===//

#include "runtime/host_layers/PermutohedralLattice.h"

#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {

/// A hash table of vertices, which are numbered from 1.
class PermutohedralLattice::VertexTable {
public:
  VertexTable(int dimensions, std::int64_t expected) : size(dimensions) {
    std::size_t capacity = 16;
    while (capacity < 2 * static_cast<std::size_t>(expected))
      capacity *= 2;
    slots.assign(capacity, 0);
    keys.assign(static_cast<std::size_t>(size), 0); // of no vertex
  }

  std::int64_t count() const {
    return static_cast<std::int64_t>(keys.size()) / size;
  }
  const std::int32_t *key(std::int64_t vertex) const {
    return keys.data() + vertex * size;
  }
  /// Returns the vertex, or 0 if it does not exist.
  std::int32_t find(const std::int32_t *key) const {
    return slots[slotOf(key)];
  }
  std::int32_t findOrAdd(const std::int32_t *key) {
    const std::size_t slot = slotOf(key);
    if (slots[slot])
      return slots[slot];
    const auto vertex = static_cast<std::int32_t>(count());
    keys.insert(keys.end(), key, key + size);
    slots[slot] = vertex;
    if (2 * static_cast<std::size_t>(vertex) >= slots.size())
      grow();
    return vertex;
  }

private:
  /// Returns the slot of the vertex, or the free one that it would get.
  std::size_t slotOf(const std::int32_t *wanted) const {
    std::uint64_t hash = 0;
    for (int i = 0; i < size; ++i)
      hash = (hash + static_cast<std::uint32_t>(wanted[i])) *
             0x9E3779B97F4A7C15u; // 2^64 divided by the golden ratio
    std::size_t slot = (hash >> 32) & (slots.size() - 1);
    while (slots[slot] && !std::equal(wanted, wanted + size, key(slots[slot])))
      slot = (slot + 1) & (slots.size() - 1);
    return slot;
  }
  void grow() {
    slots.assign(2 * slots.size(), 0);
    for (std::int64_t vertex = 1; vertex < count(); ++vertex)
      slots[slotOf(key(vertex))] = static_cast<std::int32_t>(vertex);
  }

  const int size; ///< of a key
  std::vector<std::int32_t> keys, slots;
};

/// Finds the simplex that contains a point.
class PermutohedralLattice::Simplex {
public:
  explicit Simplex(int dimensions)
      : d(dimensions), scale(d), position(d + 1), origin(d + 1), rank(d + 1),
        weights(d + 2), key(d) {
    // Splatting, blurring and slicing have the variance 2/3 (d + 1)^2.
    const double deviation = std::sqrt(2.0 / 3.0) * (d + 1);
    for (int i = 0; i < d; ++i)
      scale[i] = static_cast<float>(1 / std::sqrt(double(i + 2) * (i + 1)) *
                                    static_cast<float>(deviation));
  }

  /// Locates the point with these coordinates.
  void locate(const float *features) {
    elevate(features);
    const int sum = roundToOrigin();
    rankDifferences();
    returnToHyperplane(sum);
    computeWeights();
  }

  /// Returns the key of the vertex of this remainder.
  const std::int32_t *vertex(int remainder) {
    for (int i = 0; i < d; ++i)
      key[i] = origin[i] + remainder - (rank[i] > d - remainder ? d + 1 : 0);
    return key.data();
  }
  float weight(int remainder) const { return weights[remainder]; }

private:
  /// Rotates the point into the hyperplane.
  void elevate(const float *features) {
    float sum = 0;
    for (int i = d; i > 0; --i) {
      const float scaled = features[i - 1] * scale[i - 1];
      position[i] = sum - static_cast<float>(i) * scaled;
      sum += scaled;
    }
    position[0] = sum;
    constexpr float kLimit = 1 << 28;
    for (float x : position)
      if (!(std::fabs(x) < kLimit))
        throw badInput("the image has values that are not finite or too large "
                       "for its filter");
  }

  /// Rounds each coordinate to a multiple of d + 1. Returns the sum of the
  /// multiples.
  int roundToOrigin() {
    const float inverse = 1.0F / static_cast<float>(d + 1);
    int sum = 0;
    for (int i = 0; i <= d; ++i) {
      const int multiple =
          static_cast<int>(std::nearbyint(position[i] * inverse));
      origin[i] = multiple * (d + 1);
      sum += multiple;
    }
    return sum;
  }

  float difference(int i) const {
    return position[i] - static_cast<float>(origin[i]);
  }

  /// Ranks the differences from the origin, largest first.
  void rankDifferences() {
    std::fill(rank.begin(), rank.end(), 0);
    for (int i = 0; i < d; ++i)
      for (int j = i + 1; j <= d; ++j)
        ++rank[difference(i) < difference(j) ? i : j];
  }

  /// Moves an origin outside of the hyperplane to its nearest one.
  void returnToHyperplane(int sum) {
    for (int i = 0; i <= d; ++i) {
      rank[i] += sum;
      const int shift = rank[i] < 0 ? d + 1 : rank[i] > d ? -(d + 1) : 0;
      rank[i] += shift;
      origin[i] += shift;
    }
  }

  void computeWeights() {
    const float inverse = 1.0F / static_cast<float>(d + 1);
    std::fill(weights.begin(), weights.end(), 0.0F);
    for (int i = 0; i <= d; ++i) {
      const float value = difference(i) * inverse;
      weights[d - rank[i]] += value;
      weights[d - rank[i] + 1] -= value;
    }
    weights[0] += 1 + weights[d + 1];
  }

  const int d;
  std::vector<float> scale, position;
  std::vector<std::int32_t> origin; ///< the nearest vertex of remainder 0
  std::vector<int> rank;
  std::vector<float> weights;
  std::vector<std::int32_t> key;
};

PermutohedralLattice::PermutohedralLattice(const std::vector<float> &features,
                                           int dimensions)
    : axes(dimensions + 1),
      points(static_cast<std::int64_t>(features.size()) / dimensions) {
  VertexTable table(dimensions, points);
  Simplex simplex(dimensions);
  corners.reserve(static_cast<std::size_t>(points * axes));
  for (std::int64_t i = 0; i < points; ++i) {
    simplex.locate(features.data() + i * dimensions);
    for (int k = 0; k < axes; ++k)
      corners.push_back(
          {table.findOrAdd(simplex.vertex(k)), simplex.weight(k)});
  }
  vertices = table.count();
  findNeighbours(table);
}

void PermutohedralLattice::findNeighbours(const VertexTable &table) {
  const int d = axes - 1;
  std::vector<std::int32_t> before(d), after(d);
  neighbours.assign(static_cast<std::size_t>(axes * vertices), {0, 0});
  for (int axis = 0; axis < axes; ++axis)
    for (std::int64_t vertex = 1; vertex < vertices; ++vertex) {
      const std::int32_t *key = table.key(vertex);
      for (int i = 0; i < d; ++i) {
        before[i] = key[i] - (i == axis ? -d : 1);
        after[i] = key[i] + (i == axis ? -d : 1);
      }
      neighbours[axis * vertices + vertex] = {table.find(before.data()),
                                              table.find(after.data())};
    }
}

template <typename Real>
std::vector<Real> PermutohedralLattice::splat(const Real *values,
                                              std::int64_t channels) const {
  std::vector<Real> result(static_cast<std::size_t>(vertices * channels));
  for (std::int64_t i = 0; i < points; ++i)
    for (int k = 0; k < axes; ++k) {
      const Corner &corner = corners[i * axes + k];
      Real *sum = result.data() + corner.vertex * channels;
      for (std::int64_t channel = 0; channel < channels; ++channel)
        sum[channel] += corner.weight * values[channel * points + i];
    }
  return result;
}

template <typename Real>
void PermutohedralLattice::blur(std::vector<Real> &values,
                                std::int64_t channels, int axis) const {
  std::vector<Real> result(values.size());
  for (std::int64_t vertex = 1; vertex < vertices; ++vertex) {
    const Neighbours &around = neighbours[axis * vertices + vertex];
    const Real *before = values.data() + around.before * channels,
               *after = values.data() + around.after * channels,
               *center = values.data() + vertex * channels;
    Real *out = result.data() + vertex * channels;
    for (std::int64_t channel = 0; channel < channels; ++channel)
      out[channel] = center[channel] + static_cast<Real>(0.5) *
                                           (before[channel] + after[channel]);
  }
  values.swap(result);
}

template <typename Real>
std::vector<Real> PermutohedralLattice::filter(const Real *values,
                                               std::int64_t channels,
                                               bool transposed) const {
  std::vector<Real> blurred = splat(values, channels);
  for (int i = 0; i < axes; ++i)
    blur(blurred, channels, transposed ? axes - 1 - i : i);
  // Blurring multiplies a constant by 2 along each axis. This factor is that
  // of the widely used implementation.
  const auto scale =
      static_cast<Real>(1 / (1 + std::pow(2.0, -double(axes - 1))));
  std::vector<Real> result(static_cast<std::size_t>(points * channels));
  for (std::int64_t i = 0; i < points; ++i)
    for (int k = 0; k < axes; ++k) {
      const Corner &corner = corners[i * axes + k];
      const Real *value = blurred.data() + corner.vertex * channels;
      for (std::int64_t channel = 0; channel < channels; ++channel)
        result[channel * points + i] += corner.weight * value[channel] * scale;
    }
  return result;
}

template std::vector<float>
PermutohedralLattice::filter<float>(const float *, std::int64_t, bool) const;
template std::vector<double>
PermutohedralLattice::filter<double>(const double *, std::int64_t, bool) const;

} // namespace brew::runtime
