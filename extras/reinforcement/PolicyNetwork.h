//===- PolicyNetwork.h - A policy's programs --------------------------*- C++ -*-===//
//
// The two sides of a policy net: the program that says what to do in a state,
// and the one that takes the gradient of a loss the net does not know.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::reinforcement {

/// How likely each action is.
using Distribution = std::vector<double>;

/// Of one logit, that of action 0 (sigmoid); of several, one for each
/// (softmax).
Distribution distributionOf(const float *logits, std::int64_t count);
/// The first action at which the sum of probabilities exceeds `draw`, of [0, 1).
int sample(const Distribution &probabilities, double draw);
/// In nats.
double entropyOf(const Distribution &probabilities);
/// d loss / d logits where the action `action`, taken in a state that was worth
/// `advantage`, is to become more likely: (p - onehot(action)) * advantage; of
/// one logit (P(0) - (action == 0)) * advantage.
void policyGradient(const Distribution &probabilities, int action, double advantage,
                    float *gradient, std::int64_t count);

/// Runs the test net (program test_0) where the plan has one, else the forward
/// pass of the training net.
class InferenceProgram {
public:
  /// Throws Error (1) if the program takes no observations of that size.
  InferenceProgram(runtime::Session &session, std::int64_t observationCount);

  int program() const { return index; }
  bool isTest() const { return tests; }
  std::int64_t rows() const { return rowCount; }
  const std::string &input() const { return inputName; }
  /// rows() observations, one behind the other.
  void run(const std::vector<float> &observations);
  /// A blob after a run.
  std::vector<float> read(const std::string &blob) const;

private:
  runtime::Session &session;
  int index;
  bool tests;
  std::string inputName;
  std::int64_t rowCount;
};

/// The name of the input of `program` that takes rows of `observationCount`
/// numbers. Throws Error (1) if there is none.
std::string observationInput(runtime::Session &session, int program,
                             std::int64_t observationCount);

/// Tells what to do in a state, of a net with a MemoryLoss over its logits.
class Policy {
public:
  /// `actions`: how many there are. Throws Error (1) if the net is no policy
  /// over so many.
  Policy(runtime::Session &session, std::int64_t observationCount, int actions);
  Distribution probabilities(const std::vector<float> &observation);
  std::int64_t logitCount() const { return width; }

private:
  InferenceProgram inference;
  std::string blob;
  bool isLogits; ///< else the probabilities themselves
  std::int64_t width;
  std::vector<float> rows;
};

/// Gathers steps and passes their gradients through the training net, as many
/// at once as it has rows.
class GradientAccumulator {
public:
  /// What runs the passes of the training program: the solver, or the session.
  struct Runner {
    std::function<void()> forward, backward;
  };
  GradientAccumulator(runtime::Session &session, std::int64_t observationCount,
                 Runner runner);

  struct Step {
    std::vector<float> observation;
    int action = 0;
    Distribution probabilities; ///< when it was taken
    double advantage = 0;
    double weight = 1; ///< of an episode: 1 over its steps
  };
  void add(const Step &step);
  /// Passes what is left.
  void flush();
  /// Forgets it, and the losses.
  void discard();
  /// Mean loss of the steps since the last call: the cross entropy of the
  /// actions (softmax), the squares of dlogps (one logit).
  double takeLoss();

private:
  runtime::Session &session;
  int program;
  std::string input, logits, lossInput;
  std::int64_t observationCount, rows, width;
  double normalizer;
  Runner runner;
  std::vector<Step> pending;
  std::vector<float> states, outputGradients; ///< of a pass
  double lossSum = 0;
  std::int64_t lossCount = 0;
};

} // namespace brew::reinforcement
