//===- CartPole.cpp - The Cart-Pole environment ---------------------------===//

#include "extras/reinforcement/CartPole.h"

#include "caffe/RandomStream.h"
#include "runtime/opencv/OpenCv.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <cmath>

namespace brew::reinforcement {
namespace {

constexpr double kGravity = 9.8, kCartMass = 1, kPoleMass = 0.1, kForce = 10,
                 kStepSeconds = 0.02;
constexpr double kHalfLength = 0.5; ///< of the pole
/// Maximum magnitude of each number of an initial state.
constexpr double kStartRange = 0.05;
constexpr char kFailureReward[] = "FailureReward";

} // namespace

CartPole::State CartPole::move(const State &from, int action) {
  const auto [x, speed, angle, angularVelocity] = from;
  const double force = action == 1 ? kForce : -kForce;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const double mass = kCartMass + kPoleMass, lever = kPoleMass * kHalfLength;
  const double baseAcceleration =
      (force + lever * angularVelocity * angularVelocity * sine) / mass;
  const double angularAcceleration =
      (kGravity * sine - cosine * baseAcceleration) /
      (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / mass));
  const double acceleration =
      baseAcceleration - lever * angularAcceleration * cosine / mass;
  return {x + kStepSeconds * speed, speed + kStepSeconds * acceleration,
          angle + kStepSeconds * angularVelocity,
          angularVelocity + kStepSeconds * angularAcceleration};
}

double CartPole::angleLimit() const {
  return rules.degrees * 2 * std::acos(-1.0) / 360;
}

std::vector<std::string> CartPole::propertyNames() const {
  return {kFailureReward};
}

void CartPole::setProperty(const std::string &key, const std::string &text) {
  if (key != kFailureReward)
    return Environment::setProperty(key, text);
  const std::optional<double> value = parseDouble(text);
  if (!value || !std::isfinite(*value))
    throw usageError("environment '" + name() + "': " + key + "=" + text +
                     " is not a finite number");
  chosenFailureReward = *value;
}

void CartPole::useDefaultsOf(const std::string &trainer) {
  defaultFailureReward = trainer == "PG.SIMPLE" ? 0 : 1;
}

std::string CartPole::properties() const {
  return std::string(kFailureReward) + "=" + shortestText(failureReward());
}

std::vector<float> CartPole::high() const {
  const auto edge = static_cast<float>(kEdge),
             angle = static_cast<float>(angleLimit());
  return {edge, 2 * edge, angle, 2 * angle};
}

std::vector<float> CartPole::low() const {
  std::vector<float> values = high();
  for (float &value : values)
    value = -value;
  return values;
}

void CartPole::writeObservation(const State &state, float *observation) const {
  for (std::size_t i = 0; i < state.size(); ++i)
    observation[i] = static_cast<float>(state[i]);
}

void CartPole::reset(std::uint64_t seed, float *observation) {
  const caffe::RandomStream random(seed, "cartpole");
  for (std::size_t i = 0; i < current.size(); ++i)
    current[i] = kStartRange * (2 * random.uniform(i) - 1);
  stepCount = 0;
  writeObservation(current, observation);
}

StepResult CartPole::step(int action, float *observation) {
  const State previous = current;
  current = move(previous, action);
  ++stepCount;
  writeObservation(rules.showsState ? current : previous, observation);
  StepResult outcome;
  outcome.terminated =
      std::abs(current[0]) > kEdge || std::abs(current[2]) > angleLimit();
  outcome.reward = outcome.terminated ? failureReward() : 1;
  outcome.truncated =
      !outcome.terminated && rules.steps > 0 && stepCount >= rules.steps;
  return outcome;
}

bool CartPole::draw(formats::Image &picture) const {
  runtime::openCvPlugin("draw an episode")
      .drawCartPole(picture, current[0], current[2]);
  return true;
}

} // namespace brew::reinforcement
