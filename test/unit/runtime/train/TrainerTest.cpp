//===- TrainerTest.cpp - The solver loop ----------------------------------===//
#include "TrainingFixture.h"

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <algorithm>
#include <cstring>

using namespace brew;
using namespace brew::runtime;
using test::LinearReference;
using test::LogLines;

namespace {

class TrainerTest : public test::TrainingFixture {
protected:
  /// Returns a reference with the trainer's current weights.
  static LinearReference referenceOf(Trainer &trainer) {
    const auto values = weights(trainer);
    LinearReference reference;
    for (int k = 0; k < 3; ++k)
      reference.w[k] = values[k];
    reference.b = values[3];
    return reference;
  }

  static void expectNear(Trainer &trainer, const LinearReference &reference) {
    const auto values = weights(trainer);
    // Single precision differs from double after a few dozen operations.
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(values[k], reference.w[k], 2e-6);
    EXPECT_NEAR(values[3], reference.b, 2e-6);
  }
};

} // namespace

TEST_F(TrainerTest, FollowsSgdWithMomentumAndDecay) {
  LogLines log;
  auto trainer = make("base_lr: 0.3 lr_policy: 'exp' gamma: 0.8 "
                      "momentum: 0.9 weight_decay: 0.05 max_iter: 12");
  LinearReference reference = referenceOf(*trainer);
  trainer->step(12);
  std::vector<float> bx, bt;
  for (int i = 0; i < 12; ++i) {
    double gw[3] = {}, gb = 0;
    batch(i, bx, bt);
    reference.gradients(bx, bt, gw, gb);
    reference.update(gw, gb, 0.3 * std::pow(0.8, i), 0.9, 0.05, 1);
  }
  expectNear(*trainer, reference);
  EXPECT_EQ(trainer->iteration(), 12);
}

TEST_F(TrainerTest, IterSizeAveragesGradientsAndLosses) {
  LogLines log;
  auto trainer = make("base_lr: 0.3 lr_policy: 'fixed' momentum: 0.5 "
                      "iter_size: 3 max_iter: 4");
  LinearReference reference = referenceOf(*trainer);
  trainer->step(4);
  std::vector<float> bx, bt;
  double loss = 0;
  for (int i = 0; i < 4; ++i) {
    double gw[3] = {}, gb = 0;
    loss = 0;
    for (int k = 0; k < 3; ++k) {
      batch(i * 3 + k, bx, bt);
      loss += reference.gradients(bx, bt, gw, gb) / 3;
    }
    reference.update(gw, gb, 0.3, 0.5, 0, 1.0 / 3);
  }
  expectNear(*trainer, reference);
  EXPECT_NEAR(trainer->smoothedLoss(), loss, 1e-6);
}

TEST_F(TrainerTest, ClipsTheNormOfAllGradientsBeforeAveraging) {
  LogLines log;
  auto trainer = make("base_lr: 0.5 lr_policy: 'fixed' clip_gradients: 0.2 "
                      "iter_size: 2 max_iter: 3");
  LinearReference reference = referenceOf(*trainer);
  trainer->step(3);
  std::vector<float> bx, bt;
  int clipped = 0;
  for (int i = 0; i < 3; ++i) {
    double gw[3] = {}, gb = 0;
    for (int k = 0; k < 2; ++k) {
      batch(i * 2 + k, bx, bt);
      reference.gradients(bx, bt, gw, gb);
    }
    double norm = gb * gb;
    for (double g : gw)
      norm += g * g;
    norm = std::sqrt(norm);
    const double factor = norm > 0.2 ? 0.2 / norm : 1;
    clipped += factor < 1;
    reference.update(gw, gb, 0.5, 0, 0, factor / 2);
  }
  expectNear(*trainer, reference);
  EXPECT_GE(clipped, 1);
  EXPECT_EQ(int(log.texts("Gradient clipping").size()), clipped);
}

TEST_F(TrainerTest, LogsAsCaffeDoesInCaffesOrder) {
  LogLines log;
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' display: 2 max_iter: 4 "
                      "test_iter: 3 test_interval: 2 snapshot: 4 "
                      "test_compute_loss: true");
  log.lines.clear();
  trainer->solve();
  const std::string prefix = folder / "snap";
  // The order of the events, without numbers.
  std::vector<std::string> expected = {
      "Solving Linear",
      "Learning Rate Policy: fixed",
      "Iteration 0, Testing net (#0)",
      "Test loss: ",
      "    Test net output #0: loss = ",
      "    Test net output #1: prediction = ",
      "    Test net output #2: prediction = ",
      "    Test net output #3: prediction = ",
      "    Test net output #4: prediction = ",
      "Iteration 0 (",
      "    Train net output #0: loss = ",
      "Iteration 0, lr = 0.1",
      "Iteration 2, Testing net (#0)",
      "Test loss: ",
      "    Test net output #0: loss = ",
      "    Test net output #1: prediction = ",
      "    Test net output #2: prediction = ",
      "    Test net output #3: prediction = ",
      "    Test net output #4: prediction = ",
      "Iteration 2 (",
      "    Train net output #0: loss = ",
      "    Speed: ",
      "Iteration 2, lr = 0.1",
      "Snapshotting to binary proto file " + prefix + "_iter_4.caffemodel",
      "Snapshotting solver state to binary proto file " + prefix +
          "_iter_4.solverstate",
      "Iteration 4, loss = ",
      "Iteration 4, Testing net (#0)",
      "Test loss: ",
      "    Test net output #0: loss = ",
      "    Test net output #1: prediction = ",
      "    Test net output #2: prediction = ",
      "    Test net output #3: prediction = ",
      "    Test net output #4: prediction = ",
      "Optimization Done."};
  std::vector<std::string> texts;
  for (const std::string &text : log.texts())
    if (text.find("Waiting for data") == text.npos)
      texts.push_back(text);
  ASSERT_EQ(texts.size(), expected.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(texts[i].substr(0, expected[i].size()), expected[i]);
}

TEST_F(TrainerTest, AveragesTestScoresOverBatches) {
  LogLines log;
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 "
                      "test_iter: 5 test_interval: 1");
  LinearReference reference = referenceOf(*trainer);
  trainer->test(0);
  std::vector<float> bx, bt;
  double loss = 0, unused[3] = {}, unusedB = 0;
  for (int i = 0; i < 5; ++i) {
    batch(i, bx, bt);
    loss += reference.gradients(bx, bt, unused, unusedB) / 5;
  }
  const auto lines = log.texts("Test net output #0");
  ASSERT_EQ(lines.size(), 1u);
  double displayed = 0, weighted = 0;
  ASSERT_EQ(std::sscanf(lines[0].c_str(),
                        "    Test net output #0: loss = %lf (* 1 = %lf loss)",
                        &displayed, &weighted),
            2);
  EXPECT_NEAR(displayed, loss, 1e-5 * loss); // six digits are printed
  EXPECT_EQ(weighted, displayed);
}

TEST_F(TrainerTest, AveragesLossOverFirstIterationsThenOverWindow) {
  LogLines log;
  auto trainer = make("base_lr: 0.2 lr_policy: 'fixed' average_loss: 3 "
                      "max_iter: 6");
  LinearReference reference = referenceOf(*trainer);
  std::vector<double> losses;
  std::vector<float> bx, bt;
  for (int i = 0; i < 6; ++i) {
    double gw[3] = {}, gb = 0;
    batch(i, bx, bt);
    losses.push_back(reference.gradients(bx, bt, gw, gb));
    reference.update(gw, gb, 0.2, 0, 0, 1);
  }
  // A solver that stops after two iterations averages two losses.
  auto stoppedEarly = make("base_lr: 0.2 lr_policy: 'fixed' average_loss: 3 "
                           "max_iter: 6");
  stoppedEarly->step(2);
  EXPECT_NEAR(stoppedEarly->smoothedLoss(), (losses[0] + losses[1]) / 2, 1e-6);
  trainer->step(6);
  EXPECT_NEAR(trainer->smoothedLoss(), (losses[3] + losses[4] + losses[5]) / 3,
              1e-6);
}

TEST_F(TrainerTest, BrewsStatesResumeExactly) {
  LogLines log;
  const char *fields =
      "base_lr: 0.3 lr_policy: 'multistep' stepvalue: 2 stepvalue: 4 "
      "gamma: 0.5 momentum: 0.9 max_iter: 7 snapshot: 3 average_loss: 4 "
      "test_iter: 2 test_interval: 2";
  auto original = make(fields);
  original->solve();
  auto resumed = make(fields, folder / "snap_iter_3.solverstate");
  EXPECT_EQ(resumed->iteration(), 3);
  resumed->solve();
  EXPECT_EQ(weights(*resumed), weights(*original)); // bitwise
  // The file stores the window as floats.
  EXPECT_NEAR(resumed->smoothedLoss(), original->smoothedLoss(), 1e-6);
  // The net is tested at iterations 0, 2, 4 and 6. The resumed run repeats the
  // tests at 4 and 6 on the same rows, because it restores the position of the
  // test reader.
  const auto scores = log.texts("Test net output #0");
  ASSERT_EQ(scores.size(), 6u);
  EXPECT_EQ(scores[4], scores[2]);
  EXPECT_EQ(scores[5], scores[3]);
}

TEST_F(TrainerTest, CaffesStatesRestartTheReaders) {
  LogLines log;
  const char *fields = "base_lr: 0.3 lr_policy: 'fixed' momentum: 0.9 "
                       "max_iter: 6 snapshot: 3";
  auto original = make(fields);
  LinearReference reference = referenceOf(*original);
  original->solve();
  // Caffe's states lack Brew's own fields.
  auto state = formats::readSolverState(folder / "snap_iter_3.solverstate");
  state.state.clear_brew_reader();
  state.state.clear_brew_rng_seed();
  state.state.clear_brew_rng();
  state.state.clear_brew_recent_loss();
  state.state.clear_brew_smoothed_loss();
  formats::writeSolverState(folder / "caffe.solverstate", state);
  auto resumed = make(fields, folder / "caffe.solverstate");
  resumed->step(3);
  std::vector<float> bx, bt;
  for (int i : {0, 1, 2, 0, 1, 2}) {
    double gw[3] = {}, gb = 0;
    batch(i, bx, bt);
    reference.gradients(bx, bt, gw, gb);
    reference.update(gw, gb, 0.3, 0.9, 0, 1);
  }
  expectNear(*resumed, reference);
  EXPECT_NE(weights(*resumed), weights(*original));
}

TEST_F(TrainerTest, ContinuesAfterAFailedCheck) {
  LogLines log;
  plan::Manifest manifest =
      test::linearModel(feed(), solver("base_lr: 0.1 lr_policy: 'fixed' "
                                       "max_iter: 20"));
  // The bits of the first target serve as the status of the check: 0 is good, 1
  // means that the first label is invalid.
  plan::Check &check = *manifest.mutable_programs(0)->add_checks();
  check.set_kind(plan::Check::LABEL_RANGE);
  check.set_status_buffer_index(
      static_cast<std::uint32_t>(manifest.buffers_size()));
  *manifest.add_buffers() =
      test::makeBuffer("status", 0, 64, {}, {}, plan::I32);
  check.set_values_buffer_index(1);
  check.set_limit(2);
  check.set_layer("ip");
  check.set_blob("target");
  TrainerOptions options;
  options.solver = solverOf(manifest);
  Session &session = open(manifest);
  Trainer trainer(session, std::move(options));
  int batch = 0;
  session.dataPipeline(0).setCallback(
      {}, [&](const std::vector<DataPipeline::Request> &requests) {
        for (const DataPipeline::Request &request : requests)
          std::fill_n(request.floats, request.count, 0.f);
        const std::int32_t status = ++batch == 3;
        std::memcpy(requests[1].floats, &status, sizeof status);
      });
  std::vector<int> iterations;
  session.events().add([&](const Event &event) {
    if (const auto *match = std::get_if<event::IterationDone>(&event))
      iterations.push_back(match->iteration);
  });
  test::expectError(ExitStatus::BadInput, "at position 0 of blob 'target'",
                    [&] { trainer.step(10); });
  const int failedIteration = trainer.iteration();
  trainer.step(3);
  EXPECT_EQ(trainer.iteration(), failedIteration + 3);
  ASSERT_GE(iterations.size(), 5u);
  EXPECT_EQ(iterations[1], 1);
  EXPECT_TRUE(std::is_sorted(iterations.begin(), iterations.end()));
  EXPECT_EQ(iterations.back(), trainer.iteration() - 1);
}

TEST_F(TrainerTest, StopRequestsSnapshotAndEndEarly) {
  LogLines log;
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 100");
  int polls = 0;
  trainer->setActionFunction(
      [&] { return ++polls == 5 ? SolverAction::Stop : SolverAction::None; });
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 5);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_5.solverstate"));
  EXPECT_EQ(log.texts("Optimization stopped early.").size(), 1u);
  EXPECT_TRUE(log.texts("Optimization Done.").empty());
}

TEST_F(TrainerTest, TrainingContinuesAfterSnapshotRequests) {
  LogLines log;
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 4 "
                      "snapshot_after_train: false");
  int polls = 0;
  trainer->setActionFunction([&] {
    return ++polls == 2 ? SolverAction::Snapshot : SolverAction::None;
  });
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 4);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_2.solverstate"));
  EXPECT_FALSE(std::filesystem::exists(folder / "snap_iter_4.solverstate"));
}

TEST_F(TrainerTest, HandlesRequestsDuringATest) {
  LogLines log;
  auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' max_iter: 4 "
                      "test_iter: 50 test_interval: 1");
  int polls = 0;
  trainer->setActionFunction(
      [&] { return ++polls == 10 ? SolverAction::Stop : SolverAction::None; });
  trainer->solve();
  EXPECT_EQ(trainer->iteration(), 0);
  EXPECT_EQ(log.texts("Test interrupted.").size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder / "snap_iter_0.solverstate"));
}

TEST_F(TrainerTest, RejectsUnsupportedSettings) {
  using test::expectError;
  LogLines log;
  const auto bad = ExitStatus::BadInput;
  const std::string base = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 ";
  expectError(bad, "momentum cannot be used with AdaGrad",
              [&] { make(base + "type: 'AdaGrad' momentum: 0.5"); });
  expectError(bad, "momentum cannot be used with RMSProp",
              [&] { make(base + "type: 'RMSProp' momentum: 0.5"); });
  expectError(bad, "rms_decay must be",
              [&] { make(base + "type: 'RMSProp' rms_decay: 1"); });
  expectError(bad, "average_loss", [&] { make(base + "average_loss: 0"); });
  expectError(bad, "1 test nets",
              [&] { make(base + "test_iter: 1 test_iter: 1"); });
  expectError(ExitStatus::Unavailable, "cannot write to snapshot prefix", [&] {
    make(base + "snapshot: 1 snapshot_prefix: '/nowhere/at/all'");
  });
}

TEST_F(TrainerTest, LogsRandomSeedThatReproducesTheRun) {
  LogLines log;
  const std::string fields = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 ";
  auto first = make(fields + "random_seed: -1");
  const auto line = log.texts("Random seed: ");
  ASSERT_EQ(line.size(), 1u);
  auto repeated = make(fields + "random_seed: " + line[0].substr(13));
  EXPECT_EQ(weights(*first), weights(*repeated));
}
