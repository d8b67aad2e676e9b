//===- NoMoreThreads.h - A system without free threads ----------*- C++ -*-===//
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <pthread.h>

namespace brew::test {

/// During its lifetime, creating a thread fails: the default stack size exceeds
/// the memory of any machine.
class NoMoreThreads {
public:
  NoMoreThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&previousAttributes), 0);
    pthread_attr_t huge = previousAttributes;
    EXPECT_EQ(pthread_attr_setstacksize(&huge, std::size_t(1) << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&previousAttributes); }
  NoMoreThreads(const NoMoreThreads &) = delete;
  NoMoreThreads &operator=(const NoMoreThreads &) = delete;

private:
  pthread_attr_t previousAttributes;
};

} // namespace brew::test
