//===- Float16.h - 16-bit floating-point numbers ----------------*- C++ -*-===//
//
// The elements of buffers of mixed-precision plans. Conversion rounds to
// nearest, ties to even, as devices do.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace brew::caffe {

/// bfloat16: the upper half of a float.
class BFloat16 {
public:
  BFloat16() = default;
  explicit BFloat16(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    if (std::isnan(value))
      bits = static_cast<std::uint16_t>(word >> 16 | 0x40);
    else
      bits =
          static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  explicit operator float() const {
    const std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  explicit operator double() const { return float(*this); }

private:
  std::uint16_t bits = 0;
};

/// IEEE's binary16.
class Float16 {
public:
  Float16() = default;
  explicit Float16(float value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) {
      bits = sign | 0x7e00;
    } else if (magnitude >= 65520.0f) { // rounds to infinity
      bits = sign | 0x7c00;
    } else if (magnitude < 6.103515625e-05f) { // a subnormal: multiple of 2^-24
      bits = sign | static_cast<std::uint16_t>(
                        std::nearbyint(std::ldexp(magnitude, 24)));
    } else {
      int exponent = 0;
      const float fraction = std::frexp(magnitude, &exponent); // [0.5, 1)
      // If the fraction rounds up to 1, the sum carries into the exponent.
      bits = sign |
             static_cast<std::uint16_t>(((exponent + 14) << 10) +
                                        static_cast<int>(std::nearbyint(
                                            std::ldexp(fraction, 11) - 1024)));
    }
  }
  explicit operator float() const {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    float value = 0;
    if (exponent == 0x1f)
      value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
      value = std::ldexp(float(fraction), -24);
    else
      value = std::ldexp(float(fraction + 1024), exponent - 25);
    return bits & 0x8000 ? -value : value;
  }
  explicit operator double() const { return float(*this); }

private:
  std::uint16_t bits = 0;
};

static_assert(sizeof(BFloat16) == 2 && sizeof(Float16) == 2);

} // namespace brew::caffe
