//===- WeightReorderTest.cpp - Comparison with oneDNN's reorders ----------===//
#include "runtime/cpu/onednn/WeightReorder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace brew::runtime;
using dnnl::memory;
using Tag = memory::format_tag;

namespace {

struct Layout {
  Tag tag;
  memory::data_type type;
  bool canPack;   ///< reorders to this layout are supported
  bool canUnpack; ///< reorders from this layout are supported
};

/// The layouts that oneDNN chooses for convolutions with AVX-512.
const std::vector<Layout> kLayouts = {
    {Tag::Acdb16a, memory::data_type::f32, true, true},
    {Tag::Acdb32a, memory::data_type::f32, true, true},
    {Tag::Acdb48a, memory::data_type::f32, true, true},
    {Tag::ABcd16b16a, memory::data_type::f32, true, true},
    {Tag::ABcd16b16a, memory::data_type::bf16, true, true},
    {Tag::AcdB16a2b, memory::data_type::bf16, true, true},
    {Tag::AcdB48a2b, memory::data_type::bf16, true, true},
    {Tag::BcdA16b2a, memory::data_type::bf16, true, false},
    {Tag::BcdA48b2a, memory::data_type::bf16, true, false}};

std::vector<std::byte> randomBytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> result(count);
  for (std::byte &value : result)
    value = std::byte(random() &
                      0x3f); // finite numbers, since copies may change NaNs
  return result;
}

/// Returns the result of oneDNN's reorder, in memory that was not zero before.
std::vector<std::byte> reorderWithOneDnn(const memory::desc &from,
                                         const memory::desc &to,
                                         std::vector<std::byte> source) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<std::byte> result(to.get_size(), std::byte(0x55));
  memory in(from, engine, source.data()), out(to, engine, result.data());
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
  return result;
}

void expectSameAsOneDnn(const memory::desc &from, const memory::desc &to,
                        int threads) {
  const auto reorder = WeightReorder::between(from, to);
  ASSERT_TRUE(reorder);
  const std::vector<std::byte> source = randomBytes(from.get_size());
  std::vector<std::byte> result(to.get_size(), std::byte(0x55));
  const Threads workers(threads);
  const Threads::Scope scope = workers.enter();
  reorder->run(workers, source.data(), result.data());
  EXPECT_TRUE(result == reorderWithOneDnn(from, to, source));
}

TEST(WeightReorder, EqualsOneDnnBitForBit) {
  for (const Layout &layout : kLayouts)
    for (const memory::dims &dims : {memory::dims{96, 64, 1, 1},
                                     {64, 96, 3, 3},
                                     {40, 24, 3, 1},
                                     {24, 50, 1, 1},
                                     {1, 2, 1, 1},
                                     {17, 18, 2, 3},
                                     {512, 256, 1, 1}}) {
      const memory::desc plain(dims, layout.type, Tag::acdb),
          blocked(dims, layout.type, layout.tag);
      for (int threads : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << "layout " << int(layout.tag) << " " << dims[0] << "x"
                     << dims[1] << " threads " << threads);
        if (layout.canPack)
          expectSameAsOneDnn(plain, blocked, threads);
        // With 1x1 windows, row-major weights are supported, too.
        if (layout.canPack && dims[2] * dims[3] == 1)
          expectSameAsOneDnn({dims, layout.type, Tag::abcd}, blocked, threads);
        if (layout.canUnpack)
          expectSameAsOneDnn(blocked, plain, threads);
      }
    }
}

TEST(WeightReorder, LeavesOtherLayoutsToOneDnn) {
  const memory::dims dims = {64, 64, 3, 3};
  auto isSupported = [&](Tag from, Tag to, memory::data_type type) {
    return WeightReorder::between({dims, type, from}, {dims, type, to})
        .has_value();
  };
  constexpr auto f32 = memory::data_type::f32, bf16 = memory::data_type::bf16;
  EXPECT_TRUE(isSupported(Tag::acdb, Tag::Acdb16a, f32));
  EXPECT_FALSE(isSupported(Tag::abcd, Tag::Acdb16a, f32)); // not channels last
  EXPECT_FALSE(isSupported(Tag::acdb, Tag::abcd, f32));    // not blocked
  EXPECT_FALSE(isSupported(Tag::Acdb16a, Tag::ABcd16b16a, f32));
  EXPECT_FALSE(
      isSupported(Tag::acdb, Tag::Bcda48b, f32)); // rows are not transposed
  EXPECT_FALSE(isSupported(Tag::acdb, Tag::ABcd8b8a, f32));
  EXPECT_FALSE(isSupported(Tag::acdb, Tag::ABcd8a16b2a, bf16));
  EXPECT_FALSE(isSupported(Tag::BcdA16b2a, Tag::acdb, bf16));
  // Neither different types nor an odd number of input channels is supported.
  EXPECT_FALSE(WeightReorder::between({dims, f32, Tag::acdb},
                                      {dims, bf16, Tag::AcdB16a2b}));
  EXPECT_FALSE(WeightReorder::between({{64, 33, 1, 1}, bf16, Tag::acdb},
                                      {{64, 33, 1, 1}, bf16, Tag::AcdB16a2b}));
}

} // namespace
