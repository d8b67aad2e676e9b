//===- Arrays.h - NumPy arrays and bytes ------------------------*- C++ -*-===//
#pragma once

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace brew::python {

/// A writable, contiguous array of floats on the CPU.
using FloatArray =
    nanobind::ndarray<float, nanobind::c_contig, nanobind::device::cpu>;

inline std::vector<std::int64_t> shapeOf(const FloatArray &array) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
  return shape;
}

inline std::string_view viewOf(const nanobind::bytes &bytes) {
  return {static_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace brew::python
