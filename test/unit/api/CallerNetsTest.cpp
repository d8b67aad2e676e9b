//===- CallerNetsTest.cpp - Trainers of nets that the caller runs ---------===//
//
// The caller's nets are sessions of the same plan, so that a trainer that runs
// the plan itself must compute the same values.
//
//===----------------------------------------------------------------------===//
#include "TestPlan.h"
#include "formats/SolverStateFile.h"
#include "formats/caffe.pb.h"
#include "test/common/TestFiles.h"

#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace brew::api;
namespace test = brew::test;

namespace {

const char *const kInput = "name: 'in' type: 'Input' top: 'x' top: 'target'";
enum Program { kTrain, kUpdate, kTest };

void feedSines(Session &session) {
  for (int program : {kTrain, kTest})
    session.setFeed(program, {},
                    [number = 0](const brew_feed_request *requests,
                                 std::size_t count) mutable {
                      ++number;
                      for (std::size_t i = 0; i < count; ++i)
                        for (std::int64_t k = 0; k < requests[i].count; ++k)
                          static_cast<float *>(requests[i].values)[k] =
                              std::sin(float(number * 7 + k));
                    });
}

/// Returns the weights and the bias of the linear model.
std::vector<float> parametersOf(Session &session) {
  std::vector<float> values = session.read(session.parameter("ip", 0));
  values.push_back(session.read(session.parameter("ip", 1))[0]);
  return values;
}

void setParameters(Session &session) {
  session.write(Session::parameter("ip", 0),
                std::vector<float>{0.5F, -0.25F, 1});
  session.write(Session::parameter("ip", 1), std::vector<float>{0.125F});
}

/// Runs the linear model in a session of its own.
class Nets : public CallerNets {
public:
  Nets(const Plan &plan, Session &updates) : net(plan), updates(updates) {
    feedSines(net);
    setParameters(updates);
  }

  double computeGradients() override {
    ++calls;
    if (onGradients)
      onGradients();
    takeParameters();
    net.feedAndRun(kTrain);
    return net.loss(kTrain);
  }
  double forward() override {
    takeParameters();
    net.feedAndRun(kTrain);
    return net.loss(kTrain);
  }
  std::vector<OutputValue> outputs() override { return net.outputs(kTrain); }
  void prepareUpdate() override {
    for (int i : {0, 1})
      updates.write(Session::parameterGradient("ip", i),
                    net.read(Session::parameterGradient("ip", i)));
  }
  Batch test(int) override {
    takeParameters();
    net.feedAndRun(kTest);
    return {net.loss(kTest), net.outputs(kTest)};
  }
  Weights &weights(bool diffs) override {
    values = {updates.read(Session::parameter("ip", 0)),
              updates.read(Session::parameter("ip", 1))};
    saved.emplace(Weights::ofNet(""));
    brew::caffe::LayerParameter layer;
    layer.set_name("ip");
    layer.set_type("InnerProduct");
    saved->addLayer(layer.SerializeAsString());
    saved->addBlob({1, 3}, values[0].data(),
                   diffs ? values[0].data() : nullptr);
    saved->addBlob({1}, values[1].data(), diffs ? values[1].data() : nullptr);
    return *saved;
  }
  void loadWeights(const std::string &path) override {
    updates.loadWeights({path});
  }

  std::function<void()> onGradients;
  int calls = 0;
  Session net;

private:
  void takeParameters() {
    for (int i : {0, 1})
      net.write(Session::parameter("ip", i),
                updates.read(Session::parameter("ip", i)));
  }

  Session &updates;
  std::vector<std::vector<float>> values;
  std::optional<Weights> saved;
};

class CallerNetsTest : public testing::Test {
protected:
  std::string fields(const std::string &more = "") const {
    return "base_lr: 0.5 lr_policy: 'fixed' max_iter: 4 random_seed: 1 "
           "test_iter: 2 test_interval: 2 display: 2 momentum: 0.9 "
           "snapshot_after_train: false snapshot_prefix: '" +
           (folder / "snap") + "' " + more;
  }
  static std::string encoded(const std::string &text) {
    return test::parse<brew::caffe::SolverParameter>(text).SerializeAsString();
  }
  Plan planOf(const std::string &text) const {
    const std::string bytes = test::planBytes(test::linearModel(kInput, text));
    return Plan(bytes.data(), bytes.size(), folder / "net.plan");
  }
  /// Opens a trainer of nets of the caller, and logs its events.
  void openNets(const std::string &more = "") {
    plan.emplace(planOf(fields(more)));
    updates.emplace(*plan);
    log(*updates, netEvents);
    nets = std::make_shared<Nets>(*plan, *updates);
    trainer.emplace(*updates, nets, encoded(fields(more)));
  }
  /// Adds the displayed values of a run to `events`.
  static void log(Session &session, std::vector<double> &events) {
    session.addListener([&events](const brew_event &event) {
      switch (event.kind) {
      case BREW_EVENT_DISPLAY:
      case BREW_EVENT_TEST_DONE:
      case BREW_EVENT_FINAL_LOSS:
      case BREW_EVENT_LEARNING_RATE:
        events.push_back(event.kind);
        events.push_back(event.iteration);
        events.push_back(event.smoothed_loss);
        for (std::size_t i = 0; i < event.output_count; ++i)
          events.push_back(event.outputs[i].value);
        break;
      default:
        break;
      }
    });
  }

  test::TempFolder folder;
  std::optional<Plan> plan;
  std::optional<Session> updates;
  std::vector<double> netEvents;
  std::shared_ptr<Nets> nets;
  std::optional<Trainer> trainer;
};

} // namespace

TEST_F(CallerNetsTest, TrainLikeThePlan) {
  openNets("clip_gradients: 0.3");
  Session session(*plan);
  feedSines(session);
  std::vector<double> events;
  log(session, events);
  Trainer own(session);
  setParameters(session);
  own.solve();
  trainer->solve();
  EXPECT_EQ(parametersOf(*updates), parametersOf(session));
  EXPECT_EQ(trainer->iteration(), 4);
  EXPECT_EQ(nets->calls, 4);
  EXPECT_GT(events.size(), 20u);
  EXPECT_EQ(netEvents, events);
}

TEST_F(CallerNetsTest, WriteAndRestoreSnapshots) {
  openNets("snapshot_diff: true");
  trainer->step(2);
  trainer->snapshot();
  const std::string state = folder / "snap_iter_2.solverstate";
  const auto snapshot = brew::formats::readSolverState(state);
  EXPECT_EQ(snapshot.history.size(), 2u);
  EXPECT_FALSE(snapshot.state.has_brew_rng_seed());
  const std::vector<float> saved = parametersOf(*updates);
  trainer->step(1);
  EXPECT_NE(parametersOf(*updates), saved);
  trainer->restore(state);
  EXPECT_EQ(parametersOf(*updates), saved);
  EXPECT_EQ(trainer->iteration(), 2);
  trainer->step(1);
  EXPECT_NE(parametersOf(*updates), saved);
}

TEST_F(CallerNetsTest, ExceptionsEndTheCall) {
  openNets();
  nets->onGradients = [this] {
    if (nets->calls == 2)
      throw std::logic_error("no gradients");
  };
  EXPECT_THROW(trainer->step(3), std::logic_error);
  EXPECT_EQ(trainer->iteration(), 1);
  nets->onGradients = {};
  trainer->step(1);
  EXPECT_EQ(trainer->iteration(), 2);
}

TEST_F(CallerNetsTest, TheSolverChangesWithinAnIteration) {
  openNets();
  nets->onGradients = [this] {
    trainer->setSolver(encoded("base_lr: 0 lr_policy: 'fixed' test_iter: 2"));
  };
  const std::vector<float> before = parametersOf(*updates);
  trainer->step(1);
  EXPECT_EQ(parametersOf(*updates), before);
  EXPECT_EQ(trainer->learningRate(), 0);
  nets->onGradients = {};
  // A solver that the plan does not support changes nothing.
  EXPECT_THROW(trainer->setSolver(encoded("base_lr: 1 lr_policy: 'what'")),
               brew::api::Error);
  EXPECT_EQ(trainer->field("lr_policy"), "fixed");
}

TEST_F(CallerNetsTest, UpdateUsesTheGradientsInMemory) {
  openNets();
  Session session(*plan);
  feedSines(session);
  Trainer own(session);
  setParameters(session);
  own.step(1);
  nets->computeGradients();
  trainer->update();
  EXPECT_EQ(parametersOf(*updates), parametersOf(session));
  EXPECT_EQ(trainer->iteration(), 1);
}

TEST_F(CallerNetsTest, ATrainerContinuesAnother) {
  openNets("average_loss: 3");
  trainer->step(2);
  const Plan plan2 = planOf(fields());
  Session updates2(plan2);
  auto nets2 = std::make_shared<Nets>(plan2, updates2);
  Trainer other(updates2, nets2, encoded(fields("average_loss: 3")));
  other.continueFrom(*trainer);
  EXPECT_EQ(other.iteration(), 2);
  EXPECT_EQ(other.smoothedLoss(), trainer->smoothedLoss());
  const auto history = [](Session &session) {
    return session.read({BREW_SOLVER_STATE, 0, "ip", 0, 0});
  };
  EXPECT_NE(history(*updates), std::vector<float>(3, 0));
  EXPECT_EQ(history(updates2), history(*updates));
}

TEST_F(CallerNetsTest, OtherCallsAreRefused) {
  openNets();
  EXPECT_THROW(trainer->forward(), brew::api::Error);
  EXPECT_THROW(trainer->backward(), brew::api::Error);
  EXPECT_THROW(trainer->reset(), brew::api::Error);
  EXPECT_THROW(trainer->addHook("every 1 iteration do report_accuracy top 1 of "
                                "prediction against target in test"),
               brew::api::Error);
  trainer->step(1);
  EXPECT_EQ(trainer->iteration(), 1);
}

TEST_F(CallerNetsTest, OpeningChecksItsArguments) {
  const Plan own = planOf(fields());
  Session session(own);
  brew_trainer *opened = nullptr;
  EXPECT_EQ(
      brew_trainer_open_for_nets(session.get(), nullptr, nullptr, &opened),
      BREW_USAGE);
  brew_trainer_destroy(opened);
  auto empty = makeStruct<brew_caller_nets>();
  EXPECT_EQ(brew_trainer_open_for_nets(session.get(), nullptr, &empty, &opened),
            BREW_USAGE);
  EXPECT_STREQ(brew_trainer_message(opened),
               "a function of the caller's nets is NULL");
  brew_trainer_destroy(opened);
  auto callerNets = std::make_shared<Nets>(own, session);
  EXPECT_THROW(Trainer(session, callerNets, "junk"), brew::api::Error);
  EXPECT_THROW(
      Trainer(session, callerNets, encoded("base_lr: 1 lr_policy: 'what'")),
      brew::api::Error);
}
