//===- ReinforcementTest.cpp - Reinforcement learning ---------------------===//
//
// Compares weight updates with the documented formulas, and checks that
// learners resume from snapshots and that they learn. The tests run on the CPU,
// or on the CUDA simulator if BREW_TEST_CUDASIM is set.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace brew::api;

namespace {

bool onSimulator() { return std::getenv("BREW_TEST_CUDASIM"); }

CompilerOptions targetOptions() {
  CompilerOptions options;
  if (onSimulator()) {
    options.set("target", "cuda");
    options.set("gpu-arch", "sim");
  }
  return options;
}

/// Returns options for one thread: nets this small do not profit from more.
SessionOptions oneThread() {
  SessionOptions options;
  options.options.set("threads", 1);
  return options;
}

Plan planOf(const Compilation &compilation) {
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string_view bytes = compilation.plan();
  return Plan(bytes.data(), bytes.size(), "policy.plan");
}

/// Returns a solver for a net that computes logits = W s for batches of `rows`
/// states s.
std::string linearSolver(int rows, int logits,
                         const std::string &normalization) {
  return "base_lr: 0.5 lr_policy: 'fixed' max_iter: 100 random_seed: 3 "
         "snapshot_after_train: false net_param { "
         "layer { name: 'in' type: 'MemoryData' top: 's' memory_data_param { "
         "batch_size: " +
         std::to_string(rows) +
         " channels: 2 height: 1 width: 1 label_type: NONE } } "
         "layer { name: 'ip' type: 'InnerProduct' bottom: 's' top: 'logits' "
         "inner_product_param { bias_term: false num_output: " +
         std::to_string(logits) +
         " weight_filler { type: 'gaussian' std: 0.5 } } } "
         "layer { name: 'loss' type: 'MemoryLoss' bottom: 'logits' top: 'loss' "
         "loss_weight: 2 loss_param { normalization: " +
         normalization + " } } }";
}

/// An environment whose episodes have four to six steps. The rewards depend on
/// the actions.
class Walk : public Environment {
public:
  struct Step {
    double state[2];
    int action;
    double reward;
  };
  std::vector<std::vector<Step>> episodes;

  std::int64_t observationCount() const override { return 2; }
  int actionCount() const override { return 2; }
  void reset(std::uint64_t, float *observation) override {
    episodes.emplace_back();
    observation[0] = state[0] = 1;
    observation[1] = state[1] = -0.5f;
  }
  Outcome step(int action, float *observation) override {
    const double reward = action ? 1 : 0.25;
    episodes.back().push_back(
        {{double(state[0]), double(state[1])}, action, reward});
    const auto steps = episodes.back().size();
    observation[0] = state[0] = float(steps) * 0.25f;
    observation[1] = state[1] = action ? 1.0f : -1.0f;
    return {reward, steps == 4 + episodes.size() % 3 ? BREW_EPISODE_TERMINATED
                                                     : BREW_EPISODE_RUNNING};
  }

private:
  float state[2] = {};
};

/// Returns W after one update from the first `episodes` episodes, by the
/// documented formulas. With `dividesBySteps`, the gradient of each episode is
/// divided by its number of steps.
std::vector<double> expectedWeights(std::vector<double> w, const Walk &walk,
                                    std::size_t episodes, bool dividesBySteps,
                                    bool standardizes) {
  const std::size_t logits = w.size() / 2;
  std::vector<double> gradient(w.size());
  for (std::size_t e = 0; e < episodes; ++e) {
    const auto &steps = walk.episodes[e];
    std::vector<double> returns(steps.size());
    double sum = 0, mean = 0, variance = 0;
    for (std::size_t t = steps.size(); t-- > 0;)
      returns[t] = sum = steps[t].reward + 0.9 * sum;
    for (double value : returns)
      mean += value / double(steps.size());
    for (double value : returns)
      variance += (value - mean) * (value - mean) / double(steps.size());
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const double advantage = standardizes && variance > 0
                                   ? (returns[t] - mean) / std::sqrt(variance)
                                   : returns[t];
      double logit[2] = {};
      for (std::size_t i = 0; i < logits; ++i)
        logit[i] =
            w[2 * i] * steps[t].state[0] + w[2 * i + 1] * steps[t].state[1];
      for (std::size_t i = 0; i < logits; ++i) {
        double diff;
        if (logits == 1) {
          const double probability = 1 / (1 + std::exp(-logit[0]));
          diff = -((steps[t].action == 0) - probability) * advantage;
        } else {
          const double p = 1 / (1 + std::exp(logit[1 - i] - logit[i]));
          diff = (p - (steps[t].action == int(i))) * advantage;
        }
        // loss_weight 2, divided by the number of steps (VALID) or not (NONE).
        diff *= 2 / (dividesBySteps ? double(steps.size()) : 1);
        gradient[2 * i] += diff * steps[t].state[0];
        gradient[2 * i + 1] += diff * steps[t].state[1];
      }
    }
  }
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] -= 0.5 * gradient[i];
  return w;
}

/// The plan, session and trainer of a solver of the CartPole example.
struct Example {
  explicit Example(const std::string &solver, const Options &options = {})
      : plan(planOf(Compilation::ofFile(std::string(EXAMPLES) + solver,
                                        targetOptions()))),
        session(plan, oneThread()), trainer(session, options) {}
  Plan plan;
  Session session;
  Trainer trainer;

  std::vector<float> weights() {
    std::vector<float> values;
    for (const TensorName &name : session.names(BREW_PARAMETER))
      for (float value : session.read(name))
        values.push_back(value);
    return values;
  }
};

/// A temporary folder.
struct Folder {
  Folder()
      : path(std::filesystem::temp_directory_path() /
             ("brew-learning-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

} // namespace

/// The batches have fewer rows than an update has steps, so that it takes
/// several passes, or more rows, which are padding.
TEST(Learning, UpdatesFollowTheFormulas) {
  for (const char *normalization : {"VALID", "NONE"})
    for (int logits : {1, 2})
      for (const auto &[rows, standardizes] :
           {std::pair(3, true), std::pair(64, true), std::pair(64, false)}) {
        const Plan plan = planOf(
            Compilation::ofText(linearSolver(rows, logits, normalization),
                                "s.prototxt", targetOptions()));
        Session session(plan, oneThread());
        Trainer trainer(session);
        const TensorName name = session.parameter("ip", 0);
        const std::vector<double> before = session.read<double>(name);
        Walk walk;
        Learner learner(
            session, trainer,
            {logits == 1 ? "PG.SIMPLE" : "PG.ST",
             std::string("MiniBatch=3;Gamma=0.9") +
                 (standardizes ? "" : ";StandardizeAdvantage=False"),
             {&walk}});
        learner.train(3);
        EXPECT_EQ(trainer.iteration(), 1);
        const std::vector<double> after = session.read<double>(name);
        const std::vector<double> expected = expectedWeights(
            before, walk, 3, normalization == std::string("VALID"),
            standardizes);
        for (std::size_t i = 0; i < after.size(); ++i)
          EXPECT_NEAR(after[i], expected[i], 2e-5)
              << normalization << logits << rows;
        EXPECT_EQ(learner.progress().episodes, 3);
      }
}

/// As in MyCaffe, batch_size counts the episodes of an update. MiniBatch
/// overrides it.
TEST(Learning, UpdatesAfterBatchSizeEpisodes) {
  const Plan plan = planOf(Compilation::ofText(linearSolver(4, 2, "VALID"),
                                               "s.prototxt", targetOptions()));
  for (const auto &[properties, updates] :
       {std::pair("", 2), std::pair("MiniBatch=3", 3)}) {
    Session session(plan, oneThread());
    Trainer trainer(session);
    Walk walk;
    Learner learner(session, trainer, {"PG.ST", properties, {&walk}});
    learner.train(9);
    EXPECT_EQ(trainer.iteration(), updates) << properties;
  }
}

/// PG.MT updates after each episode if EpisodeBatchSize is 1, the default. If
/// the number of an agent's episodes is a multiple of MiniBatch, each of the
/// gathered episodes has a separate update. In the third case these are
/// episodes 5 and 6.
TEST(Learning, UpdatesByEpisodeBatchSizeAndMiniBatch) {
  const Plan plan = planOf(Compilation::ofText(linearSolver(8, 2, "VALID"),
                                               "s.prototxt", targetOptions()));
  for (const auto &[properties, updates] :
       {std::pair("MiniBatch=100", 6), std::pair("EpisodeBatchSize=3", 2),
        std::pair("EpisodeBatchSize=2;MiniBatch=6", 4)}) {
    Session session(plan, oneThread());
    Trainer trainer(session);
    Walk walk;
    Learner learner(session, trainer, {"PG.MT", properties, {&walk}});
    learner.train(6);
    EXPECT_EQ(trainer.iteration(), updates) << properties;
  }
}

TEST(Learning, AgentsOnThreadsShareTheirUpdates) {
  Example example("softmax_solver.prototxt",
                  {{"random-seed", "1"},
                   {"display", "0"},
                   {"snapshot-after-train", "false"}});
  LearnerOptions learnerOptions;
  learnerOptions.trainer = "PG.MT";
  learnerOptions.properties = "Threads=3;EpisodeBatchSize=2";
  learnerOptions.maxSteps = onSimulator() ? 4 : 0;
  ASSERT_EQ(Learner::environmentCount(example.session, learnerOptions), 3u);
  std::vector<BuiltInEnvironment> environments;
  for (int i = 0; i < 3; ++i)
    environments.emplace_back("cartpole");
  for (BuiltInEnvironment &environment : environments)
    learnerOptions.environments.push_back(&environment);
  std::vector<int> episodesOfAgent(3);
  learnerOptions.episode = [&](int agent, double, std::int64_t,
                               const brew_learning_progress &) {
    ++episodesOfAgent[std::size_t(agent)];
  };
  const std::vector<float> before = example.weights();
  Learner learner(example.session, example.trainer, learnerOptions);
  learner.train(40);
  EXPECT_GE(learner.progress().episodes, 40);
  EXPECT_GE(example.trainer.iteration(), 15);
  EXPECT_NE(example.weights(), before);
  EXPECT_EQ(episodesOfAgent[0] + episodesOfAgent[1] + episodesOfAgent[2],
            int(learner.progress().episodes));
}

/// Training stops at max_iter, even between the updates of one rollout.
TEST(Learning, ActorCriticsStopAtMaxIter) {
  if (onSimulator())
    GTEST_SKIP() << "too many steps";
  Example example("ppo_solver.prototxt", {{"random-seed", "1"},
                                          {"display", "0"},
                                          {"max-iter", "3"},
                                          {"snapshot-after-train", "false"}});
  LearnerOptions learnerOptions;
  std::vector<BuiltInEnvironment> environments;
  const std::size_t count =
      Learner::environmentCount(example.session, learnerOptions);
  for (std::size_t i = 0; i < count; ++i)
    environments.emplace_back("cartpole");
  for (BuiltInEnvironment &environment : environments)
    learnerOptions.environments.push_back(&environment);
  Learner(example.session, example.trainer, learnerOptions).train();
  EXPECT_EQ(example.trainer.iteration(), 3);
}

/// The environment never ends an episode itself: its step() stops the training.
/// The next call of train() continues until max_iter.
TEST(Learning, StopEndsTheEpisodeAndOnlyTheCurrentCall) {
  const Plan plan = planOf(Compilation::ofText(linearSolver(8, 2, "VALID"),
                                               "s.prototxt", targetOptions()));
  struct Endless : Walk {
    Trainer *trainer = nullptr;
    int steps = 0;
    Outcome step(int action, float *observation) override {
      if (!trainer)
        return Walk::step(action, observation);
      if (++steps == 3)
        trainer->stop();
      observation[0] = observation[1] = 0;
      return {1, BREW_EPISODE_RUNNING};
    }
  };
  for (const char *properties : {"", "Threads=2"}) {
    Session session(plan, oneThread());
    Trainer trainer(session, {{"max-iter", 5}});
    Endless first, second;
    first.trainer = &trainer;
    LearnerOptions learnerOptions{"PG.MT", properties, {&first}};
    if (*properties)
      learnerOptions.environments.push_back(&second);
    Learner learner(session, trainer, learnerOptions);
    learner.train();
    if (!*properties)
      EXPECT_EQ(trainer.iteration(), 0);
    first.trainer = nullptr;
    learner.train();
    EXPECT_EQ(trainer.iteration(), 5);
    first.trainer = &trainer;
    first.steps = 0;
    EXPECT_EQ(learner.evaluate(2), 0);
  }
}

/// An infinite observation stops the training with an error.
TEST(Learning, RejectsNonFiniteObservations) {
  const Plan plan = planOf(Compilation::ofText(linearSolver(8, 2, "VALID"),
                                               "s.prototxt", targetOptions()));
  Session session(plan, oneThread());
  Trainer trainer(session);
  struct Unbounded : Walk {
    Outcome step(int action, float *observation) override {
      const Outcome outcome = Walk::step(action, observation);
      if (episodes.back().size() == 2)
        observation[1] = HUGE_VALF;
      return outcome;
    }
  } walk;
  Learner learner(session, trainer, {"PG.ST", "", {&walk}});
  try {
    learner.train(1);
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(
        std::string(error.what())
            .find("an observation whose number 1 is not finite in step 2"),
        std::string::npos)
        << error.what();
  }
}

TEST(Learning, ResumesExactlyFromASnapshot) {
  const Folder folder;
  Options options = {{"random-seed", 5},
                     {"display", 0},
                     {"snapshot-interval", 2},
                     {"snapshot-after-train", false},
                     {"snapshot-prefix", (folder.path / "policy").string()}};
  auto train = [&](Example &example, std::int64_t episodes) {
    BuiltInEnvironment environment("cartpole");
    // The inputs are differences of states, so the snapshot must contain the
    // last state.
    Learner learner(example.session, example.trainer,
                    {"PG.ST", "MiniBatch=2;UseRawInput=False", {&environment}});
    learner.train(episodes);
    return learner.progress();
  };
  Example uninterrupted("sigmoid_solver.prototxt", options);
  const brew_learning_progress expected = train(uninterrupted, 8);
  options.set("snapshot", (folder.path / "policy_iter_2.solverstate").string());
  Example resumed("sigmoid_solver.prototxt", options);
  const brew_learning_progress actual = train(resumed, 4);
  EXPECT_EQ(resumed.weights(), uninterrupted.weights());
  EXPECT_EQ(actual.episodes, expected.episodes);
  EXPECT_EQ(actual.steps, expected.steps);
  EXPECT_EQ(actual.running_reward, expected.running_reward);
}

/// Trains each net with three seeds, for enough episodes to show an
/// improvement.
TEST(Learning, ImprovesCartPolePolicies) {
  if (onSimulator())
    GTEST_SKIP() << "too many steps";
  const struct {
    const char *solver;
    int episodes;
    double minimumReward; ///< mean of the last 100 episodes; random actions
                          ///< reach 22
  } nets[] = {{"softmax_solver.prototxt", 200, 60},
              {"ppo_solver.prototxt", 120, 50}};
  for (const auto &net : nets)
    for (const char *seed : {"1", "2", "3"}) {
      Example example(net.solver, {{"random-seed", seed},
                                   {"display", "0"},
                                   {"snapshot-after-train", "false"}});
      LearnerOptions learnerOptions;
      std::vector<BuiltInEnvironment> environments;
      const std::size_t count =
          Learner::environmentCount(example.session, learnerOptions);
      for (std::size_t i = 0; i < count; ++i)
        environments.emplace_back("cartpole");
      for (BuiltInEnvironment &environment : environments)
        learnerOptions.environments.push_back(&environment);
      Learner learner(example.session, example.trainer, learnerOptions);
      learner.train(net.episodes);
      EXPECT_GE(learner.progress().mean_reward, net.minimumReward)
          << net.solver << " " << seed;
      EXPECT_GT(learner.evaluate(3), 40);
    }
}

/// A run of a learner has the hooks, rules, events and tests of any training.
/// Tests play in environments of their own and do not change what is learned.
TEST(Learning, RunsLikeAnyTraining) {
  if (onSimulator())
    GTEST_SKIP() << "too many steps";
  for (const char *solver :
       {"softmax_solver.prototxt", "ppo_solver.prototxt"}) {
    auto train = [&](const char *testInterval, std::vector<std::string> &log) {
      const Plan plan = planOf(
          Compilation::ofFile(std::string(EXAMPLES) + solver, targetOptions()));
      Session session(plan, oneThread());
      Trainer trainer(session, {{"random-seed", 1},
                                {"display", 0},
                                {"test-interval", testInterval},
                                {"test-iter", 2},
                                {"snapshot-after-train", false},
                                {"stop-when", "iter >= 4"},
                                {"learner", true}});
      const int listener = session.addListener([&](const brew_event &event) {
        if (event.kind == BREW_EVENT_TEST_DONE)
          log.push_back("test " + std::to_string(event.iteration) + " " +
                        event.outputs[0].blob);
        if (event.kind == BREW_EVENT_STOPPED_BY_RULE)
          log.push_back("rule " + std::to_string(event.iteration));
        if (event.kind == BREW_EVENT_SOLVING_DONE)
          log.push_back("done");
      });
      trainer.addHook("at start",
                      [&](const HookCall &) { log.push_back("start"); });
      trainer.addHook("every 3 iterations", [&](const HookCall &call) {
        log.push_back("hook " + std::to_string(call.iteration));
      });
      trainer.addHook("at stop",
                      [&](const HookCall &) { log.push_back("stop"); });
      LearnerOptions learnerOptions;
      const std::size_t count =
          Learner::environmentCount(session, learnerOptions);
      std::vector<BuiltInEnvironment> environments;
      for (std::size_t i = 0; i < 2 * count; ++i)
        environments.emplace_back("cartpole");
      for (std::size_t i = 0; i < 2 * count; ++i)
        (i < count ? learnerOptions.environments
                   : learnerOptions.testEnvironments)
            .push_back(&environments[i]);
      Learner learner(session, trainer, learnerOptions);
      learner.train();
      EXPECT_EQ(trainer.iteration(), 4);
      const brew_evaluation evaluation = learner.play(5);
      EXPECT_EQ(evaluation.episodes, 5);
      EXPECT_LE(evaluation.minimum_reward, evaluation.mean_reward);
      EXPECT_GE(evaluation.maximum_reward, evaluation.mean_reward);
      EXPECT_EQ(evaluation.mean_steps, evaluation.mean_reward);
      session.removeListener(listener);
      std::vector<float> weights;
      for (const TensorName &name : session.names(BREW_PARAMETER))
        for (float value : session.read(name))
          weights.push_back(value);
      return weights;
    };
    std::vector<std::string> tested, untested;
    const std::vector<float> weights = train("2", tested);
    EXPECT_EQ(tested, (std::vector<std::string>{"start", "test 2 reward",
                                                "hook 3", "rule 4", "stop",
                                                "test 4 reward", "done"}))
        << solver;
    EXPECT_EQ(weights, train("1000000", untested)) << solver;
    EXPECT_EQ(untested,
              (std::vector<std::string>{"start", "hook 3", "rule 4", "stop",
                                        "test 4 reward", "done"}))
        << solver;
  }
}

/// Exceptions of an environment propagate, and mismatched options are reported.
TEST(Learning, ReportsFailuresAndMismatchedOptions) {
  const Plan plan = planOf(Compilation::ofText(linearSolver(8, 2, "VALID"),
                                               "s.prototxt", targetOptions()));
  Session session(plan, oneThread());
  Trainer trainer(session);
  struct Broken : Walk {
    Outcome step(int, float *) override { throw std::runtime_error("stuck"); }
  } broken;
  Learner learner(session, trainer, {"PG.ST", "", {&broken}});
  EXPECT_THROW(learner.train(1), std::runtime_error);
  auto expectError = [&](LearnerOptions options, const char *text) {
    try {
      Learner(session, trainer, options);
      FAIL() << text;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
          << error.what();
    }
  };
  Walk walk;
  BuiltInEnvironment pole("cartpole");
  expectError({"PG.SIMPLE", "", {&walk}},
              "PG.SIMPLE trains nets with one logit");
  expectError({"PG.XT", "", {&walk}}, "there is no trainer 'PG.XT'");
  expectError({"", "", {&walk}},
              "name a trainer (PG.SIMPLE, PG.ST, PG.MT, PPO");
  expectError({"PG.ST", "", {}}, "there is no environment to act in");
  expectError({"PG.ST", "", {&pole}}, "has no input of rows of 4 numbers");
  expectError({"PG.MT", "Threads=2", {&walk}},
              "one environment for each agent: 2");
  expectError(
      {"PPO", "", {&walk}},
      "chooses actions with the test net, but the plan has no test net");
}
