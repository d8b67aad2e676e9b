//===- LearningRateTest.cpp - Policies of learning rates ------------------===//
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
  caffe::LearningRateState state;
  return makeRate(text).at(iteration, state);
}

} // namespace

// Fields of the solver are floats; 1e-6 is a few units in the last place of a
// float.
constexpr double kTolerance = 1e-6;

TEST(LearningRate, Fixed) {
  EXPECT_DOUBLE_EQ(rateAt("lr_policy: 'fixed'", 12345), 0.5);
}

TEST(LearningRate, IsNotFiniteWhereTheFormulaIsNot) {
  EXPECT_TRUE(std::isinf(rateAt("lr_policy: 'exp' gamma: 1e38", 10)));
  // The base is negative after max_iter.
  EXPECT_TRUE(
      std::isnan(rateAt("lr_policy: 'poly' power: 0.5 max_iter: 10", 11)));
}

TEST(LearningRate, StepFallsEveryStepsize) {
  const char *text = "lr_policy: 'step' gamma: 0.1 stepsize: 10";
  EXPECT_DOUBLE_EQ(rateAt(text, 0), 0.5);
  EXPECT_DOUBLE_EQ(rateAt(text, 9), 0.5);
  EXPECT_NEAR(rateAt(text, 10), 0.05, kTolerance);
  EXPECT_NEAR(rateAt(text, 29), 0.005, kTolerance);
  caffe::LearningRateState state;
  makeRate(text).at(29, state);
  EXPECT_EQ(state.step, 2); // snapshots contain the step
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
  caffe::LearningRateState state;
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i)
    rates.push_back(rate.at(i, state));
  EXPECT_EQ(rates,
            (std::vector<double>{0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125}));
  EXPECT_EQ(state.step, 2);
}

TEST(LearningRate, MultistepRisesByOneStepPerIterationOnly) {
  // If a snapshot after both stepvalues contains step 0, the step catches up by
  // one per iteration, as in Caffe.
  const auto rate =
      makeRate("lr_policy: 'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 5");
  caffe::LearningRateState state;
  EXPECT_DOUBLE_EQ(rate.at(10, state), 0.25);
  EXPECT_DOUBLE_EQ(rate.at(11, state), 0.125);
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

//===----------------------------------------------------------------------===//
// Policies of forks
//===----------------------------------------------------------------------===//

namespace {

const char *const plateauText =
    "lr_policy: 'plateau' gamma: 0.5 plateau_winsize: 3 plateau_winsize: 2";

/// Returns the rates of the iterations that have these losses, from `first`.
std::vector<double> plateauRates(const std::vector<double> &losses,
                                 caffe::LearningRateState &state,
                                 int first = 0) {
  const caffe::LearningRate rate = makeRate(plateauText);
  std::vector<double> rates;
  for (double loss : losses)
    rates.push_back(
        rate.at(first + static_cast<int>(rates.size()), state, loss));
  return rates;
}

} // namespace

TEST(LearningRate, PlateauFallsAfterAWindowWithoutANewMinimum) {
  caffe::LearningRateState state;
  // Minima in iterations 0, 1 and 6; steps in 4 and 8, as the windows are 3 and
  // 2; a step starts a window, too. An equal loss is no new minimum.
  EXPECT_EQ(plateauRates({3, 2, 2, 5, 2, 2, 1, 1, 1, 9, 9, 9, 9}, state),
            (std::vector<double>{0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25,
                                 0.125, 0.125, 0.125, 0.125, 0.125}));
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(state.minimumLoss, 1);
  EXPECT_EQ(state.lastEvent, 8);
  EXPECT_TRUE(makeRate(plateauText).readsLoss());
  EXPECT_FALSE(makeRate("lr_policy: 'fixed'").readsLoss());
}

TEST(LearningRate, PlateauIgnoresLossesThatAreNotNumbers) {
  caffe::LearningRateState state;
  EXPECT_EQ(plateauRates({3, NAN, NAN, NAN, INFINITY}, state).back(), 0.25);
  EXPECT_EQ(state.minimumLoss, 3);
}

TEST(LearningRate, PlateauResumesFromASnapshot) {
  const std::vector<double> losses = {3, 2.1, 2.2, 5, 2.1, 2.3, 1, 1, 1, 9, 0};
  caffe::LearningRateState whole;
  const std::vector<double> rates = plateauRates(losses, whole);
  for (std::size_t cut = 0; cut < losses.size(); ++cut) {
    caffe::LearningRateState before, after;
    plateauRates({losses.begin(), losses.begin() + cut}, before);
    caffe::SolverState snapshot;
    before.save(snapshot);
    after.step = 77; // restore() replaces all fields
    after.restore(snapshot);
    EXPECT_EQ(plateauRates({losses.begin() + cut, losses.end()}, after,
                           static_cast<int>(cut)),
              std::vector<double>(rates.begin() + cut, rates.end()));
  }
}

TEST(LearningRate, OnlyPoliciesOfForksAddFieldsToSnapshots) {
  caffe::LearningRateState state;
  makeRate("lr_policy: 'step' gamma: 0.1 stepsize: 10").at(29, state);
  caffe::SolverState snapshot;
  state.save(snapshot);
  EXPECT_EQ(snapshot.current_step(), 2);
  EXPECT_FALSE(snapshot.has_minimum_loss() || snapshot.has_iter_last_event());
}

TEST(LearningRate, RisesLinearlyDuringWarmup) {
  for (const char *text :
       {"lr_policy: 'step' gamma: 0.5 stepsize: 4 warmup_iter: 5 "
        "warmup_start_lr: 0.1",
        "lr_policy: 'step' gamma: 0.5 stepsize: 4 rampup_interval: 5 "
        "rampup_lr: 0.1"}) {
    EXPECT_NEAR(rateAt(text, 0), 0.1, kTolerance);
    EXPECT_NEAR(rateAt(text, 4), 0.1 + 0.4 * 4 / 5, kTolerance);
    EXPECT_DOUBLE_EQ(rateAt(text, 5), 0.25); // the policy counts all iterations
  }
  EXPECT_DOUBLE_EQ(rateAt("lr_policy: 'fixed' warmup_iter: 4", 1), 0.125);
}

TEST(LearningRate, IsNotBelowTheMinimum) {
  const char *poly = "lr_policy: 'poly' power: 2 max_iter: 10 min_lr: 0.1";
  EXPECT_NEAR(rateAt(poly, 4), 0.1 + 0.4 * 0.36, kTolerance);
  EXPECT_NEAR(rateAt(poly, 10), 0.1, kTolerance);
  const char *exp = "lr_policy: 'exp' gamma: 0.5 min_lr: 0.1";
  EXPECT_DOUBLE_EQ(rateAt(exp, 2), 0.125);
  EXPECT_NEAR(rateAt(exp, 3), 0.1, kTolerance);
}

TEST(LearningRate, SgdrRestartsWithLongerPeriods) {
  const caffe::LearningRate rate =
      makeRate("lr_policy: 'sgdr' period: 3 p_mult: 1.5 lr_mult: 0.5 "
               "min_lr: 0.125");
  // Periods of 3, 4 (4.5 rounded down), 6 and 9 iterations.
  caffe::LearningRateState state;
  int iteration = 0;
  double maximum = 0.5;
  for (int period : {3, 4, 6, 9}) {
    for (int t = 0; t < period; ++t)
      EXPECT_NEAR(rate.at(iteration++, state),
                  0.125 + (maximum - 0.125) *
                              (1 + std::cos(std::acos(-1.0) * t / period)) / 2,
                  kTolerance);
    EXPECT_EQ(state.lastEvent, iteration - period);
    maximum /= 2;
  }
  EXPECT_EQ(state.step, 3);
}

TEST(LearningRate, SgdrHasDefaults) {
  const char *text = "lr_policy: 'sgdr' max_iter: 8";
  EXPECT_DOUBLE_EQ(rateAt(text, 0), 0.5); // one period until max_iter
  EXPECT_NEAR(rateAt(text, 4), (0.5 + 1e-6) / 2, kTolerance);
  EXPECT_NEAR(rateAt(text, 8), 0.5 * 0.8, kTolerance);
  // Equal or shrinking periods take no longer in late iterations.
  caffe::LearningRateState state;
  for (const char *factor : {"p_mult: 1", "p_mult: 0.1"})
    makeRate(std::string("lr_policy: 'sgdr' period: 3 ") + factor)
        .at(2000000000, state);
  EXPECT_EQ(state.step, 1999999998); // 3 iterations, then one per period
}

TEST(LearningRate, MultifixedTakesTheRateOfTheStage) {
  const char *text = "lr_policy: 'multifixed' stagelr: 0.25 stagelr: 0.125 "
                     "stageiter: 2 stageiter: 4";
  EXPECT_DOUBLE_EQ(rateAt(text, 2), 0.25);
  EXPECT_DOUBLE_EQ(rateAt(text, 3), 0.125);
  EXPECT_DOUBLE_EQ(rateAt(text, 9), 0.125);
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
  expectError(bad, "period > 0 or max_iter > 0",
              [] { makeRate("lr_policy: 'sgdr'"); });
  expectError(bad, "as many stageiter as stagelr",
              [] { makeRate("lr_policy: 'multifixed' stagelr: 1"); });
  expectError(bad, "gamma >= 0",
              [] { makeRate("lr_policy: 'plateau' gamma: -1"); });
}
