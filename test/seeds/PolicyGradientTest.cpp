//===- PolicyGradientTest.cpp - Learning from the caller's gradients ------===//
//
// REINFORCE: a policy walks through a corridor, and what it learns from is no
// loss of its net but the gradient of the reward that the walk brought in.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executor.h"
#include "runtime/data/Feeder.h"
#include "runtime/train/GradientAccumulator.h"
#include "runtime/train/Parameters.h"
#include "runtime/train/SolverScalars.h"
#include "runtime/weights/Layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <unistd.h>

using namespace brew;
using namespace brew::runtime;

namespace {

constexpr int kWalks = 32, kPlaces = 7, kActions = 2;
using Batch = std::vector<float>;

/// The plan of policy.prototxt, whose backward pass starts at the logits.
std::shared_ptr<const plan::PlanFile> compile() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "brew-policy-XXXXXX").string();
  std::vector<char> name(folder.c_str(), folder.c_str() + folder.size() + 1);
  if (!mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder");
  const std::string path = std::string(name.data()) + "/policy.plan";
  std::string command = std::string(BREWC) + " " + POLICY +
                        " --seed logits -o " + path + " 2>/dev/null";
  if (std::getenv("BREW_TEST_CUDASIM"))
    command += " --target cuda --gpu-arch sim";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(command + " failed");
  auto file = plan::PlanFile::open(path);
  std::filesystem::remove_all(name.data());
  return file;
}

/// The policy's net: forward, a look at the logits, backward from a gradient.
class Policy {
public:
  Policy()
      : executor(compile()), program(executor.findProgram("forward_backward")),
        update(executor.findProgram("update")), parameters(executor),
        feeder(executor, program, 1, ""), scalars(executor), sum(executor) {
    parameters.fill(1);
    scalars.set(plan::MOMENTUM, 0);
    scalars.set(plan::WEIGHT_DECAY, 0);
    scalars.set(plan::GRADIENT_SCALE, 1);
  }

  const plan::Program &description() const {
    return executor.manifest().programs(program);
  }
  std::size_t steps() const {
    return static_cast<std::size_t>(description().steps_size());
  }

  Batch forward(const Batch &states) {
    feeder.set("state", states.data(),
               static_cast<std::int64_t>(states.size()));
    feeder.feed();
    executor.run(program, 0, description().first_backward_step());
    return read(description().outputs(0).buffer_index());
  }
  void writeSeed(const Batch &gradient) {
    const std::uint32_t index = description().seeds(0).buffer_index();
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    std::vector<std::byte> bytes(buffer.size());
    store(buffer, gradient.data(), bytes.data());
    executor.upload(index, bytes.data());
  }
  void backward(const Batch &gradient) {
    writeSeed(gradient);
    executor.run(program, description().first_backward_step(), steps());
  }
  void apply(double rate) {
    sum.finish();
    scalars.set(plan::LEARNING_RATE, rate);
    executor.run(update);
  }

  Batch read(std::uint32_t index) const {
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    Batch values(static_cast<std::size_t>(plan::elementCount(buffer)));
    executor.read(index, [&](const std::byte *bytes) {
      load(buffer, bytes, values.data());
    });
    return values;
  }
  /// Gradients of all parameters, one behind the other.
  Batch gradients() const {
    Batch all;
    for (const plan::Parameter &parameter : executor.manifest().parameters())
      for (float value : read(parameter.gradient_buffer_index()))
        all.push_back(value);
    return all;
  }

  Executor executor;
  int program, update;
  Parameters parameters;
  Feeder feeder;
  SolverScalars scalars;
  GradientAccumulator sum;
};

/// The corridor: walks begin in the middle; the right end is worth 1, the left
/// end nothing.
class Corridor {
public:
  Corridor() : at(kWalks, kPlaces / 2) {}
  static bool ends(int place) { return place == 0 || place == kPlaces - 1; }
  Batch states() const {
    Batch states(kWalks * kPlaces);
    for (int walk = 0; walk < kWalks; ++walk)
      states[static_cast<std::size_t>(walk * kPlaces + at[walk])] = 1;
    return states;
  }
  bool isOver() const {
    for (int place : at)
      if (!ends(place))
        return false;
    return true;
  }
  std::vector<int> at;
};

double rightOf(const Batch &logits, int walk) {
  const auto first = static_cast<std::size_t>(walk * kActions);
  return 1 / (1 + std::exp(double(logits[first]) - double(logits[first + 1])));
}

/// What a batch of walks did, step by step.
struct Step {
  Batch states;
  std::vector<int> actions; ///< -1: the walk has ended
};

/// Walks as the policy says; returns the share that ends on the right.
double walk(Policy &policy, std::mt19937 &random, std::vector<Step> &steps,
            Corridor &corridor) {
  for (int i = 0; i < 40 && !corridor.isOver(); ++i) {
    Step step{corridor.states(), std::vector<int>(kWalks, -1)};
    const Batch logits = policy.forward(step.states);
    for (int n = 0; n < kWalks; ++n) {
      if (Corridor::ends(corridor.at[n]))
        continue;
      const double draw = double(random()) / 4294967296.0;
      step.actions[n] = draw < rightOf(logits, n);
      corridor.at[n] += step.actions[n] ? 1 : -1;
    }
    steps.push_back(std::move(step));
  }
  int arrived = 0;
  for (int place : corridor.at)
    arrived += place == kPlaces - 1;
  return double(arrived) / kWalks;
}

/// One update by the gradients of all steps: d log p(action) / d logits, times
/// how much better than `baseline` the walk ended.
void learn(Policy &policy, const std::vector<Step> &steps,
           const Corridor &corridor, double baseline) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Batch logits = policy.forward(steps[i].states);
    Batch gradient(kWalks * kActions);
    for (int n = 0; n < kWalks; ++n) {
      const int action = steps[i].actions[n];
      if (action < 0)
        continue;
      const double advantage = (corridor.at[n] == kPlaces - 1) - baseline;
      const double right = rightOf(logits, n);
      const auto first = static_cast<std::size_t>(n * kActions);
      gradient[first] =
          static_cast<float>(advantage * (1 - right - (action == 0)) / kWalks);
      gradient[first + 1] =
          static_cast<float>(advantage * (right - (action == 1)) / kWalks);
    }
    policy.backward(gradient);
    if (i + 1 < steps.size())
      policy.sum.add();
  }
  policy.apply(0.5);
}

TEST(PolicyGradient, learnsToWalk) {
  Policy policy;
  std::mt19937 random(7);
  double first = 0, last = 0, baseline = 0.5;
  for (int i = 0; i < 40; ++i) {
    std::vector<Step> steps;
    Corridor corridor;
    const double arrived = walk(policy, random, steps, corridor);
    (i < 5 ? first : last) += i < 5 || i >= 35 ? arrived / 5 : 0;
    learn(policy, steps, corridor, baseline);
    baseline += 0.1 * (arrived - baseline);
  }
  EXPECT_LT(first, 0.8);
  EXPECT_GT(last, 0.97);
}

/// Numbers of no pattern.
Batch numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Batch values(count);
  for (float &value : values)
    value = static_cast<float>(double(random()) / 2147483648.0 - 1);
  return values;
}

TEST(PolicyGradient, halvesAreTheWhole) {
  Policy policy;
  const Batch states = numbers(kWalks * kPlaces, 1);
  const Batch seed = numbers(kWalks * kActions, 2);
  const Batch logits = policy.forward(states);
  policy.backward(seed);
  const Batch gradients = policy.gradients();
  // Forward leaves a seed alone that was written before it.
  policy.feeder.feed();
  policy.writeSeed(seed);
  policy.executor.run(policy.program, 0, policy.steps());
  EXPECT_EQ(policy.read(policy.description().outputs(0).buffer_index()),
            logits);
  EXPECT_EQ(policy.gradients(), gradients);
}

/// Slopes of sum(seed * logits) along random directions of all parameters.
TEST(PolicyGradient, gradientsAreThoseOfDifferences) {
  Policy policy;
  const Batch states = numbers(kWalks * kPlaces, 3);
  const Batch seed = numbers(kWalks * kActions, 4);
  policy.forward(states);
  policy.backward(seed);
  const Batch gradients = policy.gradients();
  const Batch direction = numbers(gradients.size(), 5);
  auto loss = [&](double step) {
    std::size_t next = 0;
    for (const plan::Parameter &parameter :
         policy.executor.manifest().parameters()) {
      const plan::Buffer &buffer = policy.executor.manifest().buffers(
          static_cast<int>(parameter.buffer_index()));
      policy.executor.modify(parameter.buffer_index(), [&](std::byte *bytes) {
        Batch values(static_cast<std::size_t>(plan::elementCount(buffer)));
        load(buffer, bytes, values.data());
        for (float &value : values)
          value += static_cast<float>(step * double(direction[next++]));
        store(buffer, values.data(), bytes);
      });
    }
    const Batch logits = policy.forward(states);
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i)
      sum += double(seed[i]) * double(logits[i]);
    return sum;
  };
  const double step = 1e-2;
  const double after = loss(step), before = loss(-2 * step);
  double slope = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    slope += double(gradients[i]) * double(direction[i]);
  EXPECT_NEAR((after - before) / (2 * step), slope,
              2e-3 * std::max(1.0, std::abs(slope)));
}

} // namespace
