//===- QuadTree.h - Points of a plane by cells ----------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::embedding {

/// Points of a plane, coordinate by coordinate.
struct Points {
  std::vector<float> x, y;
  std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
};

/// A cell's points, by their mean.
struct QuadTreeCell {
  float x, y;
  float side;              ///< of the cell
  std::int32_t begin, end; ///< its points, in the tree's order
  std::int32_t next;       ///< the cell after all those within this one
  bool leaf;
  float mass() const { return static_cast<float>(end - begin); }
};

/// Squares that hold few points, within cells of twice their side and so on.
/// Made anew for each layout, in buffers that stay.
class QuadTree {
public:
  void build(const Points &points);

  /// Each before those within it: going on with the next of the list goes into
  /// a cell, with QuadTreeCell::next around it.
  const std::vector<QuadTreeCell> &cells() const { return nodes; }
  /// The points along a curve that fills one cell after the other.
  const Points &sorted() const { return ordered; }
  /// Where in the caller's order a sorted point is.
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
  float width = 0; ///< of the whole
  std::vector<QuadTreeCell> nodes;
};

} // namespace brew::embedding
