//===- PlanMutationTest.cpp - Random damage never crashes the reader ------===//
//
// The deterministic counterpart of test/fuzz: any plan is either rejected with
// an error or safe to use. Run it with sanitizers.
//
//===----------------------------------------------------------------------===//
#include "PlanBuilder.h"
#include "PlanMutator.h"

#include <gtest/gtest.h>

using namespace brew::test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size);

TEST(PlanMutation, RefusedOrSafe) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200);
  const std::string good = builder.bytes();
  std::mt19937_64 random(20141121);
  int accepted = 0;
  constexpr int count = 30000;
  for (int i = 0; i < count; ++i) {
    std::string bytes = mutatePlan(good, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.data()),
                           bytes.size());
    accepted += loadError(bytes).empty();
  }
  // Some mutations affect names only. If all plans were rejected, or none, the
  // series would not test the rules.
  EXPECT_GT(accepted, count / 100);
  EXPECT_LT(accepted, count / 2);
}
