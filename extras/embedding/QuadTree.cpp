//===- QuadTree.cpp - Quadtree over points of a plane ---------------------===//

#include "extras/embedding/QuadTree.h"

#include <algorithm>
#include <array>

namespace brew::embedding {
namespace {

/// Bits of a coordinate: the smallest cell has 2^-kBits of the root's side.
constexpr int kBits = 22;
constexpr std::int32_t kLeafPoints = 8;
constexpr int kDigitBits = 11; ///< bits sorted at a time

/// Moves the bits to the even positions.
std::uint64_t spreadBits(std::uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000ffff0000ffffull;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffull;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0full;
  bits = (bits | bits << 2) & 0x3333333333333333ull;
  return (bits | bits << 1) & 0x5555555555555555ull;
}

} // namespace

void QuadTree::sortPoints(const Points &points) {
  const auto size = static_cast<std::size_t>(points.size());
  const auto [left, right] =
      std::minmax_element(points.x.begin(), points.x.end());
  const auto [bottom, top] =
      std::minmax_element(points.y.begin(), points.y.end());
  const double side = std::max(double(*right) - *left, double(*top) - *bottom);
  const double scale = side > 0 ? ((1 << kBits) - 1) / side : 0;
  keys.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto x =
        static_cast<std::uint64_t>((double(points.x[i]) - *left) * scale);
    const auto y =
        static_cast<std::uint64_t>((double(points.y[i]) - *bottom) * scale);
    keys[i] = {spreadBits(x) | spreadBits(y) << 1,
               static_cast<std::int32_t>(i)};
  }
  // Radix sort from the lowest digit. It is stable, so equal keys keep their
  // order.
  scratch.resize(size);
  for (int shift = 0; shift < 2 * kBits; shift += kDigitBits) {
    std::array<std::size_t, (1 << kDigitBits) + 1> begins{};
    auto digit = [&](const Keyed &item) {
      return item.key >> shift & ((1 << kDigitBits) - 1);
    };
    for (const Keyed &item : keys)
      ++begins[digit(item) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i)
      begins[i] += begins[i - 1];
    for (const Keyed &item : keys)
      scratch[begins[digit(item)]++] = item;
    keys.swap(scratch);
  }
  indices.resize(size);
  ordered.x.resize(size);
  ordered.y.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    indices[i] = keys[i].index;
    ordered.x[i] = points.x[indices[i]];
    ordered.y[i] = points.y[indices[i]];
  }
  width = static_cast<float>(side);
}

void QuadTree::build(const Points &points) {
  sortPoints(points);
  nodes.clear();
  addCell(0, static_cast<std::int32_t>(points.size()), 0, width);
}

void QuadTree::addCell(std::int32_t begin, std::int32_t end, int level,
                       float side) {
  // Skip levels at which all points lie in the same quarter.
  auto quarter = [&](std::int32_t i) {
    return keys[i].key >> (2 * (kBits - 1 - level)) & 3;
  };
  while (level < kBits && quarter(begin) == quarter(end - 1)) {
    ++level;
    side /= 2;
  }
  const std::size_t node = nodes.size();
  nodes.push_back({0, 0, side, begin, end, 0,
                   end - begin <= kLeafPoints || level >= kBits});
  double x = 0, y = 0;
  if (nodes[node].leaf) {
    for (std::int32_t i = begin; i < end; ++i) {
      x += ordered.x[i];
      y += ordered.y[i];
    }
  } else {
    for (std::int32_t from = begin; from < end;) {
      std::int32_t to = from + 1;
      for (std::int32_t step = 1; step > 0;) { // galloping search
        if (to + step <= end && quarter(to + step - 1) == quarter(from)) {
          to += step;
          step *= 2;
        } else {
          step /= 2;
        }
      }
      const std::size_t child = nodes.size();
      addCell(from, to, level + 1, side / 2);
      x += double(nodes[child].x) * nodes[child].mass();
      y += double(nodes[child].y) * nodes[child].mass();
      from = to;
    }
  }
  QuadTreeCell &cell = nodes[node];
  cell.x = static_cast<float>(x / cell.mass());
  cell.y = static_cast<float>(y / cell.mass());
  cell.next = static_cast<std::int32_t>(nodes.size());
}

} // namespace brew::embedding
