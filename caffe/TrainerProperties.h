//===- TrainerProperties.h - The settings of a learner -----------------*- C++ -*-===//
//
// Text of the form "KEY=VALUE;KEY=VALUE", as MyCaffe's
// custom_trainer_properties are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace brew::caffe {

struct TrainerProperties {
  std::string trainerType; ///< PG.SIMPLE, PG.ST, PG.MT, PPO, A2C; "": not given
  /// Which reward is shown: the episode's, the running mean, the greatest.
  enum class Reward { Value, Average, Maximum } rewardType = Reward::Value;
  double gamma = 0.99;
  int miniBatch = 10; ///< episodes of an update
  bool useRawInput = false;
  bool allowDiscountReset = false;
  bool normalizeInput = false;
  bool showActionProb = false, verbose = false;

  // PG.MT
  int threads = 1;
  std::vector<int> gpuIds; ///< agents take turns on them; empty: the session's
  int epsSteps = 0;        ///< episodes
  double epsStart = 0, epsEnd = 0;
  int episodeBatchSize = 1;
  double episodeElitePercent = 1;

  // PPO, A2C
  double lambda = 0.95;
  int steps = 0;  ///< of each environment between updates; 0: the trainer's
  int epochs = 0; ///< 0: the trainer's
  bool standardizeAdvantage = true;

  /// The names of those that were given, by the solver or over it.
  std::vector<std::string> given;

  /// The chance of an action that is drawn evenly, in episode `episode`.
  double exploration(long long episode) const;
};

/// The settings of `own`, over them those of `given`. Throws Error (2) for what
/// is wrong with `given`, (1) with `own`; keys of `own` that are none are told
/// to `warn`, as trainers of other environments have more.
TrainerProperties
parseProperties(const std::string &own, const std::string &given,
                const std::function<void(const std::string &)> &warn);

/// What is wrong with a solver's own properties, or has no effect there, and at
/// which byte of the text.
struct PropertyDiagnostic {
  bool isError;
  std::size_t offset;
  std::string text;
};

/// All that is to be said of a solver's own properties before there is a run.
/// Of those of a trainer that Brew does not have it says that alone.
std::vector<PropertyDiagnostic> checkProperties(const std::string &own);

/// How the trainers are called.
std::vector<std::string> trainerNames();
/// A trainer's name by one of those; "PG" is MyCaffe's other one.
std::string canonicalTrainerName(const std::string &name);

/// Throws Error (2) if a property was given that the trainer `trainerType` does
/// not use, unless its value says what that trainer does anyway.
void rejectUnusedProperties(const TrainerProperties &properties);

} // namespace brew::caffe
