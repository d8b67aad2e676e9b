//===- DisplayedLossTest.cpp - Moving average of the loss -----------------===//
#include "TrainingFixture.h"

#include "formats/SolverStateFile.h"

#include <deque>
#include <limits>
#include <random>

using namespace brew;
using namespace brew::runtime;
using test::LogLines;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class DisplayedLossTest : public test::TrainingFixture {
protected:
  std::unique_ptr<Trainer> makeTrainer(int averageLoss,
                                       const std::string &snapshot = "") {
    return make("base_lr: 0 lr_policy: 'fixed' max_iter: 1000 average_loss: " +
                    std::to_string(averageLoss),
                snapshot);
  }

  /// Runs one or more iterations with this loss.
  static void runWithLoss(Trainer &trainer, double loss) {
    trainer.useCallerGradients(loss);
    trainer.update();
  }

  static void runWithLoss(Trainer &trainer, double loss, int times) {
    for (int i = 0; i < times; ++i)
      runWithLoss(trainer, loss);
  }

  LogLines log;
};

} // namespace

TEST_F(DisplayedLossTest, RecoversFromLossesThatLeaveTheWindow) {
  for (const double spike : {1e18, -1e300, kInfinity, -kInfinity, kNaN}) {
    auto trainer = makeTrainer(4);
    runWithLoss(*trainer, 0.5, 2);
    runWithLoss(*trainer, spike);
    runWithLoss(*trainer, 0.5, 3);
    // The spike is the oldest of the four.
    if (std::isnan(spike))
      EXPECT_TRUE(std::isnan(trainer->smoothedLoss()));
    else
      EXPECT_DOUBLE_EQ(trainer->smoothedLoss(), (spike + 1.5) / 4);
    runWithLoss(*trainer, 0.5);
    EXPECT_EQ(trainer->smoothedLoss(), 0.5) << spike;
  }
}

TEST_F(DisplayedLossTest, RecoversFromInfinitiesOfBothSigns) {
  auto trainer = makeTrainer(2);
  runWithLoss(*trainer, kInfinity);
  runWithLoss(*trainer, -kInfinity);
  EXPECT_TRUE(std::isnan(trainer->smoothedLoss()));
  runWithLoss(*trainer, 2);
  EXPECT_EQ(trainer->smoothedLoss(), -kInfinity);
  runWithLoss(*trainer, 4);
  EXPECT_EQ(trainer->smoothedLoss(), 3);
}

TEST_F(DisplayedLossTest, FollowsChangesOfTheWindowLength) {
  auto trainer = makeTrainer(4);
  runWithLoss(*trainer, kInfinity);
  runWithLoss(*trainer, 2, 2);
  trainer->control().set("average_loss", "3");
  runWithLoss(*trainer, 5);
  EXPECT_EQ(trainer->smoothedLoss(), 3);
  trainer->control().set("average_loss", "5");
  runWithLoss(*trainer, 7);
  EXPECT_EQ(trainer->smoothedLoss(), 4);
}

TEST_F(DisplayedLossTest, EqualsCaffesToThePrintedDigits) {
  constexpr int kWindow = 7;
  auto trainer = makeTrainer(kWindow);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> losses(0.01, 3);
  std::deque<double> window;
  double smoothed = 0; // the formulas of Caffe's Solver::UpdateSmoothedLoss
  for (int i = 0; i < 300; ++i) {
    const double loss = losses(random);
    if (window.size() < kWindow) {
      window.push_back(loss);
      const double size = static_cast<double>(window.size());
      smoothed = (smoothed * (size - 1) + loss) / size;
    } else {
      smoothed += (loss - window.front()) / kWindow;
      window.pop_front();
      window.push_back(loss);
    }
    runWithLoss(*trainer, loss);
    EXPECT_EQ(log::number(trainer->smoothedLoss()), log::number(smoothed)) << i;
  }
}

TEST_F(DisplayedLossTest, RecoversInResumedRuns) {
  for (const double spike : {1e18, kInfinity, kNaN}) {
    auto original = makeTrainer(3);
    runWithLoss(*original, spike);
    runWithLoss(*original, 0.25);
    original->snapshot();
    auto resumed = makeTrainer(3, folder / "snap_iter_2.solverstate");
    for (Trainer *trainer : {original.get(), resumed.get()}) {
      runWithLoss(*trainer, 0.5);
      runWithLoss(*trainer, 0.75);
    }
    EXPECT_EQ(original->smoothedLoss(), 0.5) << spike;
    EXPECT_EQ(resumed->smoothedLoss(), 0.5) << spike;
  }
}

TEST_F(DisplayedLossTest, RecoversFromSavedInfiniteSum) {
  auto first = makeTrainer(2);
  runWithLoss(*first, 0.25);
  runWithLoss(*first, 0.75);
  first->snapshot();
  const std::string path = folder / "snap_iter_2.solverstate";
  formats::SolverSnapshot state = formats::readSolverState(path);
  // The value that Brew wrote after an infinite loss.
  formats::setNamedValues(state.state, "/losses", {kNaN, 0.25, 0.75});
  state.state.set_brew_smoothed_loss(std::numeric_limits<float>::quiet_NaN());
  formats::writeSolverState(path, state, formats::SnapshotFormat::BinaryProto);
  auto resumed = makeTrainer(2, path);
  EXPECT_EQ(resumed->smoothedLoss(), 0.5);
  runWithLoss(*resumed, 1.25);
  EXPECT_EQ(resumed->smoothedLoss(), 1);
}
