//===- Acrobot.cpp - The Acrobot environment ------------------------------===//

#include "extras/reinforcement/Acrobot.h"

#include "caffe/RandomStream.h"

#include <algorithm>
#include <cmath>

namespace brew::reinforcement {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// The mechanics, in SI units.
struct Links {
  static constexpr double kGravity = 9.8, kStepSeconds = 0.2;
  // Both links are equal. The centre of mass is below the upper end.
  static constexpr double kLength = 1, kMass = 1, kLengthToCentre = 0.5,
                          kInertia = 1;
  static constexpr double kMaxVelocity1 = 4 * kPi, kMaxVelocity2 = 9 * kPi;
  /// Maximum magnitude of each number of an initial state.
  static constexpr double kStartRange = 0.1;
};

/// Returns the time derivative of a state.
Acrobot::State derivative(const Acrobot::State &state, double torque) {
  const auto [angle1, angle2, velocity1, velocity2] = state;
  const double square = Links::kLengthToCentre * Links::kLengthToCentre;
  const double coupling =
      Links::kMass * Links::kLength * Links::kLengthToCentre;
  // Entries of the mass matrix.
  const double mass11 =
      Links::kMass * square +
      Links::kMass * (Links::kLength * Links::kLength + square) +
      2 * coupling * std::cos(angle2) + 2 * Links::kInertia;
  const double mass12 =
      Links::kMass * square + coupling * std::cos(angle2) + Links::kInertia;
  const double mass22 = Links::kMass * square + Links::kInertia;
  // Forces of gravity, and of the links on each other.
  const double force2 = Links::kMass * Links::kLengthToCentre *
                        Links::kGravity * std::sin(angle1 + angle2);
  const double force1 =
      -coupling * velocity2 * (velocity2 + 2 * velocity1) * std::sin(angle2) +
      (Links::kMass * Links::kLengthToCentre + Links::kMass * Links::kLength) *
          Links::kGravity * std::sin(angle1) +
      force2;
  const double acceleration2 =
      (torque + mass12 / mass11 * force1 -
       coupling * velocity1 * velocity1 * std::sin(angle2) - force2) /
      (mass22 - mass12 * mass12 / mass11);
  const double acceleration1 = -(mass12 * acceleration2 + force1) / mass11;
  return {velocity1, velocity2, acceleration1, acceleration2};
}

Acrobot::State add(Acrobot::State state, const Acrobot::State &slope,
                   double time) {
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] += time * slope[i];
  return state;
}

/// Returns the equal angle in [-pi, pi].
double wrapAngle(double angle) {
  while (angle > kPi)
    angle -= 2 * kPi;
  while (angle < -kPi)
    angle += 2 * kPi;
  return angle;
}

} // namespace

Acrobot::State Acrobot::move(const State &from, int action) {
  const double torque = action - 1;
  const double half = Links::kStepSeconds / 2;
  const State slope1 = derivative(from, torque),
              slope2 = derivative(add(from, slope1, half), torque),
              slope3 = derivative(add(from, slope2, half), torque),
              slope4 =
                  derivative(add(from, slope3, Links::kStepSeconds), torque);
  State to = from;
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] += Links::kStepSeconds / 6 *
             (slope1[i] + 2 * slope2[i] + 2 * slope3[i] + slope4[i]);
  return {wrapAngle(to[0]), wrapAngle(to[1]),
          std::clamp(to[2], -Links::kMaxVelocity1, Links::kMaxVelocity1),
          std::clamp(to[3], -Links::kMaxVelocity2, Links::kMaxVelocity2)};
}

bool Acrobot::isGoal(const State &state) {
  return -std::cos(state[0]) - std::cos(state[0] + state[1]) > 1;
}

std::vector<float> Acrobot::high() const {
  return {1, 1, 1, 1, float(Links::kMaxVelocity1), float(Links::kMaxVelocity2)};
}

std::vector<float> Acrobot::low() const {
  std::vector<float> values = high();
  for (float &value : values)
    value = -value;
  return values;
}

void Acrobot::writeObservation(float *observation) const {
  const double values[] = {std::cos(current[0]), std::sin(current[0]),
                           std::cos(current[1]), std::sin(current[1]),
                           current[2],           current[3]};
  std::copy(std::begin(values), std::end(values), observation);
}

void Acrobot::reset(std::uint64_t seed, float *observation) {
  const caffe::RandomStream random(seed, kName);
  for (std::size_t i = 0; i < current.size(); ++i)
    current[i] = Links::kStartRange * (2 * random.uniform(i) - 1);
  stepCount = 0;
  writeObservation(observation);
}

StepResult Acrobot::step(int action, float *observation) {
  current = move(current, action);
  ++stepCount;
  writeObservation(observation);
  StepResult outcome;
  outcome.terminated = isGoal(current);
  outcome.reward = outcome.terminated ? 0 : -1;
  outcome.truncated = !outcome.terminated && stepCount >= kMaxSteps;
  return outcome;
}

} // namespace brew::reinforcement
