//===- ShardedUpdateTest.cpp - Shards of a parameter update ---------------===//
#include "runtime/train/ShardedUpdate.h"

#include <gtest/gtest.h>

using brew::runtime::splitEvenly;
using Sizes = std::vector<std::size_t>;

TEST(ShardedUpdateTest, ShardsHaveSimilarSizes) {
  const std::vector<bool> mayCutAnywhere(6, true);
  EXPECT_EQ(splitEvenly({1, 1, 1, 1, 1, 1}, mayCutAnywhere, 3),
            (Sizes{0, 2, 4, 6}));
  EXPECT_EQ(splitEvenly({1, 1, 1, 1, 1, 1}, mayCutAnywhere, 1), (Sizes{0, 6}));
  // Of two possible cuts, the one nearer to an even split is chosen.
  EXPECT_EQ(splitEvenly({9, 2, 2, 2, 2, 3}, mayCutAnywhere, 2),
            (Sizes{0, 1, 6}));
  EXPECT_EQ(splitEvenly({2, 2, 2, 2, 2, 90}, mayCutAnywhere, 2),
            (Sizes{0, 5, 6}));
}

TEST(ShardedUpdateTest, ConnectedItemsAreNotSplit) {
  EXPECT_EQ(splitEvenly({1, 1, 1, 1}, {true, true, false, true}, 2),
            (Sizes{0, 1, 4}));
  EXPECT_EQ(splitEvenly({1, 1, 1}, {true, false, false}, 2), (Sizes{0, 0, 3}));
}

TEST(ShardedUpdateTest, ShardsMayBeEmpty) {
  EXPECT_EQ(splitEvenly({}, {}, 3), (Sizes{0, 0, 0, 0}));
  const Sizes cuts = splitEvenly({5, 1}, {true, true}, 4);
  EXPECT_EQ(cuts.size(), 5u);
  EXPECT_EQ(cuts.back(), 2u);
  for (std::size_t i = 1; i < cuts.size(); ++i)
    EXPECT_LE(cuts[i - 1], cuts[i]);
}
