//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

struct NpyArray {
  std::vector<std::int64_t> dims;
  std::vector<float> values; ///< row-major
};

/// Reads a .npy file (format 1 to 3; floats of 4 or 8 bytes, integers of 1 to
/// 8, booleans; little-endian; row-major, which NumPy calls C order). Throws
/// Error(3) if it cannot be opened, Error(1) if it is damaged or of another
/// type.
NpyArray readNpy(const std::string &path);

} // namespace brew::formats
