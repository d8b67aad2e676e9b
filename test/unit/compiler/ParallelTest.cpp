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

TEST(Parallel, RunsEachOnce) {
  std::vector<std::atomic<int>> done(1000);
  runParallel(done.size(), [&](std::size_t i) { ++done[i]; });
  for (const std::atomic<int> &each : done)
    EXPECT_EQ(each, 1);
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
  // Such a stack fits no address space.
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t(1) << 47), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  std::vector<std::atomic<int>> done(100);
  runParallel(done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(pthread_setattr_default_np(&usual), 0);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&huge);
  for (const std::atomic<int> &each : done)
    EXPECT_EQ(each, 1);
}

} // namespace
} // namespace brew::compiler
