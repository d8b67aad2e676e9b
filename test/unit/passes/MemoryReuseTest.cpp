//===- MemoryReuseTest.cpp - Reuse of gradient memory ---------------------===//
#include "passes/plan/MemoryReuse.h"

#include <gtest/gtest.h>

#include <random>

using namespace brew;
using namespace brew::passes;

namespace {

TEST(MemoryReuse, RangesAreReusableUntilTheyAreUsed) {
  // The first value is live for too long. The second and third share a range at
  // different steps. The fourth is live together with both. The last one fits
  // in the small range.
  std::vector<brew::passes::LiveValue> values = {
      {100, 0, 9}, {256, 0, 4}, {256, 5, 7}, {256, 4, 5}, {64, 0, 2}};
  const std::vector<brew::passes::ReusableRange> ranges = {{1024, 256, 8},
                                                           {512, 64, 3}};
  EXPECT_EQ(assignReusedOffsets(values, {}, ranges),
            (std::vector<int64_t>{-1, 1024, 1024, -1, 512}));
  EXPECT_EQ(assignReusedOffsets(values, {}, {}), std::vector<int64_t>(5, -1));
}

TEST(MemoryReuse, ValuesSpanAdjacentRanges) {
  const std::vector<brew::passes::ReusableRange> ranges = {
      {192, 64, 9}, {0, 64, 5}, {64, 128, 7}, {320, 64, 9}};
  // A value can span the ranges at 0, 64 and 192. The range at 0 is used from
  // step 5 on. No value can span the gap between 256 and 320.
  EXPECT_EQ(assignReusedOffsets({{256, 0, 4}}, {}, ranges),
            std::vector<int64_t>{0});
  EXPECT_EQ(assignReusedOffsets({{192, 0, 6}}, {}, ranges),
            std::vector<int64_t>{64});
  EXPECT_EQ(assignReusedOffsets({{256, 0, 5}}, {}, ranges),
            std::vector<int64_t>{-1});
  EXPECT_EQ(assignReusedOffsets({{320, 0, 2}}, {}, ranges),
            std::vector<int64_t>{-1});
}

TEST(MemoryReuse, PrefersValuesLiveAtThePeak) {
  // Of two values that need one range, the second has the larger product of
  // bytes and steps, but the first is live at the peak.
  const std::vector<brew::passes::LiveValue> values = {
      {1024, 10, 11}, {960, 0, 10}, {8192, 11, 11}};
  EXPECT_EQ(assignReusedOffsets(values, {}, {{0, 1024, 20}}),
            (std::vector<int64_t>{0, -1, -1}));
}

TEST(MemoryReuse, RandomLifetimesInRangesNeverOverlap) {
  std::mt19937 random(5);
  auto draw = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<brew::passes::LiveValue> values(40);
    for (LiveValue &value : values) {
      value.size = draw(1, 500);
      value.first = draw(0, 20);
      value.last = value.first + draw(0, 10);
    }
    std::vector<brew::passes::ReusableRange> ranges;
    for (int64_t i = 0; i < 6; ++i)
      ranges.push_back({i * 1024, draw(1, 1000), draw(0, 30)});
    const std::vector<int64_t> offsets =
        assignReusedOffsets(values, {}, ranges);
    for (size_t a = 0; a < values.size(); ++a) {
      if (offsets[a] < 0)
        continue;
      EXPECT_EQ(offsets[a] % brew::passes::kBufferAlignment, 0);
      const brew::passes::ReusableRange &range = ranges[offsets[a] / 1024];
      EXPECT_LE(offsets[a] + values[a].size, range.offset + range.size);
      EXPECT_LT(values[a].last, range.until);
      for (size_t b = 0; b < a; ++b)
        EXPECT_TRUE(offsets[b] < 0 || values[a].last < values[b].first ||
                    values[b].last < values[a].first ||
                    offsets[a] + values[a].size <= offsets[b] ||
                    offsets[b] + values[b].size <= offsets[a]);
    }
  }
}

} // namespace
