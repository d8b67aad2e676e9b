//===- TrainerPropertiesTest.cpp - Settings of learners -------------------===//

#include "caffe/TrainerProperties.h"
#include "support/Error.h"

#include <gtest/gtest.h>

using namespace brew::caffe;
using brew::ExitStatus;

namespace {

std::vector<std::string> warnings;

brew::caffe::TrainerProperties parse(const std::string &solverText,
                                     const std::string &callerText = "") {
  warnings.clear();
  return brew::caffe::parseProperties(
      solverText, callerText,
      [](const std::string &text) { warnings.push_back(text); });
}

void expectError(const std::string &solverText, const std::string &callerText,
                 ExitStatus status, const std::string &text) {
  try {
    parse(solverText, callerText);
    FAIL() << solverText << callerText;
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_EQ(error.what(), text);
  }
}

} // namespace

/// The defaults are MyCaffe's, except that the input is the state.
TEST(TrainerProperties, HaveDefaults) {
  const brew::caffe::TrainerProperties defaults = parse("");
  EXPECT_EQ(defaults.gamma, 0.99);
  EXPECT_EQ(defaults.miniBatch, 0);
  EXPECT_TRUE(defaults.useRawInput && defaults.standardizeAdvantage);
  EXPECT_EQ(defaults.threads, 1);
  EXPECT_EQ(defaults.episodeBatchSize, 1);
  EXPECT_EQ(defaults.episodeElitePercent, 1);
  EXPECT_FALSE(defaults.allowDiscountReset || defaults.normalizeInput ||
               defaults.showActionProb || defaults.verbose);
  EXPECT_EQ(defaults.rewardType, brew::caffe::TrainerProperties::Reward::Value);
  EXPECT_EQ(defaults.exploration(5), 0);
}

TEST(TrainerProperties, CallersOverrideTheSolver) {
  const brew::caffe::TrainerProperties properties =
      parse("TrainerType=PG.MT; RewardType=MAX;Gamma=0.5;;Threads=3;GPUIDs=0,2;"
            "UseRawInput=True;EpsSteps=10;EpsStart=0.9;EpsEnd=0.1;",
            "Gamma=0.75;UseRawInput=false");
  EXPECT_EQ(properties.trainerType, "PG.MT");
  EXPECT_EQ(properties.rewardType,
            brew::caffe::TrainerProperties::Reward::Maximum);
  EXPECT_EQ(properties.gamma, 0.75);
  EXPECT_EQ(properties.threads, 3);
  EXPECT_EQ(properties.gpuIds, (std::vector<int>{0, 2}));
  EXPECT_FALSE(properties.useRawInput);
  EXPECT_DOUBLE_EQ(properties.exploration(5), 0.5);
  EXPECT_EQ(properties.exploration(10), 0.1);
  EXPECT_TRUE(warnings.empty());
}

/// Solvers may contain properties of trainers that Brew does not have.
TEST(TrainerProperties, UnknownPropertiesOfTheSolverAreWarnings) {
  parse("GameROM=pong.bin;MiniBach=3");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0],
            "the solver's custom_trainer_properties: GameROM has no effect");
  EXPECT_EQ(warnings[1], "the solver's custom_trainer_properties: MiniBach has "
                         "no effect; did you mean 'MiniBatch'?");
}

TEST(TrainerProperties, UnusedPropertiesAreRejected) {
  auto rejection = [](const std::string &trainer, const std::string &text) {
    brew::caffe::TrainerProperties properties = parse(text);
    properties.trainerType = trainer;
    try {
      rejectUnusedProperties(properties);
    } catch (const brew::Error &error) {
      EXPECT_EQ(error.status(), ExitStatus::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(rejection("PPO", "Gamma=0.9;MiniBatch=10"),
            "the trainer PPO does not use the property MiniBatch");
  EXPECT_EQ(rejection("A2C", "UseRawInput=False"),
            "the trainer A2C does not use the property UseRawInput");
  EXPECT_EQ(rejection("PG.ST", "EpsSteps=10"),
            "the trainer PG.ST does not use the property EpsSteps");
  EXPECT_EQ(rejection("PG.SIMPLE", "Threads=2"),
            "the trainer PG.SIMPLE does not use the property Threads");
  EXPECT_EQ(rejection("PG.MT", "Steps=3"),
            "the trainer PG.MT does not use the property Steps");
  EXPECT_EQ(rejection("PG.MT", "GPUIDs=0"),
            "the trainer PG.MT uses the property GPUIDs with several Threads "
            "only");
  // Explicit values that equal the defaults are accepted.
  for (const auto &[trainer, text] :
       {std::pair("PPO",
                  "UseRawInput=True;Threads=1;Lambda=0.9;RewardType=MAX"),
        std::pair("PG.ST", "Threads=1;EpsSteps=0;MiniBatch=3;Verbose=True;"
                           "StandardizeAdvantage=False"),
        std::pair("PG.MT", "Threads=2;GPUIDs=0,1;EpsSteps=3;MiniBatch=2")})
    EXPECT_EQ(rejection(trainer, text), "") << text;
}

TEST(TrainerProperties, ReportsErrors) {
  expectError("", "MiniBach=3", ExitStatus::Usage,
              "trainer properties: there is no property 'MiniBach'; did you "
              "mean 'MiniBatch'?");
  expectError("Gamma=2", "", ExitStatus::BadInput,
              "the solver's custom_trainer_properties: Gamma=2 is not a number "
              "from 0 to 1");
  expectError("", "Threads=1.5", ExitStatus::Usage,
              "trainer properties: Threads=1.5 is not a whole number");
  expectError("", "Verbose=maybe", ExitStatus::Usage,
              "trainer properties: Verbose=maybe is neither True nor False");
  expectError("", "RewardType=SUM", ExitStatus::Usage,
              "trainer properties: RewardType=SUM is not VAL, AVE or MAX");
  expectError("", "Gamma", ExitStatus::Usage,
              "trainer properties: 'Gamma' is not KEY=VALUE");
  expectError("", "EpsEnd=0.5", ExitStatus::Usage,
              "trainer properties: EpsEnd must not be above EpsStart");
  expectError("", "UseAcceleratedTraining=True", ExitStatus::Usage,
              "trainer properties: UseAcceleratedTraining=True is not "
              "supported: it updates a copy of the weights before all "
              "gradients are accumulated");
}
