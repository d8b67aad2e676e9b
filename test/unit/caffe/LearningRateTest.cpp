//===- LearningRateTest.cpp - Policies against their closed forms ---------===//
#include "caffe/LearningRate.h"
#include "TestPlan.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;

namespace {

caffe::LearningRate makeRate(const std::string &text) {
  return caffe::LearningRate(
      test::parse<caffe::SolverParameter>("base_lr: 0.5 " + text));
}

/// Returns the rate of an iteration, computed without the earlier iterations.
double rateAt(const std::string &text, int iteration) {
  int step = 0;
  return makeRate(text).at(iteration, step);
}

} // namespace

// Fields of the solver are floats; 1e-6 is a few units in the last place of a
// float.
constexpr double kTolerance = 1e-6;

TEST(LearningRate, Fixed) {
  EXPECT_DOUBLE_EQ(rateAt("lr_policy: 'fixed'", 12345), 0.5);
}

TEST(LearningRate, StepFallsEveryStepsize) {
  const char *text = "lr_policy: 'step' gamma: 0.1 stepsize: 10";
  EXPECT_DOUBLE_EQ(rateAt(text, 0), 0.5);
  EXPECT_DOUBLE_EQ(rateAt(text, 9), 0.5);
  EXPECT_NEAR(rateAt(text, 10), 0.05, kTolerance);
  EXPECT_NEAR(rateAt(text, 29), 0.005, kTolerance);
  int step = 0;
  makeRate(text).at(29, step);
  EXPECT_EQ(step, 2); // snapshots contain the step
}

TEST(LearningRate, Exp) {
  EXPECT_NEAR(rateAt("lr_policy: 'exp' gamma: 0.9", 7), 0.5 * std::pow(0.9, 7),
              kTolerance);
}

TEST(LearningRate, Inv) {
  // LeNet's settings: 0.5 (1 + 0.0001 * 10000) ^ -0.75.
  EXPECT_NEAR(rateAt("lr_policy: 'inv' gamma: 0.0001 power: 0.75", 10000),
              0.5 * std::pow(2, -0.75), kTolerance);
}

TEST(LearningRate, MultistepCountsTheValuesReached) {
  const auto rate =
      makeRate("lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 5");
  int step = 0;
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i)
    rates.push_back(rate.at(i, step));
  EXPECT_EQ(rates,
            (std::vector<double>{0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125}));
  EXPECT_EQ(step, 2);
}

TEST(LearningRate, MultistepRisesByOneStepPerIterationOnly) {
  // If a snapshot after both stepvalues contains step 0, the step catches up by
  // one per iteration, as in Caffe.
  const auto rate =
      makeRate("lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 5");
  int step = 0;
  EXPECT_DOUBLE_EQ(rate.at(10, step), 0.25);
  EXPECT_DOUBLE_EQ(rate.at(11, step), 0.125);
}

TEST(LearningRate, Poly) {
  EXPECT_NEAR(rateAt("lr_policy: 'poly' power: 2 max_iter: 10", 4),
              0.5 * 0.6 * 0.6, kTolerance);
  EXPECT_DOUBLE_EQ(rateAt("lr_policy: 'poly' power: 2 max_iter: 10", 10), 0);
}

TEST(LearningRate, Sigmoid) {
  const char *text = "lr_policy: 'sigmoid' gamma: 0.25 stepsize: 10";
  EXPECT_NEAR(rateAt(text, 10), 0.25, kTolerance);
  EXPECT_NEAR(rateAt(text, 14), 0.5 / (1 + std::exp(-1.0)), kTolerance);
}

TEST(LearningRate, ErrorsNameMissingFields) {
  using test::expectError;
  const auto bad = ExitStatus::BadInput;
  expectError(bad, "did you mean 'multistep'",
              [] { makeRate("lr_policy: 'multistp'"); });
  expectError(bad, "lr_policy is not set", [] { makeRate(""); });
  expectError(bad, "stepsize > 0",
              [] { makeRate("lr_policy: 'step' gamma: 1"); });
  expectError(bad, "gamma >= 0",
              [] { makeRate("lr_policy: 'exp' gamma: -1"); });
  expectError(bad, "max_iter > 0", [] { makeRate("lr_policy: 'poly'"); });
}
