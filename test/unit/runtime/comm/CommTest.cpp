//===- CommTest.cpp - Sums in order, and ranks that hang ------------------===//
#include "runtime/comm/CollectiveOperations.h"
#include "runtime/comm/StallDetector.h"
#include "runtime/comm/Stragglers.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <thread>

using namespace brew;
using namespace brew::runtime;
using namespace brew::runtime::comm;

namespace {

/// A transport whose other ranks are tables in the test.
struct Table {
  std::vector<std::vector<float>> values; ///< by rank
  int rank = 0;
  std::vector<float> gathered;
  int sums = 0;
  const char *failure = nullptr;
  struct Message {
    int rank;
    std::string bytes;
  };
  std::deque<Message> incoming, outgoing;
} table;

const char *sum(void *, std::size_t, BrewCommType) {
  ++table.sums;
  return table.failure;
}
const char *exchange(const void *, const int *counts, const int *offsets,
                     void *to, int received, BrewCommType) {
  auto *target = static_cast<float *>(to);
  EXPECT_EQ(counts[table.rank], received);
  for (const std::vector<float> &values : table.values) {
    std::copy_n(values.begin() + offsets[table.rank], received, target);
    target += received;
  }
  return table.failure;
}
const char *gather(void *data, const int *counts, const int *offsets,
                   BrewCommType) {
  const auto *values = static_cast<float *>(data) + offsets[table.rank];
  table.gathered.assign(values, values + counts[table.rank]);
  return nullptr;
}
const char *send(int to, const void *message, std::size_t bytes) {
  table.outgoing.push_back(
      {to, std::string(static_cast<const char *>(message), bytes)});
  return table.failure;
}
const char *receive(int *from, void *message, std::size_t bytes) {
  *from = -1;
  if (table.incoming.empty())
    return nullptr;
  *from = table.incoming.front().rank;
  EXPECT_EQ(table.incoming.front().bytes.size(), bytes);
  std::memcpy(message, table.incoming.front().bytes.data(), bytes);
  table.incoming.pop_front();
  return nullptr;
}

const BrewCommPlugin plugin = {kBrewCommVersion, "table", nullptr,  nullptr,
                               nullptr,          sum,     exchange, gather,
                               nullptr,          nullptr, send,     receive};

class CommTest : public testing::Test {
protected:
  CommTest() { table = {}; }

  static ReductionBuffer buffer(std::vector<float> &values) {
    return {reinterpret_cast<std::byte *>(values.data()), values.size(), false};
  }
};

/// Answers the queries that were sent to a rank.
void answerFor(int rank, const Activity &activity) {
  const std::deque<Table::Message> here = std::move(table.incoming);
  const std::deque<Table::Message> questions = std::move(table.outgoing);
  table.incoming.clear();
  table.outgoing.clear();
  for (const Table::Message &question : questions)
    if (question.rank == rank)
      table.incoming.push_back({0, question.bytes});
  StallDetector other(plugin, rank, 3, 60);
  other.poll(activity, "");
  const std::deque<Table::Message> answers = std::move(table.outgoing);
  table.incoming = here;
  table.outgoing.clear();
  for (const Table::Message &answer : answers)
    table.incoming.push_back({rank, answer.bytes});
  for (const Table::Message &question : questions)
    if (question.rank != rank)
      table.outgoing.push_back(question);
}

} // namespace

TEST_F(CommTest, SumsAreTakenInTheOrderOfRanks) {
  // (1e8 + 1) - 1e8 is 0 in f32, (1e8 - 1e8) + 1 is not.
  table.values = {
      {1e8f, 1, -0.0f, 4, 5}, {1, 2, -0.0f, 4, 5}, {-1e8f, 3, -0.0f, 4, 5}};
  for (int rank = 0; rank < 3; ++rank) {
    table.rank = rank;
    std::vector<float> own = table.values[std::size_t(rank)];
    OrderedAllReduce operation(7, {buffer(own)}, rank, 3);
    EXPECT_EQ(operation.describe(), "the sum of bucket 7");
    EXPECT_TRUE(operation.startNext(plugin)); // exchange
    EXPECT_TRUE(operation.startNext(plugin)); // gather
    EXPECT_FALSE(operation.startNext(plugin));
    const std::vector<std::vector<float>> expected = {{0}, {6, 0}, {12, 15}};
    EXPECT_EQ(table.gathered, expected[std::size_t(rank)]);
    // Sums start from zero, as the accumulation of iter_size does.
    if (rank == 1) {
      EXPECT_FALSE(std::signbit(table.gathered[1]));
    }
  }
}

TEST_F(CommTest, FewerElementsThanRanks) {
  table.values = {{1}, {2}, {4}};
  for (int rank = 0; rank < 3; ++rank) {
    table.rank = rank;
    std::vector<float> own = table.values[std::size_t(rank)];
    OrderedAllReduce operation(0, {buffer(own)}, rank, 3);
    while (operation.startNext(plugin))
      ;
    EXPECT_EQ(table.gathered,
              rank == 2 ? std::vector<float>{7} : std::vector<float>{});
  }
}

TEST_F(CommTest, TransportSumsGoPieceByPiece) {
  std::vector<float> a(3), b(4);
  TransportAllReduce operation(1, {buffer(a), buffer(b)});
  while (operation.startNext(plugin))
    ;
  EXPECT_EQ(table.sums, 2);
  table.failure = "the wire is splitLongBuffers";
  TransportAllReduce failing(1, {buffer(a)});
  try {
    failing.startNext(plugin);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_STREQ(error.what(), "table: the wire is splitLongBuffers");
  }
}

TEST_F(CommTest, RanksThatDoNotAnswerAreNamed) {
  Clock::time_point time = Clock::now();
  StallDetector watch(plugin, 0, 3, 0.5, [&] { return time; });
  const Activity waiting{true, time - std::chrono::seconds(1)};
  EXPECT_FALSE(watch.poll(waiting, "the sum of bucket 1"));
  EXPECT_EQ(table.outgoing.size(), 2u); // queries to both other ranks
  answerFor(1, {true, time});
  EXPECT_FALSE(watch.poll(waiting, "the sum of bucket 1"));
  time += std::chrono::milliseconds(600);
  EXPECT_FALSE(watch.poll(waiting, "the sum of bucket 1"));
  const auto reason = watch.poll(waiting, "the sum of bucket 1");
  ASSERT_TRUE(reason);
  EXPECT_EQ(*reason, "rank 2 does not answer for 0.5 s (--comm-timeout), while "
                     "rank 0 waits for the sum of bucket 1");
}

TEST_F(CommTest, StalledRanksAreNamedAndComputingRanksAreNot) {
  Clock::time_point time = Clock::now();
  StallDetector watch(plugin, 0, 3, 0.5, [&] { return time; });
  const Activity waiting{true, time - std::chrono::seconds(1)};
  EXPECT_FALSE(watch.poll(waiting, "x"));
  answerFor(1, {true, time});
  answerFor(2, {false, time}); // has made progress recently
  EXPECT_FALSE(watch.poll(waiting, "x"));
  EXPECT_FALSE(watch.poll(waiting, "x"));
  EXPECT_TRUE(table.outgoing.empty()); // no further queries yet
  time += std::chrono::milliseconds(1200);
  EXPECT_FALSE(watch.poll(waiting, "x"));
  answerFor(1, {true, time});
  answerFor(2, {false, time - std::chrono::seconds(2)});
  EXPECT_FALSE(watch.poll(waiting, "x"));
  const auto reason = watch.poll(waiting, "x");
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("rank 2 has not gone on"), std::string::npos)
      << *reason;
}

TEST_F(CommTest, TheRankThatOthersWaitForIsNamed) {
  const auto slow = findStraggler({3, 0.5, 4}, 10);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 1);
  EXPECT_DOUBLE_EQ(slow->seconds, 3);
  EXPECT_FALSE(findStraggler({3, 0.5, 4}, 12)); // not more than a quarter
  EXPECT_FALSE(findStraggler({5, 5, 5}, 10)); // equal: caused by the transport
  EXPECT_FALSE(findStraggler({5}, 1));
  EXPECT_FALSE(findStraggler({}, 1));
}

TEST_F(CommTest, RanksThatDoNotWaitSendNoQueries) {
  StallDetector watch(plugin, 0, 3, 0.05);
  EXPECT_FALSE(watch.poll({false, Clock::now() - std::chrono::hours(1)}, ""));
  EXPECT_TRUE(table.outgoing.empty());
}
