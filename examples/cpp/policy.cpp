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
constexpr int kWalks = 32, kPlaces = 7, kActions = 2, kMostSteps = 40;

bool isEnd(int place) { return place == 0 || place == kPlaces - 1; }

std::vector<float> statesAt(const std::vector<int> &places) {
  std::vector<float> states(kWalks * kPlaces);
  for (int walk = 0; walk < kWalks; ++walk)
    states[std::size_t(walk * kPlaces + places[std::size_t(walk)])] = 1;
  return states;
}

double chanceOfRight(const std::vector<float> &logits, int walk) {
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
        trainer(session, {{{"base_lr", "0.5"},
                           {"momentum", "0"},
                           {"weight_decay", "0"},
                           {"random_seed", "1"}},
                          {},
                          "",
                          {}}) {}

  std::vector<float> logits(const std::vector<float> &states) {
    session.setInput(program, "state", states);
    trainer.forward();
    return session.read(session.blob(program, "logits"));
  }

  /// Runs all walks; returns their last places.
  std::vector<int> walk(std::mt19937 &random, std::vector<Step> &steps) {
    std::vector<int> places(kWalks, kPlaces / 2);
    for (int i = 0; i < kMostSteps; ++i) {
      Step step{statesAt(places), std::vector<int>(kWalks, -1)};
      const std::vector<float> now = logits(step.states);
      bool moved = false;
      for (int walk = 0; walk < kWalks; ++walk) {
        int &place = places[std::size_t(walk)];
        if (isEnd(place))
          continue;
        const bool right =
            double(random()) / 4294967296.0 < chanceOfRight(now, walk);
        step.actions[std::size_t(walk)] = right;
        place += right ? 1 : -1;
        moved = true;
      }
      if (!moved)
        break;
      steps.push_back(std::move(step));
    }
    return places;
  }

  /// Updates once by the sum of the gradients of all steps. The gradient of a
  /// step is -d log P(action) / d logits, multiplied by the reward of its walk
  /// minus `expected`.
  void learn(const std::vector<Step> &steps, const std::vector<int> &ends,
             double expected) {
    for (const Step &step : steps) {
      const std::vector<float> now = logits(step.states);
      std::vector<float> gradient(kWalks * kActions);
      for (int walk = 0; walk < kWalks; ++walk) {
        const int action = step.actions[std::size_t(walk)];
        if (action < 0)
          continue;
        const double worth =
            (ends[std::size_t(walk)] == kPlaces - 1) - expected;
        const double right = chanceOfRight(now, walk);
        const auto left = std::size_t(walk * kActions);
        gradient[left] = float(worth * (1 - right - (action == 0)) / kWalks);
        gradient[left + 1] = float(worth * (right - (action == 1)) / kWalks);
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
    double share = 0, expected = 0.5;
    for (int i = 0; i < 40; ++i) {
      std::vector<Step> steps;
      const std::vector<int> ends = policy.walk(random, steps);
      int arrived = 0;
      for (int place : ends)
        arrived += place == kPlaces - 1;
      share = double(arrived) / kWalks;
      if (i % 10 == 0 || i == 39)
        std::printf("after %d updates %.0f %% arrive\n", i, 100 * share);
      policy.learn(steps, ends, expected);
      expected += 0.1 * (share - expected);
    }
    return share > 0.95 ? BREW_OK : BREW_BAD_INPUT;
  } catch (const brew::api::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}
