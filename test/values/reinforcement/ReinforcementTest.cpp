//===- ReinforcementTest.cpp - Reinforcement learning ---------------------===//
//
// Compares weight updates with the documented formulas, and checks that
// learners resume from snapshots and that they learn. On the CPU and, with
// BREW_TEST_CUDASIM, on the CUDA simulator.
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

CompilerOptions options() {
  CompilerOptions options;
  if (onSimulator()) {
    options.set("target", "cuda");
    options.set("gpu-arch", "sim");
  }
  return options;
}

/// Such small nets do not profit from threads.
SessionOptions alone() {
  SessionOptions options;
  options.threads = 1;
  return options;
}

Plan planOf(const Compilation &compilation) {
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string_view bytes = compilation.plan();
  return Plan(bytes.data(), bytes.size(), "policy.plan");
}

/// A net logits = W s, for batches of `rows` states.
std::string linear(int rows, int logits, const std::string &normalization) {
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

/// Episodes of four to six steps, whose rewards depend on the actions.
class Walk : public Environment {
public:
  struct Seen {
    double state[2];
    int action;
    double reward;
  };
  std::vector<std::vector<Seen>> episodes;

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

/// Returns W after one update from the episodes, by the formulas.
std::vector<double> updated(std::vector<double> w, const Walk &walk,
                            std::size_t episodes, bool divides) {
  const std::size_t logits = w.size() / 2;
  std::vector<double> gradient(w.size());
  for (std::size_t e = 0; e < episodes; ++e) {
    const auto &steps = walk.episodes[e];
    std::vector<double> returns(steps.size());
    double sum = 0, mean = 0, squares = 0;
    for (std::size_t t = steps.size(); t-- > 0;)
      returns[t] = sum = steps[t].reward + 0.9 * sum;
    for (double value : returns)
      mean += value / double(steps.size());
    for (double value : returns)
      squares += (value - mean) * (value - mean) / double(steps.size());
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const double advantage =
          squares > 0 ? (returns[t] - mean) / std::sqrt(squares) : returns[t];
      double x[2] = {};
      for (std::size_t i = 0; i < logits; ++i)
        x[i] = w[2 * i] * steps[t].state[0] + w[2 * i + 1] * steps[t].state[1];
      for (std::size_t i = 0; i < logits; ++i) {
        double diff;
        if (logits == 1) {
          const double aprob = 1 / (1 + std::exp(-x[0]));
          diff = -((steps[t].action == 0) - aprob) * advantage;
        } else {
          const double p = 1 / (1 + std::exp(x[1 - i] - x[i]));
          diff = (p - (steps[t].action == int(i))) * advantage;
        }
        // loss_weight 2, divided by the number of steps (VALID) or not (NONE).
        diff *= 2 / (divides ? double(steps.size()) : 1);
        gradient[2 * i] += diff * steps[t].state[0];
        gradient[2 * i + 1] += diff * steps[t].state[1];
      }
    }
  }
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] -= 0.5 * gradient[i];
  return w;
}

struct Example {
  explicit Example(const std::string &solver,
                   std::vector<std::pair<std::string, std::string>> fields = {},
                   const std::string &snapshot = "")
      : plan(planOf(
            Compilation::ofFile(std::string(EXAMPLES) + solver, options()))),
        session(plan, alone()),
        trainer(session, {std::move(fields), {}, snapshot, {}}) {}
  Plan plan;
  Session session;
  Trainer trainer;

  std::vector<float> weights() {
    std::vector<float> all;
    for (const TensorName &name : session.names(BREW_PARAMETER))
      for (float value : session.read(name))
        all.push_back(value);
    return all;
  }
};

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

/// Batches with fewer rows than steps (several passes), and with more
/// (padding).
TEST(Learning, UpdatesFollowTheFormulas) {
  for (const char *normalization : {"VALID", "NONE"})
    for (int logits : {1, 2})
      for (int rows : {3, 64}) {
        const Plan plan = planOf(Compilation::ofText(
            linear(rows, logits, normalization), "s.prototxt", options()));
        Session session(plan, alone());
        Trainer trainer(session);
        const TensorName name = session.parameter("ip", 0);
        const std::vector<double> before = session.read<double>(name);
        Walk walk;
        Learner learner(session, trainer,
                        {logits == 1 ? "PG.SIMPLE" : "PG.ST",
                         "MiniBatch=3;Gamma=0.9;UseRawInput=True",
                         {&walk}});
        learner.train(3);
        EXPECT_EQ(trainer.iteration(), 1);
        const std::vector<double> after = session.read<double>(name);
        const std::vector<double> expected =
            updated(before, walk, 3, normalization == std::string("VALID"));
        for (std::size_t i = 0; i < after.size(); ++i)
          EXPECT_NEAR(after[i], expected[i], 2e-5)
              << normalization << logits << rows;
        EXPECT_EQ(learner.progress().episodes, 3);
      }
}

/// EpisodeBatchSize 1 updates after each episode, regardless of MiniBatch.
TEST(Learning, SeveralThreadsQuirks) {
  const Plan plan = planOf(
      Compilation::ofText(linear(8, 2, "VALID"), "s.prototxt", options()));
  for (const auto &[properties, updates] :
       {std::pair("MiniBatch=100", 6), std::pair("EpisodeBatchSize=3", 2),
        std::pair("EpisodeBatchSize=2;MiniBatch=6", 4)}) {
    Session session(plan, alone());
    Trainer trainer(session);
    Walk walk;
    Learner learner(session, trainer, {"PG.MT", properties, {&walk}});
    learner.train(6);
    EXPECT_EQ(trainer.iteration(), updates) << properties;
  }
}

TEST(Learning, AgentsOnThreadsShareTheirUpdates) {
  Example example("softmax_solver.prototxt",
                  {{"random_seed", "1"},
                   {"display", "0"},
                   {"snapshot_after_train", "false"}});
  LearnerOptions chosen;
  chosen.trainer = "PG.MT";
  chosen.properties = "Threads=3;EpisodeBatchSize=2";
  chosen.maxSteps = onSimulator() ? 4 : 0;
  ASSERT_EQ(Learner::environmentCount(example.session, chosen), 3u);
  std::vector<BuiltInEnvironment> environments;
  for (int i = 0; i < 3; ++i)
    environments.emplace_back("cartpole");
  for (BuiltInEnvironment &each : environments)
    chosen.environments.push_back(&each);
  std::vector<int> played(3);
  chosen.episode = [&](int agent, double, std::int64_t,
                       const brew_learning_progress &) {
    ++played[std::size_t(agent)];
  };
  const std::vector<float> before = example.weights();
  Learner learner(example.session, example.trainer, chosen);
  learner.train(40);
  EXPECT_GE(learner.progress().episodes, 40);
  EXPECT_GE(example.trainer.iteration(), 15);
  EXPECT_NE(example.weights(), before);
  EXPECT_EQ(played[0] + played[1] + played[2],
            int(learner.progress().episodes));
}

/// max_iter ends training between the updates of a rollout.
TEST(Learning, ActorCriticsStopAtMaxIter) {
  if (onSimulator())
    GTEST_SKIP() << "too many steps";
  Example example("ppo_solver.prototxt", {{"random_seed", "1"},
                                          {"display", "0"},
                                          {"max_iter", "3"},
                                          {"snapshot_after_train", "false"}});
  LearnerOptions chosen;
  std::vector<BuiltInEnvironment> environments;
  const std::size_t count = Learner::environmentCount(example.session, chosen);
  for (std::size_t i = 0; i < count; ++i)
    environments.emplace_back("cartpole");
  for (BuiltInEnvironment &each : environments)
    chosen.environments.push_back(&each);
  Learner(example.session, example.trainer, chosen).train();
  EXPECT_EQ(example.trainer.iteration(), 3);
}

/// The episode ends only because step() stops the training.
TEST(Learning, StopsEndAnEpisodeAndHoldForOneCall) {
  const Plan plan = planOf(
      Compilation::ofText(linear(8, 2, "VALID"), "s.prototxt", options()));
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
    Session session(plan, alone());
    const std::vector<std::pair<std::string, std::string>> fields = {
        {"max_iter", "5"}};
    Trainer trainer(session, {fields, {}, "", {}});
    Endless first, second;
    first.trainer = &trainer;
    LearnerOptions chosen{"PG.MT", properties, {&first}};
    if (*properties)
      chosen.environments.push_back(&second);
    Learner learner(session, trainer, chosen);
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

/// Observations and rewards must be finite.
TEST(Learning, RefusesNonFiniteNumbers) {
  const Plan plan = planOf(
      Compilation::ofText(linear(8, 2, "VALID"), "s.prototxt", options()));
  Session session(plan, alone());
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
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"random_seed", "5"},
      {"display", "0"},
      {"snapshot", "2"},
      {"snapshot_after_train", "false"},
      {"snapshot_prefix", (folder.path / "policy").string()}};
  auto train = [&](Example &example, std::int64_t episodes) {
    BuiltInEnvironment environment("cartpole");
    // With differences of states, the last seen state is part of the position.
    Learner learner(example.session, example.trainer,
                    {"PG.ST", "MiniBatch=2;UseRawInput=False", {&environment}});
    learner.train(episodes);
    return learner.progress();
  };
  Example whole("sigmoid_solver.prototxt", fields);
  const brew_learning_progress all = train(whole, 8);
  Example part("sigmoid_solver.prototxt", fields,
               (folder.path / "policy_iter_2.solverstate").string());
  const brew_learning_progress rest = train(part, 4);
  EXPECT_EQ(part.weights(), whole.weights());
  EXPECT_EQ(rest.episodes, all.episodes);
  EXPECT_EQ(rest.steps, all.steps);
  EXPECT_EQ(rest.running_reward, all.running_reward);
}

/// Three seeds each, with enough episodes to show an improvement.
TEST(Learning, ImprovesCartPolePolicies) {
  if (onSimulator())
    GTEST_SKIP() << "too many steps";
  const struct {
    const char *solver;
    int episodes;
    double least; ///< mean of the last 100; random actions reach 22
  } nets[] = {{"softmax_solver.prototxt", 200, 60},
              {"ppo_solver.prototxt", 120, 50}};
  for (const auto &net : nets)
    for (const char *seed : {"1", "2", "3"}) {
      Example example(net.solver, {{"random_seed", seed},
                                   {"display", "0"},
                                   {"snapshot_after_train", "false"}});
      LearnerOptions chosen;
      std::vector<BuiltInEnvironment> environments;
      const std::size_t count =
          Learner::environmentCount(example.session, chosen);
      for (std::size_t i = 0; i < count; ++i)
        environments.emplace_back("cartpole");
      for (BuiltInEnvironment &each : environments)
        chosen.environments.push_back(&each);
      Learner learner(example.session, example.trainer, chosen);
      learner.train(net.episodes);
      EXPECT_GE(learner.progress().mean_reward, net.least)
          << net.solver << " " << seed;
      EXPECT_GT(learner.evaluate(3), 40);
    }
}

/// Exceptions of an environment propagate, and mismatched options are reported.
TEST(Learning, ReportsFailures) {
  const Plan plan = planOf(
      Compilation::ofText(linear(8, 2, "VALID"), "s.prototxt", options()));
  Session session(plan, alone());
  Trainer trainer(session);
  struct Broken : Walk {
    Outcome step(int, float *) override { throw std::runtime_error("stuck"); }
  } broken;
  Learner learner(session, trainer, {"PG.ST", "", {&broken}});
  EXPECT_THROW(learner.train(1), std::runtime_error);
  auto expect = [&](LearnerOptions options, const char *text) {
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
  expect({"PG.SIMPLE", "", {&walk}}, "PG.SIMPLE trains nets with one logit");
  expect({"PG.XT", "", {&walk}}, "there is no trainer 'PG.XT'");
  expect({"", "", {&walk}}, "name a trainer (PG.SIMPLE, PG.ST, PG.MT, PPO");
  expect({"PG.ST", "", {}}, "there is no environment to act in");
  expect({"PG.ST", "", {&pole}}, "has no input of rows of 4 numbers");
  expect({"PG.MT", "Threads=2", {&walk}}, "one environment for each agent: 2");
  expect({"PPO", "", {&walk}},
         "chooses actions with the test net, but the plan has no test net");
}
