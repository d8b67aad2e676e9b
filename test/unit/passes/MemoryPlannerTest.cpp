//===- MemoryPlannerTest.cpp - Arena allocation ---------------------------===//
#include "passes/analysis/MemoryPlanner.h"

#include <gtest/gtest.h>

#include <random>

using namespace brew;
using namespace brew::passes;

namespace {

brew::passes::LiveValue value(int64_t size, int64_t first, int64_t last) {
  return {size, first, last, 0};
}

/// Checks that values live at a common step do not overlap, and that offsets
/// are aligned and within the arena.
void expectValid(const std::vector<brew::passes::LiveValue> &values,
                 int64_t extent) {
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_GE(values[i].offset, 0);
    EXPECT_EQ(values[i].offset % brew::passes::kBufferAlignment, 0);
    EXPECT_LE(values[i].offset + values[i].size, extent);
    for (size_t j = 0; j < i; ++j) {
      bool together = values[i].first <= values[j].last &&
                      values[j].first <= values[i].last;
      bool apart = values[i].offset + values[i].size <= values[j].offset ||
                   values[j].offset + values[j].size <= values[i].offset;
      EXPECT_TRUE(!together || apart) << i << " and " << j << " overlap";
    }
  }
}

TEST(MemoryPlanner, NoValuesNeedNoMemory) {
  std::vector<brew::passes::LiveValue> none;
  EXPECT_EQ(allocateArena(none), 0);
  EXPECT_EQ(arenaLowerBound(none), 0);
}

TEST(MemoryPlanner, SizesAreRoundedUp) {
  std::vector<brew::passes::LiveValue> values = {value(1, 0, 1),
                                                 value(65, 1, 2)};
  EXPECT_EQ(arenaLowerBound(values), 64 + 128);
  EXPECT_EQ(allocateArena(values), 64 + 128);
  expectValid(values, 64 + 128);
}

TEST(MemoryPlanner, DeadBytesAreReused) {
  // a and c are never live together, so c reuses the bytes of a.
  std::vector<brew::passes::LiveValue> values = {
      value(256, 0, 1), value(64, 1, 2), value(256, 2, 3)};
  EXPECT_EQ(allocateArena(values), 320);
  EXPECT_EQ(values[0].offset, values[2].offset);
}

TEST(MemoryPlanner, LifetimesThatShareAStepOverlap) {
  // The last reader of the first value writes the second.
  std::vector<brew::passes::LiveValue> values = {value(64, 0, 4),
                                                 value(64, 4, 5)};
  EXPECT_EQ(allocateArena(values), 128);
}

TEST(MemoryPlanner, SmallValuesFillGaps) {
  // Ordering by size alone leaves a gap for the small values.
  std::vector<brew::passes::LiveValue> values = {
      value(640, 0, 9), value(320, 0, 2), value(320, 4, 9), value(64, 3, 3),
      value(64, 3, 3)};
  int64_t extent = allocateArena(values);
  EXPECT_EQ(extent, 960);
  expectValid(values, extent);
}

TEST(MemoryPlanner, TrainingShapeReachesTheBound) {
  // Forward values live until their backward step, as in a chain of layers.
  std::vector<brew::passes::LiveValue> values;
  const int64_t layers = 20;
  for (int64_t i = 0; i < layers; ++i) {
    int64_t size = (layers - i) * 6400;
    values.push_back(value(size, i, 2 * layers - i));
    values.push_back(value(size, 2 * layers - i, 2 * layers - i + 1));
  }
  int64_t bound = arenaLowerBound(values), extent = allocateArena(values);
  expectValid(values, extent);
  EXPECT_LE(extent, bound + bound / 50);
}

TEST(MemoryPlanner, RandomLifetimesNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<brew::passes::LiveValue> values;
    int count = 1 + random() % 40;
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % 30;
      values.push_back(value(random() % 5000, first, first + random() % 10));
    }
    int64_t bound = arenaLowerBound(values), extent = allocateArena(values);
    expectValid(values, extent);
    EXPECT_GE(extent, bound);
    int64_t sum = 0;
    for (const brew::passes::LiveValue &each : values)
      sum += alignUp(each.size);
    EXPECT_LE(extent, sum);
  }
}

} // namespace
