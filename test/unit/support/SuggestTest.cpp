//===- SuggestTest.cpp ----------------------------------------------------===//
#include "support/Suggest.h"

#include <gtest/gtest.h>

using namespace brew;

namespace {

const std::vector<std::string> types{"Convolution", "Deconvolution", "Pooling",
                                     "ReLU",        "PReLU",         "ELU"};

TEST(Suggest, ComputesEditDistance) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("conv1", "conv1"), 0u);
  EXPECT_EQ(editDistance("conv1", "conv2"), 1u);
  EXPECT_EQ(editDistance("cnov1", "conv1"), 1u); // neighbours swapped
  EXPECT_EQ(editDistance("relu", "ReLU"), 1u);
}

TEST(Suggest, FindsNearestName) {
  EXPECT_EQ(nearestName("Convolutoin", types), "Convolution");
  EXPECT_EQ(nearestName("convolution", types), "Convolution");
  EXPECT_EQ(nearestName("relu", types), "ReLU");
  EXPECT_EQ(nearestName("Pool", types), "");
  EXPECT_EQ(nearestName("Transformer", types), "");
  EXPECT_EQ(nearestName("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearestName("pool3", std::vector<std::string>{"conv1", "pool2"}),
            "pool2");
}

TEST(Suggest, ComparesNamesWordByWord) {
  EXPECT_TRUE(hasNearWords("kernal_size", "kernel_size"));
  EXPECT_TRUE(hasNearWords("kernelsize", "kernel_size"));
  EXPECT_TRUE(hasNearWords("num_outputs", "num_output"));
  EXPECT_FALSE(hasNearWords("fixed_size", "min_size"));
  EXPECT_FALSE(hasNearWords("size", "min_size"));
}

TEST(Suggest, DistinguishesMisspellingsFromRelatedNames) {
  EXPECT_TRUE(isLikelyMisspelling("Convolutoin", "Convolution"));
  EXPECT_TRUE(isLikelyMisspelling("relu", "ReLU"));
  EXPECT_TRUE(isLikelyMisspelling("Sigmod", "Sigmoid"));
  EXPECT_FALSE(isLikelyMisspelling("SELU", "ELU"));
  EXPECT_FALSE(isLikelyMisspelling("Unpooling", "Pooling"));
  EXPECT_FALSE(isLikelyMisspelling("L2Loss", "L1Loss"));
  EXPECT_FALSE(isLikelyMisspelling("SoftmaxCrossEntropyLoss",
                                   "SigmoidCrossEntropyLoss"));
  EXPECT_FALSE(isLikelyMisspelling("", "Pooling"));
}

TEST(Suggest, FormatsSuggestion) {
  EXPECT_EQ(didYouMean("ReLu", types), "; did you mean 'ReLU'?");
  EXPECT_EQ(didYouMean("Nothing like it", types), "");
  EXPECT_EQ(didYouMean("x", std::vector<std::string>{}), "");
}

} // namespace
