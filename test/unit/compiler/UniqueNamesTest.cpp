//===- UniqueNamesTest.cpp - Tests of unique identifiers ------------------===//
#include "compiler/cuda/UniqueNames.h"

#include <gtest/gtest.h>

namespace brew::compiler {
namespace {

TEST(UniqueNames, KeepsIdentifiers) {
  cuda::UniqueNames names;
  EXPECT_EQ(names.unique("conv1"), "conv1");
  EXPECT_EQ(names.unique("pool"), "pool");
  EXPECT_EQ(names.unique("res2a_branch1"), "res2a_branch1");
}

TEST(UniqueNames, ReplacesOtherCharacters) {
  cuda::UniqueNames names;
  EXPECT_EQ(names.unique("inception_3a/1x1"), "inception_3a_1x1");
  EXPECT_EQ(names.unique("a//b..c"), "a_b_c");
  EXPECT_EQ(names.unique("3rd"), "b_3rd");
  EXPECT_EQ(names.unique("//"), "b_");
}

TEST(UniqueNames, ReturnsEachNameOnce) {
  cuda::UniqueNames names;
  EXPECT_EQ(names.unique("data"), "data");
  EXPECT_EQ(names.unique("data"), "data_2");
  EXPECT_EQ(names.unique("data_2"), "data_2_2");
}

TEST(UniqueNames, AvoidsReservedWords) {
  cuda::UniqueNames names;
  for (const char *word : {"float", "union", "threadIdx", "expf", "tanh", "v12",
                           "lane", "unix", "brewMaximum", "BREW_IN", "abs",
                           "norm", "maxf", "float4", "y1", "clock64"})
    EXPECT_NE(names.unique(word), word);
}

} // namespace
} // namespace brew::compiler
