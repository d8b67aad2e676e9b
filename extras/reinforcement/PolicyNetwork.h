//===- PolicyNetwork.h - Policy nets ----------------------------*- C++ -*-===//
//
// The two programs of a policy net: inference computes the probabilities of
// actions, and training backpropagates the gradient of a loss that is computed
// outside the net.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::reinforcement {

/// The probability of each action.
using Distribution = std::vector<double>;

/// Returns the distribution: sigmoid of a single logit, which is action 0's, or
/// softmax of several.
Distribution distributionOf(const float *logits, std::int64_t count);
/// Returns the first action whose cumulative probability exceeds `draw`, a
/// number in [0, 1).
int sample(const Distribution &probabilities, double draw);
/// Returns the entropy in nats.
double entropyOf(const Distribution &probabilities);
/// Computes d loss / d logits of the policy-gradient loss: (p - onehot(action))
/// * advantage, and for a single logit (P(0) - (action == 0)) * advantage.
void policyGradient(const Distribution &probabilities, int action,
                    double advantage, float *gradient, std::int64_t count);

/// Runs the test net (program test_0) if the plan has one, else the forward
/// pass of the training net.
class InferenceProgram {
public:
  /// Throws Error (1) if the program has no input for observations of
  /// `observationCount` numbers.
  InferenceProgram(runtime::Session &session, std::int64_t observationCount);

  int program() const { return index; }
  /// Returns whether the program belongs to the test net.
  bool isTest() const { return usesTestNet; }
  std::int64_t rows() const { return rowCount; }
  const std::string &input() const { return inputName; }
  /// Runs the program on rows() consecutive observations.
  void run(const std::vector<float> &observations);
  /// Returns a blob of the last run.
  std::vector<float> read(const std::string &blob) const;

private:
  runtime::Session &session;
  int index;
  bool usesTestNet;
  std::string inputName;
  std::int64_t rowCount;
};

/// Returns the name of the input of `program` with rows of `observationCount`
/// numbers. Throws Error (1) if there is no such input.
std::string observationInput(runtime::Session &session, int program,
                             std::int64_t observationCount);

/// The policy of a net with a MemoryLoss over its logits.
class Policy {
public:
  /// Throws Error (1) if the net is not a policy over `actions` actions.
  Policy(runtime::Session &session, std::int64_t observationCount, int actions);
  /// Returns the probabilities of the actions. Throws Error (1) if they are not
  /// finite.
  Distribution probabilities(const std::vector<float> &observation);
  std::int64_t logitCount() const { return logitsPerState; }

private:
  InferenceProgram inference;
  std::string blob;
  bool isLogits; ///< otherwise `blob` contains the probabilities
  std::int64_t logitsPerState;
  std::vector<float> rows;
};

/// Collects steps and backpropagates their gradients through the training net,
/// one batch at a time.
class GradientAccumulator {
public:
  /// Functions of the solver or the session that run the training program.
  struct Runner {
    std::function<void()> forward, backward;
  };
  GradientAccumulator(runtime::Session &session, std::int64_t observationCount,
                      Runner runner);

  struct Step {
    std::vector<float> observation;
    int action = 0;
    Distribution probabilities; ///< when the action was chosen
    double advantage = 0;
    double weight = 1; ///< 1 / steps of the episode
  };
  /// Returns the number of steps that run through the net at once.
  std::int64_t batchSize() const { return rows; }
  void add(const Step &step);
  /// Backpropagates the pending steps.
  void flush();
  /// Discards the pending steps and the losses.
  void discard();
  /// Returns the mean loss of the steps since the last call: the cross entropy
  /// of the actions (softmax) or the squares of dlogps (one logit).
  double takeLoss();

private:
  runtime::Session &session;
  int program;
  std::string input, logits, lossInput;
  std::int64_t observationCount, rows, logitsPerState;
  double normalizer;
  Runner runner;
  std::vector<Step> pending;
  std::vector<float> states, outputGradients; ///< of one batch
  double lossSum = 0;
  std::int64_t lossCount = 0;
};

} // namespace brew::reinforcement
