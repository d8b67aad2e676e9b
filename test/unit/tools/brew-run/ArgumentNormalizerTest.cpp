//===- ArgumentNormalizerTest.cpp -----------------------------------------===//
#include "ArgumentNormalizer.h"

#include <gtest/gtest.h>

using brew::run::normalizeArguments;
using List = std::vector<std::string>;

TEST(ArgumentNormalizer, CaffesFlagsBecomeOptions) {
  EXPECT_EQ(normalizeArguments({"train", "-solver", "a.plan", "-gpu", "0",
                                "-sigint_effect=stop", "--weights=x_y.h5"}),
            (List{"train", "--solver", "a.plan", "--gpu", "0",
                  "--sigint-effect=stop", "--weights=x_y.h5"}));
  EXPECT_EQ(normalizeArguments({"device_query", "-gpu", "all"}),
            (List{"device-query", "--gpu", "all"}));
  // gflags allows options before the command.
  for (const char *command : {"test", "features", "embed", "tune", "monitor"})
    EXPECT_EQ(normalizeArguments({"-iterations", "3", command}),
              (List{command, "--iterations", "3"}));
}

TEST(ArgumentNormalizer, OtherArgumentsRemainUnchanged) {
  EXPECT_EQ(normalizeArguments({"-h"}), (List{"-h"}));
  EXPECT_EQ(normalizeArguments({"train", "--base-lr", "-0.5"}),
            (List{"train", "--base-lr", "-0.5"}));
  EXPECT_EQ(normalizeArguments({"train", "my_net.plan", "--", "-odd_name"}),
            (List{"train", "my_net.plan", "--", "-odd_name"}));
  EXPECT_EQ(normalizeArguments({"infer", "-"}), (List{"infer", "-"}));
}
