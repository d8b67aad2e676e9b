//===- CpuCallTunerTest.cpp - Choice of a call's fastest candidate --------===//
//
// Calls advance a fake clock, so no test depends on real time.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/CpuBenchmark.h"
#include "support/Error.h"

#include <gtest/gtest.h>
#include <map>

using namespace brew;
using namespace brew::runtime;

namespace {

/// A candidate whose runs take `seconds`, or `laterSeconds` from its second
/// preparation on, unless that is negative.
struct FakeCandidate {
  std::string name;
  double seconds;
  std::uint64_t scratch = 0;
  double laterSeconds = -1;
};

class CpuCallTunerTest : public testing::Test {
protected:
  class FakeCall : public CpuStep {
  public:
    FakeCall(CpuCallTunerTest &test, const FakeCandidate &fake, double seconds)
        : test(test), fake(fake), seconds(seconds) {}
    void pack() override { isPacked = true; }
    std::uint64_t scratchBytes() const override { return fake.scratch; }
    void bindScratch(std::byte *memory) override { scratch = memory; }
    void run(const Threads &) override {
      EXPECT_TRUE(isPacked);
      if (fake.scratch > 0) {
        ASSERT_NE(scratch, nullptr);
        scratch[fake.scratch - 1] = std::byte(1);
      }
      test.now += seconds;
      ++test.runs[fake.name];
    }
    std::string describe() const override { return fake.name; }

  private:
    CpuCallTunerTest &test;
    const FakeCandidate &fake;
    double seconds;
    std::byte *scratch = nullptr;
    bool isPacked = false;
  };

  CallCandidate candidateOf(const FakeCandidate &fake) {
    return {fake.name, [this, &fake](DnnlContext &own) {
              EXPECT_NE(&own,
                        &context); // the own context owns packed weights
              const double seconds =
                  prepared[fake.name]++ && fake.laterSeconds >= 0
                      ? fake.laterSeconds
                      : fake.seconds;
              return std::make_unique<FakeCall>(*this, fake, seconds);
            }};
  }
  /// Returns nullopt if no candidate is available.
  std::optional<CallTuner::Result> choose(const CallCandidates::List &list) {
    CallCandidates candidates("call", [&] { return list; });
    CpuBenchmark benchmark(context, clock, candidates);
    tuner.startTuning();
    const CallTuner::Result &result = tuner.tune(candidates, benchmark);
    if (!result.error.empty())
      return std::nullopt;
    EXPECT_EQ(cache.find("cpu: call")->candidate, result.fastest.name);
    return result;
  }
  std::optional<CallTuner::Result>
  choose(const std::vector<FakeCandidate> &fakes) {
    CallCandidates::List candidates;
    for (const FakeCandidate &fake : fakes)
      candidates.push_back(candidateOf(fake));
    return choose(candidates);
  }

  const Threads workers{1};
  DnnlContext context = [this] {
    DnnlContext result;
    result.workers = &workers;
    return result;
  }();
  double now = 100;
  int evictions = 0;
  std::map<std::string, int> runs, prepared;
  const CpuClock clock{[this] { return now; }, [this] { ++evictions; }};
  TimingCache cache{"", [](const std::string &) {}};
  CallTuner tuner{cache, "cpu: ", kCpuTuningPolicy, /*enabled=*/true};
};

TEST_F(CpuCallTunerTest, ChoosesTheFastest) {
  const auto choice = choose({{"a", 3e-3}, {"b", 1e-3}, {"c", 2e-3}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->first.name, "a");
  EXPECT_NEAR(choice->first.seconds, 3e-3, 1e-9);
  EXPECT_EQ(choice->fastest.name, "b");
  EXPECT_NEAR(choice->fastest.seconds, 1e-3, 1e-9);
  // One untimed run, and at least three timed runs of candidates close to the
  // fastest.
  EXPECT_GE(runs["b"], 4);
  EXPECT_GE(evictions, 3 + 3);
}

TEST_F(CpuCallTunerTest, KeepsTheFirstIfOthersAreHardlyFaster) {
  const auto choice = choose({{"a", 1e-3}, {"b", 0.985e-3}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->fastest.name, "a");
  EXPECT_NEAR(choice->fastest.seconds, 1e-3, 1e-9);
  const auto clearlyFaster = choose({{"c", 1e-3}, {"d", 0.975e-3}});
  EXPECT_EQ(clearlyFaster->fastest.name, "d");
}

TEST_F(CpuCallTunerTest, MeasuresTheFirstAgain) {
  // The first candidate only seems slow: the machine is busy during its first
  // measurement.
  const auto choice = choose({{"a", 3e-3, 0, 1e-3}, {"b", 2e-3}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->fastest.name, "a");
  EXPECT_NEAR(choice->first.seconds, 1e-3, 1e-9);
  EXPECT_EQ(prepared["a"], 2);
}

TEST_F(CpuCallTunerTest, TimesFarSlowerCandidatesOnce) {
  choose({{"a", 1e-3}, {"b", 10e-3}});
  EXPECT_EQ(runs["b"], 2); // one untimed, one timed
}

TEST_F(CpuCallTunerTest, AllocatesScratchForTheLargest) {
  const auto choice =
      choose({{"a", 3e-3, 100}, {"b", 2e-3, 1 << 20}, {"c", 1e-3, 10}});
  EXPECT_EQ(choice->fastest.name, "c");
}

TEST_F(CpuCallTunerTest, SkipsUnavailableCandidates) {
  const FakeCandidate a{"a", 2e-3}, b{"b", 1e-3};
  std::vector<CallCandidate> candidates = {
      {"none", [](DnnlContext &) { return nullptr; }},
      {"refused",
       [](DnnlContext &) -> std::unique_ptr<CpuStep> {
         throw dnnl::error(dnnl_unimplemented, "test");
       }},
      {"large", [](DnnlContext &) -> std::unique_ptr<CpuStep> {
         throw unavailable("no memory");
       }}};
  EXPECT_FALSE(choose(candidates));
  EXPECT_FALSE(choose(CallCandidates::List()));
  candidates.push_back(candidateOf(a));
  candidates.push_back(candidateOf(b));
  const auto choice = choose(candidates);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->first.name, "a");
  EXPECT_EQ(choice->fastest.name, "b");
}

TEST_F(CpuCallTunerTest, InternalErrorsPropagate) {
  EXPECT_THROW(choose(CallCandidates::List{
                   {"broken",
                    [](DnnlContext &) -> std::unique_ptr<CpuStep> {
                      throw Error(ExitStatus::Bug, "test");
                    }}}),
               Error);
}

} // namespace
