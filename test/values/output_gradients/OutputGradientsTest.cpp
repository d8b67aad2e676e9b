//===- OutputGradientsTest.cpp - Backward passes from output gradients ----===//
//
// Programs whose backward pass starts from gradients that the caller writes.
// The tests run on the CPU, or on the CUDA simulator if BREW_TEST_CUDASIM is
// set.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

using namespace brew::api;

namespace {

// Elements of the state and the logits of policy.prototxt, for a batch of 32.
constexpr std::size_t kStates = 32 * 7, kLogits = 32 * 2;

/// Returns the plan of policy.prototxt, whose backward pass starts at the
/// logits.
Plan compile(const std::string &precision) {
  CompilerOptions options;
  options.set("output-gradient", "logits");
  options.set("precision", precision);
  if (std::getenv("BREW_TEST_CUDASIM")) {
    options.set("target", "cuda");
    options.set("gpu-arch", "sim");
  }
  const Compilation compilation = Compilation::ofFile(POLICY, options);
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string_view bytes = compilation.plan();
  return Plan(bytes.data(), bytes.size(), "policy.plan");
}

/// Returns random numbers in [-1, 1).
std::vector<float> randomValues(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(double(random()) / 2147483648.0 - 1);
  return values;
}

struct Policy {
  explicit Policy(const std::string &precision = "f32")
      : plan(compile(precision)), session(plan),
        program(plan.program("forward_backward")) {
    session.initialise();
  }

  std::vector<float> forward(const std::vector<float> &states) {
    session.setInput(program, "state", states);
    session.feed(program);
    session.run(program, BREW_FORWARD);
    return logits();
  }
  std::vector<float> logits() {
    return session.read(session.blob(program, "logits"));
  }
  void writeOutputGradient(const std::vector<float> &gradient) {
    session.write(session.outputGradient(program, "logits"), gradient);
  }
  void backward(const std::vector<float> &gradient) {
    writeOutputGradient(gradient);
    session.run(program, BREW_BACKWARD);
  }
  /// Returns the gradients of all parameters, concatenated.
  std::vector<float> gradients() {
    std::vector<float> values;
    for (const TensorName &name : session.names(BREW_PARAMETER_GRADIENT))
      for (float value : session.read(name))
        values.push_back(value);
    return values;
  }
  /// Adds `step` times `direction` to all parameters.
  void moveParameters(const std::vector<float> &direction, double step) {
    std::size_t index = 0;
    for (const TensorName &name : session.names(BREW_PARAMETER)) {
      std::vector<double> values = session.read<double>(name);
      for (double &value : values)
        value += step * double(direction[index++]);
      session.write(name, values);
    }
    session.prepare();
  }

  Plan plan;
  Session session;
  int program;
};

} // namespace

TEST(OutputGradients, AreListedAndFound) {
  Policy policy;
  const auto names = policy.session.names(BREW_OUTPUT_GRADIENT, policy.program);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].name, "logits");
  const brew_tensor tensor = policy.session.find(names[0]);
  EXPECT_EQ(tensor.count, static_cast<std::int64_t>(kLogits));
  const int test = policy.plan.program("test_0");
  EXPECT_TRUE(policy.session.names(BREW_OUTPUT_GRADIENT, test).empty());
  try {
    policy.session.find(policy.session.outputGradient(test, "logits"));
    FAIL() << "the test net takes no gradient";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), BREW_USAGE);
    EXPECT_STREQ(error.what(),
                 "the program 'test_0' takes no gradient of blob 'logits'; "
                 "compile the net with brewc --output-gradient logits");
  }
}

TEST(OutputGradients, SeparatePassesEqualOneRun) {
  for (const char *precision : {"f32", "bf16", "f16"}) {
    Policy policy(precision);
    const std::vector<float> outputGradient = randomValues(kLogits, 2);
    const std::vector<float> logits = policy.forward(randomValues(kStates, 1));
    policy.backward(outputGradient);
    const std::vector<float> gradients = policy.gradients();
    EXPECT_NE(gradients[0], 0) << precision;
    // A forward pass does not change an output gradient written before it.
    policy.session.feed(policy.program);
    policy.writeOutputGradient(outputGradient);
    policy.session.run(policy.program);
    EXPECT_EQ(policy.logits(), logits) << precision;
    EXPECT_EQ(policy.gradients(), gradients) << precision;
  }
}

/// Compares the slopes of sum(output gradient * logits) along a random
/// direction of all parameters.
TEST(OutputGradients, MatchFiniteDifferences) {
  // The tolerances are relative to the slope. They allow for the rounding of
  // sums in f32, and of values in 16 bits (2^-8 in bf16, 2^-11 in f16).
  const std::pair<const char *, double> precisions[] = {
      {"f64", 1e-6}, {"f32", 2e-3}, {"bf16", 0.1}, {"f16", 2e-2}};
  for (const auto &[precision, tolerance] : precisions) {
    Policy policy(precision);
    const std::vector<float> states = randomValues(kStates, 3);
    const std::vector<float> outputGradient = randomValues(kLogits, 4);
    policy.forward(states);
    policy.backward(outputGradient);
    const std::vector<float> gradients = policy.gradients();
    const std::vector<float> direction = randomValues(gradients.size(), 5);
    auto loss = [&] {
      policy.forward(states);
      const auto logits = policy.session.read<double>(
          policy.session.blob(policy.program, "logits"));
      double sum = 0;
      for (std::size_t i = 0; i < logits.size(); ++i)
        sum += double(outputGradient[i]) * logits[i];
      return sum;
    };
    const double step = precision == std::string("f64") ? 1e-4 : 1e-2;
    policy.moveParameters(direction, step);
    const double after = loss();
    policy.moveParameters(direction, -2 * step);
    const double before = loss();
    double slope = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      slope += double(gradients[i]) * double(direction[i]);
    EXPECT_NEAR((after - before) / (2 * step), slope,
                tolerance * std::max(1.0, std::abs(slope)))
        << precision;
  }
}

/// If two passes are accumulated before an update, it changes the parameters by
/// base_lr times the sum of their gradients.
TEST(OutputGradients, PassesAccumulateBeforeAnUpdate) {
  Policy policy;
  Trainer trainer(policy.session, {{"base-lr", 0.5},
                                   {"momentum", 0},
                                   {"weight-decay", 0},
                                   {"random-seed", 1}});
  const TensorName weights = policy.session.parameter("hidden", 0);
  const TensorName gradient = policy.session.parameterGradient("hidden", 0);
  const std::vector<double> before = policy.session.read<double>(weights);
  std::vector<double> sum(before.size());
  for (unsigned pass = 0; pass < 2; ++pass) {
    policy.session.setInput(policy.program, "state",
                            randomValues(kStates, 6 + pass));
    trainer.forward();
    policy.writeOutputGradient(randomValues(kLogits, 8 + pass));
    trainer.backward();
    const std::vector<double> passGradient =
        policy.session.read<double>(gradient);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += passGradient[i];
    trainer.accumulate();
  }
  trainer.update();
  const std::vector<double> after = policy.session.read<double>(weights);
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(after[i], before[i] - 0.5 * sum[i], 1e-5) << i;
  EXPECT_EQ(trainer.iteration(), 1);
}

TEST(OutputGradients, AreRequiredForTraining) {
  Policy policy;
  Trainer trainer(policy.session);
  for (auto train :
       {+[](Trainer &t) { t.step(1); }, +[](Trainer &t) { t.solve(); }})
    try {
      train(trainer);
      FAIL() << "trained without a gradient";
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), BREW_USAGE);
      EXPECT_NE(std::string(error.what()).find("a gradient of blob 'logits'"),
                std::string::npos)
          << error.what();
    }
}
