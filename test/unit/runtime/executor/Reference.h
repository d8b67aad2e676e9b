//===- Reference.h - Tensors in double precision for comparison -*- C++ -*-===//
#pragma once

#include "PlanBuilder.h"
#include "caffe/weights/Float16.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/executor/Executor.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <initializer_list>
#include <random>
#include <vector>

namespace brew::test {

/// Row-major values, copied to and from buffers of any strides.
struct Tensor {
  Dims dims;
  std::vector<double> values;

  /// Fills the tensor with random multiples of 1/8 in [-1, 1]. These values,
  /// and sums of a few thousand of their products, are exact in f32.
  Tensor(const Dims &dims, unsigned seed) : dims(dims) {
    std::int64_t count = 1;
    for (std::int64_t dim : dims)
      count *= dim;
    std::mt19937 random(seed);
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int>(random() % 17) / 8.0 - 1.0);
  }

  double &at(std::initializer_list<std::int64_t> index) {
    std::int64_t flat = 0;
    std::size_t d = 0;
    for (std::int64_t i : index)
      flat = flat * dims[d++] + i;
    return values[static_cast<std::size_t>(flat)];
  }

  void add(const Tensor &other) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += other.values[i];
  }

  /// Returns the position in memory of row-major element `i` of a buffer.
  static std::int64_t position(const plan::Buffer &buffer, std::size_t i) {
    auto remaining = static_cast<std::int64_t>(i);
    std::int64_t result = 0;
    for (int d = buffer.dims_size() - 1; d >= 0; --d) {
      result += remaining % buffer.dims(d) * buffer.strides(d);
      remaining /= buffer.dims(d);
    }
    return result;
  }

  /// Fills the complete buffer, including gaps, with kGap, then writes the
  /// elements.
  void store(runtime::Executor &executor, std::uint32_t index) const {
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    if (buffer.type() == plan::BF16)
      storeAs<caffe::BFloat16>(executor, buffer);
    else
      storeAs<float>(executor, buffer);
  }

  /// Expects f32 elements with relative and absolute errors of at most 1e-6
  /// (sums of the inputs are exact; a slope or another order adds rounding
  /// errors), and unchanged gaps between elements. bf16 elements may have been
  /// rounded `roundings` times.
  void expectNear(runtime::Executor &executor, std::uint32_t index,
                  int roundings = 1) const {
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    if (buffer.type() == plan::BF16) // half the distance of adjacent numbers
      expectNearAs<caffe::BFloat16>(executor, index, roundings * 0x1p-8);
    else
      expectNearAs<float>(executor, index, 1e-6);
  }

private:
  template <typename T>
  void storeAs(runtime::Executor &executor, const plan::Buffer &buffer) const {
    std::vector<T> memory(buffer.size() / sizeof(T), T(kGap));
    for (std::size_t i = 0; i < values.size(); ++i)
      memory[static_cast<std::size_t>(position(buffer, i))] =
          T(static_cast<float>(values[i]));
    executor.uploadBytes(buffer.arena_index(), buffer.offset(), memory.data(),
                         buffer.size());
  }

  template <typename T>
  void expectNearAs(runtime::Executor &executor, std::uint32_t index,
                    double tolerance) const {
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    std::vector<T> memory(buffer.size() / sizeof(T));
    executor.download(index, reinterpret_cast<std::byte *>(memory.data()));
    std::vector<bool> isElement(memory.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t memoryIndex = position(buffer, i);
      isElement[static_cast<std::size_t>(memoryIndex)] = true;
      ASSERT_NEAR(
          static_cast<float>(memory[static_cast<std::size_t>(memoryIndex)]),
          values[i], tolerance * std::abs(values[i]) + 1e-6)
          << "buffer '" << buffer.name() << "', element " << i;
    }
    for (std::size_t i = 0; i < isElement.size(); ++i)
      if (!isElement[i]) {
        ASSERT_EQ(static_cast<float>(memory[i]), static_cast<float>(T(kGap)))
            << "gap " << i << " of buffer '" << buffer.name() << "'";
      }
  }

  static constexpr float kGap = -12345.0f;
};

/// Returns whether library calls support operands of this type.
inline bool supportsCallsWith(plan::DataType type) {
  return type == plan::F32 || std::getenv("BREW_TEST_CUDASIM") ||
         runtime::cpuHasFeature("avx512bf16");
}

} // namespace brew::test
