//===- CommTest.cpp - Ordered sums, and ranks that stall ------------------===//
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

/// A transport without processes: the test sets the data of all ranks.
struct FakeTransport {
  std::vector<std::vector<float>> values; ///< by rank
  int rank = 0;
  std::vector<float> gathered;
  int sumCalls = 0;
  const char *failure = nullptr;
  struct Message {
    int rank;
    std::string bytes;
  };
  std::deque<Message> incoming, outgoing;
} transport;

const char *sum(void *, std::size_t, BrewCommType) {
  ++transport.sumCalls;
  return transport.failure;
}
const char *exchange(const void *, const int *counts, const int *offsets,
                     void *to, int received, BrewCommType) {
  auto *target = static_cast<float *>(to);
  EXPECT_EQ(counts[transport.rank], received);
  for (const std::vector<float> &values : transport.values) {
    std::copy_n(values.begin() + offsets[transport.rank], received, target);
    target += received;
  }
  return transport.failure;
}
const char *gather(void *data, const int *counts, const int *offsets,
                   BrewCommType) {
  const auto *values = static_cast<float *>(data) + offsets[transport.rank];
  transport.gathered.assign(values, values + counts[transport.rank]);
  return nullptr;
}
const char *send(int to, const void *message, std::size_t bytes) {
  transport.outgoing.push_back(
      {to, std::string(static_cast<const char *>(message), bytes)});
  return transport.failure;
}
const char *receive(int *from, void *message, std::size_t bytes) {
  *from = -1;
  if (transport.incoming.empty())
    return nullptr;
  *from = transport.incoming.front().rank;
  EXPECT_EQ(transport.incoming.front().bytes.size(), bytes);
  std::memcpy(message, transport.incoming.front().bytes.data(), bytes);
  transport.incoming.pop_front();
  return nullptr;
}

const BrewCommPlugin plugin = {
    kBrewCommVersion, "transport", nullptr, nullptr, nullptr, sum,
    exchange,         gather,      nullptr, nullptr, send,    receive};

class CommTest : public testing::Test {
protected:
  CommTest() { transport = {}; }

  static ReductionBuffer buffer(std::vector<float> &values) {
    return {reinterpret_cast<std::byte *>(values.data()), values.size(), false};
  }
};

/// Answers, on behalf of `rank`, the queries that were sent to it.
void answerFor(int rank, const Activity &activity) {
  const std::deque<FakeTransport::Message> savedIncoming =
      std::move(transport.incoming);
  const std::deque<FakeTransport::Message> queries =
      std::move(transport.outgoing);
  transport.incoming.clear();
  transport.outgoing.clear();
  for (const FakeTransport::Message &query : queries)
    if (query.rank == rank)
      transport.incoming.push_back({0, query.bytes});
  StallDetector detector(plugin, rank, 3, 60);
  detector.poll(activity, "");
  const std::deque<FakeTransport::Message> answers =
      std::move(transport.outgoing);
  transport.incoming = savedIncoming;
  transport.outgoing.clear();
  for (const FakeTransport::Message &answer : answers)
    transport.incoming.push_back({rank, answer.bytes});
  for (const FakeTransport::Message &query : queries)
    if (query.rank != rank)
      transport.outgoing.push_back(query);
}

} // namespace

TEST_F(CommTest, SumsInTheOrderOfRanks) {
  // (1e8 + 1) - 1e8 is 0 in f32, (1e8 - 1e8) + 1 is not.
  transport.values = {
      {1e8f, 1, -0.0f, 4, 5}, {1, 2, -0.0f, 4, 5}, {-1e8f, 3, -0.0f, 4, 5}};
  for (int rank = 0; rank < 3; ++rank) {
    transport.rank = rank;
    std::vector<float> own = transport.values[std::size_t(rank)];
    OrderedAllReduce operation(7, {buffer(own)}, rank, 3);
    EXPECT_EQ(operation.describe(), "the sum of bucket 7");
    EXPECT_TRUE(operation.startNext(plugin)); // exchange
    EXPECT_TRUE(operation.startNext(plugin)); // gather
    EXPECT_FALSE(operation.startNext(plugin));
    const std::vector<std::vector<float>> expected = {{0}, {6, 0}, {12, 15}};
    EXPECT_EQ(transport.gathered, expected[std::size_t(rank)]);
    // Sums start from zero, as the accumulation of iter_size does.
    if (rank == 1) {
      EXPECT_FALSE(std::signbit(transport.gathered[1]));
    }
  }
}

TEST_F(CommTest, SumsFewerElementsThanRanks) {
  transport.values = {{1}, {2}, {4}};
  for (int rank = 0; rank < 3; ++rank) {
    transport.rank = rank;
    std::vector<float> own = transport.values[std::size_t(rank)];
    OrderedAllReduce operation(0, {buffer(own)}, rank, 3);
    while (operation.startNext(plugin))
      ;
    EXPECT_EQ(transport.gathered,
              rank == 2 ? std::vector<float>{7} : std::vector<float>{});
  }
}

TEST_F(CommTest, TransportSumsEachBufferSeparately) {
  std::vector<float> a(3), b(4);
  TransportAllReduce operation(1, {buffer(a), buffer(b)});
  while (operation.startNext(plugin))
    ;
  EXPECT_EQ(transport.sumCalls, 2);
  transport.failure = "the wire is cut";
  TransportAllReduce failing(1, {buffer(a)});
  try {
    failing.startNext(plugin);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_STREQ(error.what(), "transport: the wire is cut");
  }
}

TEST_F(CommTest, RanksThatDoNotAnswerAreNamed) {
  Clock::time_point time = Clock::now();
  StallDetector watch(plugin, 0, 3, 0.5, [&] { return time; });
  const Activity waiting{true, time - std::chrono::seconds(1)};
  EXPECT_FALSE(watch.poll(waiting, "the sum of bucket 1"));
  EXPECT_EQ(transport.outgoing.size(), 2u); // queries to both other ranks
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
  EXPECT_TRUE(transport.outgoing.empty()); // no further queries yet
  time += std::chrono::milliseconds(1200);
  EXPECT_FALSE(watch.poll(waiting, "x"));
  answerFor(1, {true, time});
  answerFor(2, {false, time - std::chrono::seconds(2)});
  EXPECT_FALSE(watch.poll(waiting, "x"));
  const auto reason = watch.poll(waiting, "x");
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("rank 2 makes no progress"), std::string::npos)
      << *reason;
}

TEST_F(CommTest, FindsTheRankThatOthersWaitFor) {
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
  EXPECT_TRUE(transport.outgoing.empty());
}
