//===- CpuTest.cpp - Threads, memory and features of the machine ----------===//
#include "PlanBuilder.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/Threads.h"
#include "support/Error.h"
#include "test/common/NoMoreThreads.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>

// Functions of libgomp.
extern "C" {
void omp_set_num_threads(int count);
int omp_get_max_threads(void);
}

using namespace brew;
using namespace brew::runtime;

namespace {

TEST(Threads, RangesCoverTheDomainOnce) {
  for (int workers : {1, 2, 3, 7})
    for (std::int64_t domain : {1, 2, 5, 64, 100})
      for (std::int64_t grain : {1, 3, 64, 1000}) {
        Threads threads(workers);
        ASSERT_EQ(threads.count(), workers);
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(domain));
        std::atomic<int> ranges{0};
        std::atomic<bool> aligned{true};
        threads.parallelFor(domain, grain,
                            [&](std::int64_t begin, std::int64_t end) {
                              ++ranges;
                              if (begin % grain != 0)
                                aligned = false;
                              for (std::int64_t i = begin; i < end; ++i)
                                ++visits[static_cast<std::size_t>(i)];
                            });
        for (auto &count : visits)
          ASSERT_EQ(count, 1);
        ASSERT_TRUE(aligned);
        ASSERT_LE(ranges, workers);
        // Every worker gets work if there is enough.
        ASSERT_EQ(ranges, std::min<std::int64_t>(workers,
                                                 (domain + grain - 1) / grain));
      }
}

TEST(Threads, SmallWorkStaysOnTheCaller) {
  Threads threads(4);
  std::thread::id caller = std::this_thread::get_id(), seen;
  threads.parallelFor(10, 10, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 10);
    seen = std::this_thread::get_id();
  });
  EXPECT_EQ(seen, caller);
  threads.parallelFor(0, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

TEST(Threads, RestoresTheThreadCountOfTheCaller) {
  omp_set_num_threads(5);
  {
    const Threads::Scope outer = Threads(2).enter();
    EXPECT_EQ(omp_get_max_threads(), 2);
    const Threads::Scope inner = Threads(3).enter();
    EXPECT_EQ(omp_get_max_threads(), 3);
  }
  EXPECT_EQ(omp_get_max_threads(), 5);
}

TEST(Threads, LargeWorkUsesAllThreads) {
  Threads threads(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  threads.parallelFor(3, 1, [&](std::int64_t, std::int64_t) {
    std::lock_guard<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Threads, MissingThreadsAreAnError) {
  const test::NoMoreThreads noMoreThreads;
  try {
    Threads threads(30); // more than other tests have used
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("cannot create 30 threads"),
              std::string::npos);
  }
}

TEST(Threads, DefaultFollowsTheEnvironment) {
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(Threads(0).count(), 3);
  setenv("OMP_NUM_THREADS", "5,2", 1);
  EXPECT_EQ(Threads(0).count(), 5);
  setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_GE(Threads(0).count(), 1);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_GE(Threads(0).count(), 1);
  EXPECT_EQ(Threads(2).count(), 2);
}

TEST(Arena, IsZeroedAndAligned) {
  for (std::uint64_t size : {1ull, 64ull, 5000ull, 3ull << 20}) {
    Arena arena(size, "a test");
    ASSERT_EQ(arena.size(), size);
    auto address = reinterpret_cast<std::uintptr_t>(arena.data());
    EXPECT_EQ(address % (size >= 2 << 20 ? 2 << 20 : 64), 0u);
    EXPECT_EQ(arena.data()[0], std::byte(0));
    EXPECT_EQ(arena.data()[size - 1], std::byte(0));
    arena.data()[size - 1] = std::byte(1);
    Arena moved(std::move(arena));
    EXPECT_EQ(arena.data(), nullptr);
    EXPECT_EQ(moved.data()[size - 1], std::byte(1));
  }
  EXPECT_EQ(Arena(0, "nothing").data(), nullptr);
}

TEST(Arena, ReportsTooLargeArenaAsUnavailable) {
  try {
    Arena arena(std::uint64_t(1) << 60, "a giant net");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("a giant net"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("1.0 EiB"), std::string::npos);
  }
}

TEST(Arena, DescribesSizesWithUnits) {
  EXPECT_EQ(describeBytes(0), "0 bytes");
  EXPECT_EQ(describeBytes(1023), "1023 bytes");
  EXPECT_EQ(describeBytes(1536), "1.5 KiB");
  EXPECT_EQ(describeBytes(std::uint64_t(3) << 30), "3.0 GiB");
}

#if defined(__x86_64__)
TEST(CpuFeatures, AgreesWithTheCompiler) {
  // The compiler's own detection is the reference for the names it knows.
#define EXPECT_FEATURE(name)                                                   \
  EXPECT_EQ(cpuHasFeature(name), __builtin_cpu_supports(name) != 0) << name
  EXPECT_FEATURE("sse2");
  EXPECT_FEATURE("sse4.1");
  EXPECT_FEATURE("sse4.2");
  EXPECT_FEATURE("popcnt");
  EXPECT_FEATURE("avx");
  EXPECT_FEATURE("avx2");
  EXPECT_FEATURE("fma");
  EXPECT_FEATURE("fma4");
  EXPECT_FEATURE("bmi");
  EXPECT_FEATURE("bmi2");
  EXPECT_FEATURE("avx512f");
  EXPECT_FEATURE("avx512vl");
  EXPECT_FEATURE("avx512bw");
  EXPECT_FEATURE("avx512dq");
  EXPECT_FEATURE("avx512vnni");
  EXPECT_FEATURE("avx512vbmi2");
#undef EXPECT_FEATURE
  EXPECT_TRUE(cpuHasFeature("64bit"));
  EXPECT_TRUE(cpuHasFeature("cmov"));
  EXPECT_FALSE(cpuHasFeature("teleport"));
  EXPECT_FALSE(cpuHasFeature(""));
}

TEST(CpuFeatures, NamesMissingFeatures) {
  plan::Target target;
  target.set_kind(plan::Target::CPU);
  target.set_triple("x86_64-pc-linux-gnu");
  target.set_cpu("futurelake");
  target.add_cpu_features("sse2");
  EXPECT_NO_THROW(checkTarget(target, "a.plan"));
  target.add_cpu_features("teleport");
  target.add_cpu_features("avx9000");
  try {
    checkTarget(target, "a.plan");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_STREQ(error.what(),
                 "a.plan: this plan was built for futurelake "
                 "(x86_64-pc-linux-gnu); this machine lacks teleport, avx9000 "
                 "(recompile the net with --cpu native on this machine)");
  }
}

TEST(CpuFeatures, RefusesOtherArchitectureAndCuda) {
  plan::Target target;
  target.set_kind(plan::Target::CPU);
  target.set_triple("aarch64-unknown-linux-gnu");
  EXPECT_THROW(checkTarget(target, "a.plan"), Error);
  target.set_kind(plan::Target::CUDA);
  target.clear_triple();
  try {
    checkTarget(target, "a.plan");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos);
  }
}
#endif

} // namespace
