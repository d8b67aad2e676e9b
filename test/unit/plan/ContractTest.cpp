//===- ContractTest.cpp - Names and limits of the plan contract -----------===//
#include "plan/Contract.h"
#include "plan/plan.pb.h"

#include <gtest/gtest.h>

#include <cmath>

namespace brew::plan {
namespace {

TEST(Contract, TestProgramsAreNumbered) {
  EXPECT_EQ(programs::testIndex("test_0"), 0);
  EXPECT_EQ(programs::testIndex(programs::testName(17)), 17);
  for (const char *name : {"test_", "test", "test_1a", "tests_1", "deploy", "",
                           "test_99999999999999999999"})
    EXPECT_EQ(programs::testIndex(name), -1) << name;
}

TEST(Contract, ScalesOfLossesArePowersOfTwo) {
  for (double good : {1.0, 2.0, 1024.0, loss_scale::kMaxScale})
    EXPECT_TRUE(loss_scale::isValid(good)) << good;
  for (double bad :
       {0.0, -2.0, 0.5, 3.0, 2 * loss_scale::kMaxScale, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(loss_scale::isValid(bad)) << bad;
}

TEST(Contract, EveryScalarHasASlotOfItsOwn) {
  EXPECT_EQ(kScalarCount, static_cast<unsigned>(SCALAR_COUNT));
  EXPECT_EQ(scalarOffset(BIAS_CORRECTION) + kAlignment,
            scalarOffset(BIAS_CORRECTION + 1));
  EXPECT_LT(scalarOffset(BIAS_CORRECTION), scalarOffset(kScalarCount));
  EXPECT_EQ(alignUp(1), kAlignment);
  EXPECT_EQ(alignUp(kAlignment), kAlignment);
}

} // namespace
} // namespace brew::plan
