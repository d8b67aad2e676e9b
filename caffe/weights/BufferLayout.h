//===- BufferLayout.h - Conversion of plan buffers --------------*- C++ -*-===//
//
// Files and callers have tensors in row-major order of Caffe's dimensions; a
// plan's buffer has its own strides and element type. These functions convert
// between the two.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::caffe {

/// Maps the row-major index of a buffer's value to its position in memory, in
/// elements. Cheap to construct; iterates without a division per element.
class ElementOrder {
public:
  explicit ElementOrder(const plan::Buffer &buffer);

  std::int64_t count() const { return elements; }
  /// Returns whether row-major order is the order in memory, without gaps.
  bool contiguous() const { return isRowMajor; }
  /// Calls visit(first, position, length, step) for runs that cover the
  /// row-major indices [begin, end): `length` values, starting with index
  /// `first`, are at `position`, `position + step`, ...
  template <typename Visit>
  void forEachRun(std::int64_t begin, std::int64_t end, Visit &&visit) const;
  /// Returns the position of a row-major index.
  std::int64_t position(std::int64_t index) const;

private:
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;
  std::int64_t elements = 1;
  bool isRowMajor = true;
};

/// Returns whether a buffer's bytes are dense row-major values of `type`, which
/// need no conversion.
inline bool isDenseRowMajor(const plan::Buffer &buffer, plan::DataType type) {
  return buffer.type() == type && ElementOrder(buffer).contiguous();
}

/// Writes `values` (row-major, one per element) to a buffer, converted to its
/// type. I32 and U8 round towards zero.
void store(const plan::Buffer &buffer, const float *values, std::byte *target);
void store(const plan::Buffer &buffer, const double *values, std::byte *target);
/// Writes the rows [first, first + rows) along the leading dimension only;
/// `values` contains only these rows.
void storeRows(const plan::Buffer &buffer, std::int64_t first,
               std::int64_t rows, const float *values, std::byte *target);
void storeRows(const plan::Buffer &buffer, std::int64_t first,
               std::int64_t rows, const double *values, std::byte *target);

/// Reads a buffer's values in row-major order.
void load(const plan::Buffer &buffer, const std::byte *source, float *values);
void load(const plan::Buffer &buffer, const std::byte *source, double *values);

/// Returns the dimensions in a message as a vector.
inline std::vector<std::int64_t>
toVector(const google::protobuf::RepeatedField<google::protobuf::int64> &dims) {
  return {dims.begin(), dims.end()};
}
/// Returns the number of elements of a shape; 1 for a scalar.
inline std::int64_t product(const std::vector<std::int64_t> &dims) {
  std::int64_t count = 1;
  for (std::int64_t dim : dims)
    count *= dim;
  return count;
}

/// Returns "8 x 3 x 5 x 5", or "a scalar" without dimensions.
std::string shapeText(const std::vector<std::int64_t> &dims);
template <typename Repeated> std::string shapeText(const Repeated &dims) {
  return shapeText(std::vector<std::int64_t>(dims.begin(), dims.end()));
}

//===----------------------------------------------------------------------===//

template <typename Visit>
void ElementOrder::forEachRun(std::int64_t begin, std::int64_t end,
                              Visit &&visit) const {
  if (begin >= end)
    return;
  if (isRowMajor) {
    visit(begin, begin, end - begin, std::int64_t(1));
    return;
  }
  const std::int64_t inner = dims.back();
  const std::int64_t step = strides.back();
  std::int64_t index = begin;
  while (index < end) {
    const std::int64_t column = index % inner;
    const std::int64_t length = std::min(inner - column, end - index);
    visit(index, position(index), length, step);
    index += length;
  }
}

} // namespace brew::caffe
