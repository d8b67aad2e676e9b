//===- TrainerProperties.h - The settings of a learner ----------*- C++ -*-===//
//
// Text of the form "KEY=VALUE;KEY=VALUE", as in MyCaffe's
// custom_trainer_properties.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace brew::caffe {

struct TrainerProperties {
  std::string trainerType; ///< PG.SIMPLE, PG.ST, PG.MT, PPO, A2C; "": not set
  /// The displayed reward: of the episode, the running mean, the maximum.
  enum class Reward { Value, Average, Maximum } rewardType = Reward::Value;
  double gamma = 0.99;
  int miniBatch = 10; ///< episodes per update
  bool useRawInput = false;
  bool allowDiscountReset = false;
  bool normalizeInput = false;
  bool showActionProb = false, verbose = false;

  // PG.MT
  int threads = 1;
  std::vector<int>
      gpuIds;       ///< distributed over the agents; empty: the session's
  int epsSteps = 0; ///< episodes
  double epsStart = 0, epsEnd = 0;
  int episodeBatchSize = 1;
  double episodeElitePercent = 1;

  // PPO, A2C
  double lambda = 0.95;
  int steps = 0;  ///< per environment and update; 0: the trainer's default
  int epochs = 0; ///< 0: the trainer's default
  bool standardizeAdvantage = true;

  /// The names of the properties that were set explicitly.
  std::vector<std::string> given;

  /// Returns the probability of a uniformly random action in an episode.
  double exploration(long long episode) const;
};

/// Parses the solver's properties `own` and the overrides `given`. Throws
/// Error: (2) for errors in `given`, (1) for errors in `own`. Calls `warn` for
/// unknown keys in `own`, because other trainers and environments of MyCaffe
/// have more.
TrainerProperties
parseProperties(const std::string &own, const std::string &given,
                const std::function<void(const std::string &)> &warn);

/// A diagnostic of a solver's properties: an error or a property without
/// effect.
struct PropertyDiagnostic {
  bool isError;
  std::size_t offset; ///< in bytes of the text
  std::string text;
};

/// Checks a solver's properties without a run. For a trainer that Brew does not
/// support, reports only that.
std::vector<PropertyDiagnostic> checkProperties(const std::string &own);

/// Returns the names of the trainers.
std::vector<std::string> trainerNames();
/// Returns the canonical name of a trainer; MyCaffe also accepts "PG".
std::string canonicalTrainerName(const std::string &name);

/// Throws Error (2) if a property was set that the trainer `trainerType` does
/// not use, unless its value equals the trainer's behaviour.
void rejectUnusedProperties(const TrainerProperties &properties);

} // namespace brew::caffe
