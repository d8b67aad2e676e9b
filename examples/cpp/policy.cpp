// Learns to walk through a corridor by REINFORCE: the program computes the
// gradient of the logits from the walks, and the net has no loss.
//
//   brewc policy.prototxt --output-gradient logits -o policy.plan
//   c++ -std=c++17 policy.cpp -lbrew_runtime -o policy
//   ./policy policy.plan

#include <brew/brew.hpp>

#include <cmath>
#include <cstdio>
#include <random>

namespace {

// As in the prototxt. Walks begin in the middle of the corridor. The reward is
// 1 at the right end and 0 at the left end.
constexpr int kWalks = 32, kPositions = 7, kActions = 2, kMaxSteps = 40;

bool isEnd(int position) { return position == 0 || position == kPositions - 1; }

std::vector<float> statesAt(const std::vector<int> &positions) {
  std::vector<float> states(kWalks * kPositions);
  for (int walk = 0; walk < kWalks; ++walk)
    states[std::size_t(walk * kPositions + positions[std::size_t(walk)])] = 1;
  return states;
}

double probabilityOfRight(const std::vector<float> &logits, int walk) {
  const auto left = std::size_t(walk * kActions);
  return 1 / (1 + std::exp(double(logits[left]) - double(logits[left + 1])));
}

/// The steps of all walks at one time.
struct Step {
  std::vector<float> states;
  std::vector<int> actions; ///< 0: left, 1: right, -1: the walk is over
};

class Policy {
public:
  explicit Policy(const brew::api::Plan &plan)
      : session(plan), program(plan.program("forward_backward")),
        trainer(session, {{"base-lr", 0.5},
                          {"momentum", 0},
                          {"weight-decay", 0},
                          {"random-seed", 1}}) {}

  std::vector<float> logits(const std::vector<float> &states) {
    session.setInput(program, "state", states);
    trainer.forward();
    return session.read(session.blob(program, "logits"));
  }

  /// Runs all walks. Appends their steps to `steps` and returns their last
  /// positions.
  std::vector<int> walk(std::mt19937 &random, std::vector<Step> &steps) {
    std::vector<int> positions(kWalks, kPositions / 2);
    for (int i = 0; i < kMaxSteps; ++i) {
      Step step{statesAt(positions), std::vector<int>(kWalks, -1)};
      const std::vector<float> currentLogits = logits(step.states);
      bool moved = false;
      for (int walk = 0; walk < kWalks; ++walk) {
        int &position = positions[std::size_t(walk)];
        if (isEnd(position))
          continue;
        const bool right = double(random()) / 4294967296.0 <
                           probabilityOfRight(currentLogits, walk);
        step.actions[std::size_t(walk)] = right;
        position += right ? 1 : -1;
        moved = true;
      }
      if (!moved)
        break;
      steps.push_back(std::move(step));
    }
    return positions;
  }

  /// Updates the net once by the sum of the gradients of all steps. The
  /// gradient of a step is -d log P(action) / d logits, multiplied by the
  /// reward of its walk minus `baseline`.
  void learn(const std::vector<Step> &steps,
             const std::vector<int> &lastPositions, double baseline) {
    for (const Step &step : steps) {
      const std::vector<float> currentLogits = logits(step.states);
      std::vector<float> gradient(kWalks * kActions);
      for (int walk = 0; walk < kWalks; ++walk) {
        const int action = step.actions[std::size_t(walk)];
        if (action < 0)
          continue;
        const double advantage =
            (lastPositions[std::size_t(walk)] == kPositions - 1) - baseline;
        const double right = probabilityOfRight(currentLogits, walk);
        const auto left = std::size_t(walk * kActions);
        gradient[left] =
            float(advantage * (1 - right - (action == 0)) / kWalks);
        gradient[left + 1] =
            float(advantage * (right - (action == 1)) / kWalks);
      }
      session.write(session.outputGradient(program, "logits"), gradient);
      trainer.backward();
      trainer.accumulate();
    }
    trainer.update();
  }

private:
  brew::api::Session session;
  int program;
  brew::api::Trainer trainer;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: policy POLICY.plan\n");
    return BREW_USAGE;
  }
  try {
    brew::api::checkAbiVersion();
    Policy policy(brew::api::Plan{argv[1]});
    std::mt19937 random(7);
    double successRate = 0, baseline = 0.5;
    for (int i = 0; i < 40; ++i) {
      std::vector<Step> steps;
      const std::vector<int> lastPositions = policy.walk(random, steps);
      int arrived = 0;
      for (int position : lastPositions)
        arrived += position == kPositions - 1;
      successRate = double(arrived) / kWalks;
      if (i % 10 == 0 || i == 39)
        std::printf("after %d updates %.0f %% arrive\n", i, 100 * successRate);
      policy.learn(steps, lastPositions, baseline);
      baseline += 0.1 * (successRate - baseline);
    }
    return successRate > 0.95 ? BREW_OK : BREW_BAD_INPUT;
  } catch (const brew::api::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}
