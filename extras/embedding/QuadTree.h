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
  std::int32_t next;       ///< index of the cell after this one's descendants
  bool leaf;
  float mass() const { return static_cast<float>(end - begin); }
};

/// A quadtree over points. build() may be called repeatedly and reuses the
/// buffers.
class QuadTree {
public:
  void build(const Points &points);

  /// Returns the cells in pre-order: the first child of a cell follows it in
  /// the list. QuadTreeCell::next skips a cell with its descendants.
  const std::vector<QuadTreeCell> &cells() const { return nodes; }
  /// Returns the points in Z-order, so that the points of a cell are
  /// contiguous.
  const Points &sorted() const { return ordered; }
  /// Returns, for each sorted point, its index in the argument of build().
  const std::vector<std::int32_t> &order() const { return indices; }

private:
  void sortPoints(const Points &points);
  void addCell(std::int32_t begin, std::int32_t end, int level, float side);

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
