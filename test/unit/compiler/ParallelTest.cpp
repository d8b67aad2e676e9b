//===- ParallelTest.cpp - Tests of the parallel loop ----------------------===//
#include "compiler/Parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace brew::compiler {
namespace {

TEST(Parallel, RunsEachIndexOnce) {
  std::vector<std::atomic<int>> runs(1000);
  runParallel(runs.size(), [&](std::size_t i) { ++runs[i]; });
  for (const std::atomic<int> &count : runs)
    EXPECT_EQ(count, 1);
  runParallel(0, [](std::size_t) { FAIL(); });
}

TEST(Parallel, ThrowsTheFirstFailure) {
  for (int round = 0; round < 50; ++round)
    try {
      runParallel(100, [](std::size_t i) {
        if (i >= 3)
          throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "3");
    }
}

TEST(Parallel, ContinuesWithoutMoreThreads) {
  // A thread with such a stack cannot start, because the stack fits no address
  // space.
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t(1) << 47), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  std::vector<std::atomic<int>> runs(100);
  runParallel(runs.size(), [&](std::size_t i) { ++runs[i]; });
  EXPECT_EQ(pthread_setattr_default_np(&usual), 0);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&huge);
  for (const std::atomic<int> &count : runs)
    EXPECT_EQ(count, 1);
}

} // namespace
} // namespace brew::compiler
