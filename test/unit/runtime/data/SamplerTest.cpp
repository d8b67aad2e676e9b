//===- SamplerTest.cpp - Order of sampled records -------------------------===//
#include "runtime/data/selection/Sampler.h"
#include "runtime/data/selection/WeightedChoice.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace brew;
using namespace brew::runtime;
using caffe::RecordSelection;

namespace {

using Numbers = std::vector<std::uint64_t>;

Sampler makeSampler(const RecordSelection &selection, std::uint64_t count,
                    std::vector<int> labels = {},
                    std::vector<double> weights = {}, std::uint64_t seed = 5) {
  return Sampler(selection, {count, std::move(labels), std::move(weights)},
                 seed, "program/data", "layer 'data'");
}

Numbers drawRecords(Sampler &sampler, std::uint64_t from, std::uint64_t count) {
  Numbers result;
  for (std::uint64_t n = from; n < from + count; ++n)
    result.push_back(sampler.at(n));
  return result;
}

Numbers sorted(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::map<std::uint64_t, int> tally(const Numbers &numbers) {
  std::map<std::uint64_t, int> result;
  for (std::uint64_t number : numbers)
    ++result[number];
  return result;
}

/// Six records of label 7, three of 2, one of -1.
const std::vector<int> kLabels = {7, 7, 2, 7, -1, 7, 2, 7, 2, 7};

/// Expects that a draw depends only on its number and the seed.
void expectSeekable(const RecordSelection &selection,
                    std::vector<double> weights) {
  Sampler reference = makeSampler(selection, 10, kLabels, weights);
  const Numbers expected = drawRecords(reference, 0, 100);
  for (std::uint64_t from : {73, 0, 40, 41, 99}) {
    Sampler resumed = makeSampler(selection, 10, kLabels, weights);
    EXPECT_EQ(
        drawRecords(resumed, from, 100 - from),
        Numbers(expected.begin() + static_cast<long>(from), expected.end()));
  }
  Sampler otherSeed = makeSampler(selection, 10, kLabels, weights, 6);
  EXPECT_NE(drawRecords(otherSeed, 0, 100), expected);
}

} // namespace

TEST(Sampler, ShufflesEachPass) {
  RecordSelection selection;
  selection.shuffle = true;
  Sampler sampler = makeSampler(selection, 8);
  std::set<Numbers> orders;
  for (std::uint64_t pass = 0; pass < 5; ++pass) {
    const Numbers order = drawRecords(sampler, pass * 8, 8);
    EXPECT_EQ(sorted(order), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5u);
  expectSeekable(selection, {});
}

TEST(Sampler, DrawsAllRecordsEquallyOften) {
  RecordSelection selection;
  selection.random = true;
  Sampler sampler = makeSampler(selection, 5);
  const auto counts = tally(drawRecords(sampler, 0, 5000));
  ASSERT_EQ(counts.size(), 5u);
  for (const auto &[record, count] : counts)
    EXPECT_NEAR(count, 1000, 130)
        << record; // more than four standard deviations
  expectSeekable(selection, {});
}

TEST(Sampler, DrawsByWeight) {
  RecordSelection selection;
  selection.random = true;
  Sampler sampler = makeSampler(selection, 4, {}, {0, 1, 0.5, 2.5});
  auto counts = tally(drawRecords(sampler, 0, 4000));
  EXPECT_EQ(counts.count(0), 0u);
  // Tolerances exceed four standard deviations.
  EXPECT_NEAR(counts[1], 1000, 120);
  EXPECT_NEAR(counts[2], 500, 90);
  EXPECT_NEAR(counts[3], 2500, 130);
  expectSeekable(selection, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(Sampler, LabelsTakeTurns) {
  for (const bool shuffle : {false, true}) {
    RecordSelection selection;
    selection.balanceLabels = true;
    selection.shuffle = shuffle;
    Sampler sampler = makeSampler(selection, 10, kLabels);
    EXPECT_EQ(sampler.labels(), 3u);
    std::map<int, Numbers> recordsOfLabel;
    std::set<std::vector<int>> turns;
    for (std::uint64_t turn = 0; turn < 24; ++turn) {
      std::vector<int> labels;
      for (std::uint64_t record : drawRecords(sampler, turn * 3, 3)) {
        labels.push_back(kLabels[record]);
        recordsOfLabel[labels.back()].push_back(record);
      }
      turns.insert(labels);
      std::sort(labels.begin(), labels.end());
      EXPECT_EQ(labels, (std::vector<int>{-1, 2, 7})); // each once
    }
    EXPECT_GT(turns.size(), 3u);
    // The records of each label come in separate passes.
    for (const auto &[label, records] : recordsOfLabel) {
      std::set<Numbers> passes;
      const auto size = static_cast<std::size_t>(
          std::count(kLabels.begin(), kLabels.end(), label));
      for (std::size_t i = 0; i + size <= records.size(); i += size) {
        passes.insert({records.begin() + static_cast<long>(i),
                       records.begin() + static_cast<long>(i + size)});
        EXPECT_EQ(tally(*passes.rbegin()).size(), size);
      }
      if (size > 1) {
        EXPECT_EQ(passes.size() > 1, shuffle) << label;
      }
    }
    expectSeekable(selection, {});
  }
}

TEST(Sampler, DrawsNoLabelsWithoutWeight) {
  RecordSelection selection;
  selection.balanceLabels = selection.random = true;
  // Label 2 has no weight. Of label 7, record 9 has three times the weight of
  // record 0.
  std::vector<double> weights(10, 0);
  weights[0] = 1;
  weights[9] = 3;
  weights[4] = 0.01;
  Sampler sampler = makeSampler(selection, 10, kLabels, weights);
  auto counts = tally(drawRecords(sampler, 0, 2000));
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[4], 1000);
  EXPECT_NEAR(counts[9], 750, 60);
  expectSeekable(selection, weights);
}

TEST(Sampler, NeighboursFollowEachRecord) {
  RecordSelection selection;
  selection.random = selection.neighbours = true;
  Sampler sampler = makeSampler(selection, 10);
  const Numbers records = drawRecords(sampler, 0, 200);
  std::set<std::uint64_t> firsts;
  for (std::size_t i = 0; i < records.size(); i += 2) {
    EXPECT_EQ(records[i + 1], (records[i] + 1) % 10);
    firsts.insert(records[i]);
  }
  EXPECT_EQ(firsts.size(), 10u);
}

TEST(Sampler, OneOfTwoPairsMatches) {
  for (const bool balance : {false, true})
    for (const bool random : {false, true}) {
      RecordSelection selection;
      selection.imagesPerItem = 2;
      selection.balanceMatches = true;
      selection.balanceLabels = balance;
      selection.random = random;
      Sampler sampler = makeSampler(selection, 10, kLabels);
      std::map<std::pair<int, int>, int> pairCounts;
      int differing = 0, differingEven = 0;
      for (std::uint64_t pair = 0; pair < 1200; ++pair) {
        const Numbers records = drawRecords(sampler, 2 * pair, 2);
        const int first = kLabels[records[0]], second = kLabels[records[1]];
        const bool differ = first != second;
        differing += differ;
        differingEven += differ && pair % 2 == 0;
        if (pair % 2) {
          EXPECT_EQ(differing, static_cast<int>(pair / 2 + 1));
        }
        if (differ)
          ++pairCounts[{first, second}];
        else // label -1 has a single record
          EXPECT_EQ(records[0] == records[1], first == -1);
      }
      // A rank that reads every second pair gets both kinds.
      EXPECT_NEAR(differingEven, 300, 60);
      EXPECT_EQ(pairCounts.size(), 6u);
      if (balance)
        for (const auto &[labels, count] : pairCounts)
          EXPECT_NEAR(count, 100, 45);
      expectSeekable(selection, {});
    }
}

TEST(Sampler, DrawsPartnersByWeight) {
  RecordSelection selection;
  selection.imagesPerItem = 2;
  selection.balanceMatches = selection.random = true;
  std::vector<double> weights = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  Sampler sampler = makeSampler(selection, 10, kLabels, weights);
  for (std::uint64_t record : drawRecords(sampler, 0, 400))
    EXPECT_LT(record, 3u);
}

TEST(Sampler, RefusesInvalidWeightsAndLabels) {
  RecordSelection selection;
  selection.random = true;
  test::expectError(ExitStatus::BadInput, "the weights of all records are 0",
                    [&] {
                      makeSampler(selection, 2, {}, {0, 0});
                    });
  for (const std::vector<double> &weights :
       {std::vector<double>{1e308, 1e308}, {1e17, 1}})
    test::expectError(ExitStatus::BadInput, "are too different",
                      [&] { makeSampler(selection, 2, {}, weights); });
  selection.balanceMatches = true;
  test::expectError(ExitStatus::BadInput, "records of at least two labels",
                    [&] {
                      makeSampler(selection, 2, {1, 1});
                    });
  test::expectError(ExitStatus::BadInput, "records of at least two labels",
                    [&] {
                      makeSampler(selection, 2, {1, 2}, {0, 1});
                    });
}

TEST(WeightedChoice, DrawsNoExcludedIndices) {
  const brew::caffe::RandomStream stream(1, "s");
  const WeightedChoice uniform;
  const WeightedChoice weighted({1, 2, 0, 4, 5, 6});
  for (const WeightedChoice *choice : {&uniform, &weighted}) {
    std::set<std::uint64_t> drawn;
    for (std::uint64_t n = 0; n < 300; ++n)
      drawn.insert(choice->draw({1, 6}, {3, 5}, stream, n));
    EXPECT_EQ(drawn, choice == &uniform ? (std::set<std::uint64_t>{1, 2, 5})
                                        : (std::set<std::uint64_t>{1, 5}));
  }
}

TEST(WeightedChoice, SurvivesRounding) {
  const brew::caffe::RandomStream stream(1, "s");
  // The largest weight makes the others vanish in every sum.
  const WeightedChoice choice({1e-300, 0, 1e300, 0, 1e-300});
  for (std::uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(choice.draw({0, 5}, {}, stream, n), 2u);
    EXPECT_EQ(choice.draw({0, 5}, {1, 5}, stream, n), 0u);
  }
}
