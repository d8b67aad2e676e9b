//===- Blob.h - Tensors in Caffe's files ------------------------*- C++ -*-===//
//
// The decoded form of caffe::BlobProto: weights, solver history, mean images.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brew::caffe {
class BlobProto;
}

namespace brew::formats {

/// Values in row-major order, in one of two precisions.
struct Blob {
  std::vector<int64_t> dims;   ///< outermost first; empty: one value
  std::vector<float> floats;   ///< the values, unless the file has doubles
  std::vector<double> doubles; ///< the values, if the file has doubles
  /// The shape is stored as num/channels/height/width, or in C3D 1.0 with a
  /// length before the height: always four or five extents, padded with ones on
  /// the left.
  bool legacyShape = false;

  bool isDouble() const { return !doubles.empty(); }
  /// Returns the number of values.
  size_t size() const { return isDouble() ? doubles.size() : floats.size(); }
  /// Returns the values in single precision, converted if necessary.
  std::vector<float> toFloats() const;
  std::vector<double> toDoubles() const;
};

/// Returns the product of `dims`. Throws Error(1), prefixed with `where`, for a
/// negative extent or a product beyond 2^62.
int64_t elementCount(const std::vector<int64_t> &dims,
                     const std::string &where);

/// Returns "64x3x5x5", or "scalar" without dimensions.
std::string dimsText(const std::vector<int64_t> &dims);

/// Converts an IEEE half-precision number.
float halfToFloat(uint16_t half);

/// Moves the values out of `proto`, so that a large file is not in memory
/// twice. Converts half precision to floats, and reads C3D 1.0's format with
/// five extents. Throws Error(1) if the shape does
/// not match the number of values.
Blob takeBlob(caffe::BlobProto &proto, const std::string &where);

/// Writes `blob` to `proto`, with the four legacy extents if `legacyShape`.
void fillBlobProto(const Blob &blob, caffe::BlobProto &proto);

} // namespace brew::formats
