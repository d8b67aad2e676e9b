//===- TrainerProperties.h - Properties of trainers -------------*- C++ -*-===//
//
// The settings of a trainer of reinforcement learning, as a list of properties
// (PropertyList.h), as in MyCaffe's custom_trainer_properties.
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
  /// Which reward is displayed: the episode's, the running mean or the maximum.
  enum class Reward { Value, Average, Maximum } rewardType = Reward::Value;
  double gamma = 0.99;
  bool standardizeAdvantage = true;
  int miniBatch = 0; ///< episodes per update; 0: batch_size of the data layer
  bool useRawInput = true;
  bool allowDiscountReset = false;
  bool normalizeInput = false;
  bool showActionProb = false, verbose = false;

  // PG.MT
  int threads = 1;
  std::vector<int> gpuIds; ///< of the agents; empty: the session's device
  int epsSteps = 0;        ///< episodes until exploration reaches epsEnd
  double epsStart = 0, epsEnd = 0;
  int episodeBatchSize = 1;
  double episodeElitePercent = 1;

  // PPO, A2C
  double lambda = 0.95;
  int steps = 0;  ///< per environment and update; 0: the trainer's default
  int epochs = 0; ///< 0: the trainer's default

  /// The keys of the properties that were set explicitly.
  std::vector<std::string> explicitKeys;

  /// Returns the probability of a uniformly random action in an episode.
  double exploration(long long episode) const;
};

/// Parses the solver's properties and the properties in `overrides`, which take
/// precedence. Throws Error (1) for errors in `solverProperties` and Error (2)
/// for errors in `overrides`. Calls `warn` for unknown keys in
/// `solverProperties`, because other trainers and environments of MyCaffe have
/// more properties.
TrainerProperties
parseProperties(const std::string &solverProperties,
                const std::string &overrides,
                const std::function<void(const std::string &)> &warn);

/// A diagnostic of a solver's properties: an error or a property without
/// effect.
struct PropertyDiagnostic {
  bool isError;
  std::size_t offset; ///< in bytes of the text
  std::string text;
};

/// Checks a solver's properties without a run. If Brew does not support the
/// trainer, reports nothing else.
std::vector<PropertyDiagnostic>
checkProperties(const std::string &solverProperties);

/// Returns the names of the trainers.
std::vector<std::string> trainerNames();
/// Returns the canonical name of a trainer; MyCaffe also accepts "PG".
std::string canonicalTrainerName(const std::string &name);

/// Throws Error (2) if a property was set that the trainer `trainerType` does
/// not use, unless the value describes what the trainer does anyway.
void rejectUnusedProperties(const TrainerProperties &properties);

} // namespace brew::caffe
