//===- Numbers.h - Elements of the simulated libraries' types ---*- C++ -*-===//
#ifndef CUDASIM_NUMBERS_H
#define CUDASIM_NUMBERS_H

#include "../device/HalfBits.h"

#include <cstdint>
#include <cstring>

namespace cudasim {

enum class Type { F32, F64, F16, BF16 };

inline unsigned byteSize(Type type) {
  switch (type) {
  case Type::F32:
    return 4;
  case Type::F64:
    return 8;
  case Type::F16:
  case Type::BF16:
    return 2;
  }
  return 0;
}

/// Returns element `index` of an array, converted to the compute type T.
template <class T>
T loadNumber(Type type, const void *data, std::int64_t index) {
  const char *address =
      static_cast<const char *>(data) + index * byteSize(type);
  float single;
  double wide;
  unsigned short half;
  switch (type) {
  case Type::F32:
    std::memcpy(&single, address, sizeof(single));
    return static_cast<T>(single);
  case Type::F64:
    std::memcpy(&wide, address, sizeof(wide));
    return static_cast<T>(wide);
  case Type::F16:
    std::memcpy(&half, address, sizeof(half));
    return floatFromHalf(half);
  case Type::BF16:
    std::memcpy(&half, address, sizeof(half));
    return floatFromBfloat(half);
  }
  return 0;
}

template <class T>
void storeNumber(Type type, void *data, std::int64_t index, T value) {
  char *address = static_cast<char *>(data) + index * byteSize(type);
  float single = static_cast<float>(value);
  double wide = value;
  unsigned short half;
  switch (type) {
  case Type::F32:
    std::memcpy(address, &single, sizeof(single));
    return;
  case Type::F64:
    std::memcpy(address, &wide, sizeof(wide));
    return;
  case Type::F16:
    half = halfFromFloat(single);
    std::memcpy(address, &half, sizeof(half));
    return;
  case Type::BF16:
    half = bfloatFromFloat(single);
    std::memcpy(address, &half, sizeof(half));
    return;
  }
}

/// Rounds to TF32: ten bits of fraction, to nearest even.
inline float roundToTf32(float value) {
  unsigned bits = floatBits(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  bits += 0xfff + (bits >> 13 & 1);
  return floatFromBits(bits & ~0x1fffu);
}

} // namespace cudasim

#endif // CUDASIM_NUMBERS_H
