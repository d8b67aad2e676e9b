//===- Blob.h - A tensor as Caffe's files hold it ---------------*- C++ -*-===//
//
// The plain form of caffe::BlobProto: weights, solver history, mean images.
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
  std::vector<float> floats;   ///< the values, unless the file had doubles
  std::vector<double> doubles; ///< the values, if the file had doubles
  /// The shape came as num/channels/height/width: always four extents, padded
  /// with ones on the left.
  bool legacyShape = false;

  bool isDouble() const { return !doubles.empty(); }
  /// Number of values held.
  size_t size() const { return isDouble() ? doubles.size() : floats.size(); }
  /// The values in single precision, converted if need be.
  std::vector<float> toFloats() const;
  std::vector<double> toDoubles() const;
};

/// Product of `dims`; Error(1) for a negative extent or a product beyond 2^62.
/// `where` starts the message.
int64_t elementCount(const std::vector<int64_t> &dims,
                     const std::string &where);

/// "64x3x5x5", "scalar" for none.
std::string dimsText(const std::vector<int64_t> &dims);

/// The value of an IEEE half-precision number.
float halfToFloat(uint16_t half);

/// Takes the values of `proto` and frees them there, so that a large file is
/// not held twice; half-precision ones become floats. Error(1) if shape and
/// number of values disagree.
Blob takeBlob(caffe::BlobProto &proto, const std::string &where);

/// Fills `proto`; in the old four extents if `legacyShape`.
void fillBlobProto(const Blob &blob, caffe::BlobProto &proto);

} // namespace brew::formats
