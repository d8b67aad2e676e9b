//===- LearningRateTest.cpp - Policies against their closed forms ---------===//
#include "caffe/LearningRate.h"
#include "TestPlan.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;

namespace {

caffe::LearningRate make(const std::string &text) {
  return caffe::LearningRate(
      test::parse<caffe::SolverParameter>("base_lr: 0.5 " + text));
}

/// Returns the rate of an iteration, computed without those before it.
double at(const std::string &text, int iteration) {
  int step = 0;
  return make(text).at(iteration, step);
}

} // namespace

// Fields of the solver are floats; 1e-6 is a few of their units in the last
// place.
constexpr double kTolerance = 1e-6;

TEST(LearningRate, Fixed) {
  EXPECT_DOUBLE_EQ(at("lr_policy: 'fixed'", 12345), 0.5);
}

TEST(LearningRate, StepFallsEveryStepsize) {
  const char *text = "lr_policy: 'step' gamma: 0.1 stepsize: 10";
  EXPECT_DOUBLE_EQ(at(text, 0), 0.5);
  EXPECT_DOUBLE_EQ(at(text, 9), 0.5);
  EXPECT_NEAR(at(text, 10), 0.05, kTolerance);
  EXPECT_NEAR(at(text, 29), 0.005, kTolerance);
  int step = 0;
  make(text).at(29, step);
  EXPECT_EQ(step, 2); // part of the saved state
}

TEST(LearningRate, Exp) {
  EXPECT_NEAR(at("lr_policy: 'exp' gamma: 0.9", 7), 0.5 * std::pow(0.9, 7),
              kTolerance);
}

TEST(LearningRate, Inv) {
  // LeNet's own: 0.5 (1 + 0.0001 * 10000) ^ -0.75.
  EXPECT_NEAR(at("lr_policy: 'inv' gamma: 0.0001 power: 0.75", 10000),
              0.5 * std::pow(2, -0.75), kTolerance);
}

TEST(LearningRate, MultistepCountsTheValuesReached) {
  const auto rate =
      make("lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 5");
  int step = 0;
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i)
    rates.push_back(rate.at(i, step));
  EXPECT_EQ(rates,
            (std::vector<double>{0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125}));
  EXPECT_EQ(step, 2);
}

TEST(LearningRate, MultistepRisesByOneStepPerIterationOnly) {
  // A state saved with a step of 0 past both values catches up one by one, as
  // Caffe does.
  const auto rate =
      make("lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 5");
  int step = 0;
  EXPECT_DOUBLE_EQ(rate.at(10, step), 0.25);
  EXPECT_DOUBLE_EQ(rate.at(11, step), 0.125);
}

TEST(LearningRate, Poly) {
  EXPECT_NEAR(at("lr_policy: 'poly' power: 2 max_iter: 10", 4), 0.5 * 0.6 * 0.6,
              kTolerance);
  EXPECT_DOUBLE_EQ(at("lr_policy: 'poly' power: 2 max_iter: 10", 10), 0);
}

TEST(LearningRate, Sigmoid) {
  const char *text = "lr_policy: 'sigmoid' gamma: 0.25 stepsize: 10";
  EXPECT_NEAR(at(text, 10), 0.25, kTolerance);
  EXPECT_NEAR(at(text, 14), 0.5 / (1 + std::exp(-1.0)), kTolerance);
}

TEST(LearningRate, ErrorsNameMissingFields) {
  using test::expectError;
  const auto bad = ExitStatus::BadInput;
  expectError(bad, "did you mean 'multistep'",
              [] { make("lr_policy: 'multistp'"); });
  expectError(bad, "lr_policy is not set", [] { make(""); });
  expectError(bad, "stepsize > 0", [] { make("lr_policy: 'step' gamma: 1"); });
  expectError(bad, "gamma >= 0", [] { make("lr_policy: 'exp' gamma: -1"); });
  expectError(bad, "max_iter > 0", [] { make("lr_policy: 'poly'"); });
}
