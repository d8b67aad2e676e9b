//===- DecodeThreadsTest.cpp - Threads that decode records ----------------===//
#include "runtime/data/DecodeThreads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

using brew::runtime::DecodeThreads;

namespace {

TEST(DecodeThreads, CallsEachIndexOnceOnExistingWorkers) {
  for (unsigned size : {1u, 2u, 7u}) {
    DecodeThreads decodeThreads(size);
    EXPECT_EQ(decodeThreads.size(), size);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(round));
      decodeThreads.forEach(round, [&](std::int64_t index, unsigned worker) {
        EXPECT_LT(worker, size);
        ++calls[static_cast<std::size_t>(index)];
      });
      for (const auto &count : calls)
        EXPECT_EQ(count, 1);
    }
  }
  EXPECT_GE(DecodeThreads(0).size(), 1u);
}

TEST(DecodeThreads, RethrowsTheErrorOfTheLowestIndex) {
  DecodeThreads decodeThreads(5);
  for (int round = 0; round < 200; ++round) {
    try {
      decodeThreads.forEach(40, [](std::int64_t index, unsigned) {
        if (index % 10 == 3)
          throw std::runtime_error(std::to_string(index));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
  int calls = 0; // the threads still work after an error
  decodeThreads.forEachAlone(3, [&](std::int64_t, unsigned) { ++calls; });
  EXPECT_EQ(calls, 3);
}

} // namespace
