//===- QuadTree.h - Quadtree over points of a plane -------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::embedding {

/// Points of a plane as separate arrays of coordinates.
struct Points {
  std::vector<float> x, y;
  std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
};

/// A cell of the tree, represented by the mean of its points.
struct QuadTreeCell {
  float x, y;
  float side;              ///< of the cell
  std::int32_t begin, end; ///< range of its points in the tree's order
  std::int32_t next;       ///< the cell after the descendants of this one
  bool leaf;
  float mass() const { return static_cast<float>(end - begin); }
};

/// A quadtree over points. build() may be called repeatedly and reuses the
/// buffers.
class QuadTree {
public:
  void build(const Points &points);

  /// The cells in pre-order: the following cell of the list descends into a
  /// cell, QuadTreeCell::next skips it.
  const std::vector<QuadTreeCell> &cells() const { return nodes; }
  /// The points in Z-order, so that those of a cell are contiguous.
  const Points &sorted() const { return ordered; }
  /// The indices of the sorted points in the caller's order.
  const std::vector<std::int32_t> &order() const { return indices; }

private:
  void sort(const Points &points);
  void add(std::int32_t begin, std::int32_t end, int level, float side);

  struct Keyed {
    std::uint64_t key;
    std::int32_t index;
  };
  std::vector<Keyed> keys, scratch;
  std::vector<std::int32_t> indices;
  Points ordered;
  float width = 0; ///< side of the root cell
  std::vector<QuadTreeCell> nodes;
};

} // namespace brew::embedding
