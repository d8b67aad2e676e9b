//===- MemoryPlannerTest.cpp - Arena allocation ---------------------------===//
#include "passes/analysis/MemoryPlanner.h"

#include <gtest/gtest.h>

#include <random>

using namespace brew;
using namespace brew::passes;

namespace {

brew::passes::LiveValue makeValue(int64_t size, int64_t first, int64_t last) {
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
      bool liveTogether = values[i].first <= values[j].last &&
                          values[j].first <= values[i].last;
      bool disjoint = values[i].offset + values[i].size <= values[j].offset ||
                      values[j].offset + values[j].size <= values[i].offset;
      EXPECT_TRUE(!liveTogether || disjoint) << i << " and " << j << " overlap";
    }
  }
}

TEST(MemoryPlanner, NoValuesNeedNoMemory) {
  std::vector<brew::passes::LiveValue> noValues;
  EXPECT_EQ(allocateArena(noValues), 0);
  EXPECT_EQ(arenaLowerBound(noValues), 0);
}

TEST(MemoryPlanner, SizesAreRoundedUp) {
  std::vector<brew::passes::LiveValue> values = {makeValue(1, 0, 1),
                                                 makeValue(65, 1, 2)};
  EXPECT_EQ(arenaLowerBound(values), 64 + 128);
  EXPECT_EQ(allocateArena(values), 64 + 128);
  expectValid(values, 64 + 128);
}

TEST(MemoryPlanner, DeadBytesAreReused) {
  // a and c are never live together, so c reuses the bytes of a.
  std::vector<brew::passes::LiveValue> values = {
      makeValue(256, 0, 1), makeValue(64, 1, 2), makeValue(256, 2, 3)};
  EXPECT_EQ(allocateArena(values), 320);
  EXPECT_EQ(values[0].offset, values[2].offset);
}

TEST(MemoryPlanner, LifetimesThatShareAStepOverlap) {
  // The last reader of the first value writes the second.
  std::vector<brew::passes::LiveValue> values = {makeValue(64, 0, 4),
                                                 makeValue(64, 4, 5)};
  EXPECT_EQ(allocateArena(values), 128);
}

TEST(MemoryPlanner, SmallValuesFillGaps) {
  // Ordering by size alone leaves a gap for the small values.
  std::vector<brew::passes::LiveValue> values = {
      makeValue(640, 0, 9), makeValue(320, 0, 2), makeValue(320, 4, 9),
      makeValue(64, 3, 3), makeValue(64, 3, 3)};
  int64_t extent = allocateArena(values);
  EXPECT_EQ(extent, 960);
  expectValid(values, extent);
}

TEST(MemoryPlanner, TrainingLifetimesComeNearTheBound) {
  // Forward values live until their backward step, as in a chain of layers.
  std::vector<brew::passes::LiveValue> values;
  const int64_t layers = 20;
  for (int64_t i = 0; i < layers; ++i) {
    int64_t size = (layers - i) * 6400;
    values.push_back(makeValue(size, i, 2 * layers - i));
    values.push_back(makeValue(size, 2 * layers - i, 2 * layers - i + 1));
  }
  int64_t bound = arenaLowerBound(values), extent = allocateArena(values);
  expectValid(values, extent);
  EXPECT_LE(extent, bound + bound / 50); // at most 2 % above
}

TEST(MemoryPlanner, RandomLifetimesNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<brew::passes::LiveValue> values;
    int count = 1 + random() % 40;
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % 30;
      values.push_back(
          makeValue(random() % 5000, first, first + random() % 10));
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
