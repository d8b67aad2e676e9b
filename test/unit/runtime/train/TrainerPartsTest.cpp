//===- TrainerPartsTest.cpp - State, requests, ranks of a trainer ---------===//
#include "TrainingFixture.h"

#include "runtime/train/Collectives.h"
#include "runtime/train/RequestPoller.h"
#include "runtime/train/SolverFields.h"
#include "runtime/train/TrainingState.h"

#include <deque>

using namespace brew;
using namespace brew::runtime;
using Scope = RequestPoller::Scope;

namespace {

class TrainerPartsTest : public test::TrainingFixture {
protected:
  static caffe::SolverParameter solverWithRate(float rate) {
    caffe::SolverParameter solver;
    solver.set_base_lr(rate);
    return solver;
  }

  std::unique_ptr<Collectives> ranks = Collectives::create(open(
      test::linearModel(feed(), solver("base_lr: 0.1 lr_policy: 'fixed'"))));
  TrainerControl control{solverWithRate(0.1f),
                         [](const caffe::SolverParameter &candidate,
                            const caffe::SolverParameter &) {
                           if (candidate.base_lr() < 0)
                             throw badInput("negative");
                         }};
  RequestPoller requests{control, *ranks};
};

} // namespace

TEST_F(TrainerPartsTest, OneRankSendsNothing) {
  EXPECT_TRUE(ranks->isAlone());
  EXPECT_TRUE(ranks->isRoot());
  EXPECT_EQ(ranks->allReduceOr(6), 6u);
  EXPECT_EQ(ranks->gatherTexts("own"), std::vector<std::string>{"own"});
  EXPECT_EQ(ranks->shareSeed({7, 2}).rankSeed(), 9u);
  EXPECT_FALSE(ranks->takeStraggler(1));
}

TEST_F(TrainerPartsTest, StateSurvivesASnapshotExactly) {
  TrainingState state;
  state.iteration = 12;
  state.rate = {/*step=*/2, /*minimumLoss=*/0.25f, /*lastEvent=*/9};
  state.attached = {1.5, 0.1};
  for (double loss : {0.1, 0.2, 0.3})
    state.losses.add(loss, 3);
  caffe::SolverState saved;
  state.save(saved);

  TrainingState restored;
  restored.restore(saved, "a state");
  restored.restoreLosses(saved, 2);
  EXPECT_EQ(restored.iteration, 12);
  EXPECT_EQ(restored.rate.step, 2);
  EXPECT_EQ(restored.rate.minimumLoss, 0.25f);
  EXPECT_EQ(restored.rate.lastEvent, 9);
  EXPECT_EQ(restored.attached, state.attached);
  EXPECT_EQ(restored.losses.losses(), (std::deque<double>{0.2, 0.3}));
}

TEST_F(TrainerPartsTest, ChangesApplyOnceAndInOrder) {
  control.set("base_lr", "0.5");
  control.set("base_lr", "0.25");
  control.set("momentum", "0.5");
  EXPECT_THROW(control.set("base_lr", "-1"), Error);
  EXPECT_EQ(control.get("base_lr"), "0.25");
  EXPECT_EQ(control.pendingSolver().base_lr(), 0.25f);
  EXPECT_EQ(control.current().base_lr(), 0.1f);

  const auto changes = requests.applyChanges(Scope::AllRanks);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].value, "0.5");
  EXPECT_EQ(changes[2].field, "momentum");
  EXPECT_EQ(control.current().base_lr(), 0.25f);
  EXPECT_EQ(control.current().momentum(), 0.5f);
  EXPECT_TRUE(requests.applyChanges(Scope::AllRanks).empty());
  EXPECT_EQ(control.get("base_lr"), "0.25");
}

TEST_F(TrainerPartsTest, ChangesAfterTheAnnouncementWait) {
  control.set("base_lr", "0.5");
  EXPECT_TRUE(control.announceChanges());
  control.set("base_lr", "0.25");
  control.applyChanges(control.announcedChanges());
  EXPECT_EQ(control.current().base_lr(), 0.5f);
  EXPECT_EQ(control.get("base_lr"), "0.25");
  EXPECT_TRUE(control.announceChanges());
  EXPECT_EQ(control.announcedChanges().size(), 1u);
}

TEST_F(TrainerPartsTest, PollsSignalsAndOtherThreads) {
  std::deque<SolverAction> signals = {SolverAction::Snapshot,
                                      SolverAction::Stop};
  requests.setActionFunction([&] {
    if (signals.empty())
      return SolverAction::None;
    const SolverAction next = signals.front();
    signals.pop_front();
    return next;
  });
  TrainerControl::Requests requested = requests.poll(false, Scope::ThisRank);
  EXPECT_TRUE(requested.snapshot);
  EXPECT_TRUE(requested.stop);

  control.pause();
  requested = requests.poll(/*snapshotDue=*/true, Scope::AllRanks);
  EXPECT_TRUE(requested.snapshot);
  EXPECT_FALSE(requested.stop);
  EXPECT_TRUE(requests.isPaused());
  control.stop();
  EXPECT_TRUE(requests.poll(false, Scope::AllRanks).stop);
  EXPECT_FALSE(requests.isPaused());
}
