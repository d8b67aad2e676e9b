//===- StridedCopyTest.cpp - Copies between any strides ------------===//
#include "runtime/cpu/StridedCopy.h"
#include "PlanBuilder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace brew;
using namespace brew::runtime;
using namespace brew::test;

namespace {

plan::Buffer makeBuffer(const Dims &dims, const Dims &strides,
                        plan::DataType type) {
  plan::Buffer buffer;
  buffer.set_type(type);
  std::int64_t lastElement = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    buffer.add_dims(dims[d]);
    buffer.add_strides(strides[d]);
    lastElement += (dims[d] - 1) * strides[d];
  }
  buffer.set_size((static_cast<std::uint64_t>(lastElement) + 1) *
                  plan::elementSize(type));
  return buffer;
}

/// Returns the positions of a buffer's elements in the order of its dimensions.
std::vector<std::int64_t> elementPositions(const plan::Buffer &buffer) {
  std::vector<std::int64_t> result(
      static_cast<std::size_t>(plan::elementCount(buffer)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto remaining = static_cast<std::int64_t>(i);
    for (int d = buffer.dims_size() - 1; d >= 0; --d) {
      result[i] += remaining % buffer.dims(d) * buffer.strides(d);
      remaining /= buffer.dims(d);
    }
  }
  return result;
}

void expectExactCopy(const Dims &dims, const Dims &sourceStrides,
                     const Dims &targetStrides, plan::DataType type,
                     int workers) {
  plan::Buffer source = makeBuffer(dims, sourceStrides, type);
  plan::Buffer target = makeBuffer(dims, targetStrides, type);
  std::size_t element = plan::elementSize(type);
  // The heap blocks have the exact size, so that sanitizers detect overruns.
  std::vector<std::byte> in(source.size()), out(target.size(), std::byte(0xee));
  std::mt19937 random(7);
  for (std::byte &byte : in)
    byte = std::byte(random());
  std::vector<std::byte> expected = out;
  auto sources = elementPositions(source), targets = elementPositions(target);
  for (std::size_t i = 0; i < sources.size(); ++i)
    std::memcpy(&expected[static_cast<std::size_t>(targets[i]) * element],
                &in[static_cast<std::size_t>(sources[i]) * element], element);
  StridedCopy(source, in.data(), target, out.data()).run(Threads(workers));
  EXPECT_EQ(out, expected);
}

TEST(StridedCopy, CopiesEveryOrderOfFourDimensions) {
  Dims dims = {3, 5, 40, 7};
  std::vector<int> first = {0, 1, 2, 3};
  do {
    std::vector<int> second = {0, 1, 2, 3};
    do
      expectExactCopy(dims, stridesFor(dims, first), stridesFor(dims, second),
                      plan::F32, 3);
    while (std::next_permutation(second.begin(), second.end()));
  } while (std::next_permutation(first.begin(), first.end()));
}

TEST(StridedCopy, CopiesEveryType) {
  Dims dims = {70, 3, 65};
  for (plan::DataType type :
       {plan::F32, plan::F64, plan::I32, plan::U8, plan::BF16, plan::F16}) {
    expectExactCopy(dims, stridesFor(dims, {0, 1, 2}),
                    stridesFor(dims, {2, 1, 0}), type, 2);
    expectExactCopy(dims, denseStrides(dims), denseStrides(dims), type, 2);
  }
}

TEST(StridedCopy, CopiesViewsAndScalars) {
  expectExactCopy({}, {}, {}, plan::F32, 2);
  expectExactCopy({1, 1}, {1, 1}, {5, 9}, plan::F32, 2);
  expectExactCopy({6}, {3}, {1}, plan::F32, 2);
  expectExactCopy({6}, {1}, {4}, plan::F64, 2);
  // From and to a channel slice of a larger NHWC region.
  expectExactCopy({4, 5, 6, 7}, {6 * 7 * 20, 1, 7 * 20, 20},
                  stridesFor({4, 5, 6, 7}, {0, 1, 2, 3}), plan::F32, 4);
  expectExactCopy({4, 5, 6, 7}, stridesFor({4, 5, 6, 7}, {0, 1, 2, 3}),
                  {6 * 7 * 20, 1, 7 * 20, 20}, plan::F32, 4);
  // Rows with padding after each row, and a transposed matrix.
  expectExactCopy({300, 100}, {128, 1}, {100, 1}, plan::F32, 2);
  expectExactCopy({2000, 64}, {64, 1}, {1, 2000}, plan::F32, 2);
}

} // namespace
