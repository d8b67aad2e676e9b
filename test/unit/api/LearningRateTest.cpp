//===- LearningRateTest.cpp - Learning rates without a plan ---------------===//
//
// Uses only the public headers and libbrew_runtime. Messages are encoded by
// hand.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cstring>

using namespace brew::api;

namespace {

// Numbers of fields of SolverParameter.
constexpr int kBaseLr = 5, kLrPolicy = 8, kGamma = 9, kMomentum = 11,
              kStepvalue = 34, kType = 40, kPlateauWindow = 1061;

std::string varint(unsigned value) {
  std::string bytes;
  for (; value > 127; value >>= 7)
    bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

std::string field(int number, const char *text) {
  return varint(number << 3 | 2) +
         varint(static_cast<unsigned>(std::strlen(text))) + text;
}
std::string field(int number, int value) {
  return varint(number << 3) + varint(value);
}
std::string field(int number, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint(number << 3 | 5) + bytes;
}

/// Returns the status of the error that `body` throws, BREW_OK without one.
template <typename Body>
brew_status statusOf(Body &&body, std::string *message = nullptr) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_STRNE(error.what(), "");
    if (message)
      *message = error.what();
    return error.status();
  }
  return BREW_OK;
}

} // namespace

TEST(LearningRateApi, MultistepMakesOneStepPerCall) {
  const LearningRate rate(field(kBaseLr, 1.0f) + field(kLrPolicy, "multistep") +
                          field(kGamma, 0.5f) + field(kStepvalue, 2) +
                          field(kStepvalue, 2) + field(kStepvalue, 3));
  auto state = makeStruct<brew_rate_state>();
  const std::vector<double> expected = {1, 1, 0.5, 0.25, 0.125, 0.125};
  for (int i = 0; i < static_cast<int>(expected.size()); ++i)
    EXPECT_EQ(rate.at(i, state), expected[i]) << i;
  EXPECT_EQ(state.step, 3);
  // A snapshot of another solver may contain a step that is too low.
  state.step = 0;
  EXPECT_EQ(rate.at(100, state), 0.5);
  EXPECT_EQ(rate.at(101, state), 0.25);
}

TEST(LearningRateApi, PlateauReadsTheLoss) {
  const LearningRate rate(field(kBaseLr, 1.0f) + field(kLrPolicy, "plateau") +
                          field(kGamma, 0.5f) + field(kPlateauWindow, 2));
  auto state = makeStruct<brew_rate_state>();
  EXPECT_EQ(rate.at(0, state, 3), 1);
  EXPECT_TRUE(state.has_minimum_loss);
  EXPECT_EQ(state.minimum_loss, 3);
  EXPECT_EQ(rate.at(1, state, 2), 1); // a new minimum
  EXPECT_EQ(rate.at(2, state, 4), 1);
  EXPECT_EQ(rate.at(3, state, 4), 0.5);
  EXPECT_EQ(state.step, 1);
  EXPECT_EQ(state.minimum_loss, 2);
  EXPECT_EQ(state.last_event, 3);
}

TEST(LearningRateApi, Errors) {
  std::string message;
  EXPECT_EQ(statusOf(
                [&] {
                  LearningRate rate(field(kType, "AdaGrad") +
                                    field(kMomentum, 0.9f));
                },
                &message),
            BREW_BAD_INPUT);
  EXPECT_EQ(message, "solver: momentum cannot be used with AdaGrad");
  EXPECT_EQ(statusOf([] { LearningRate rate("garbage"); }), BREW_USAGE);

  auto state = makeStruct<brew_rate_state>();
  const LearningRate unknown(field(kBaseLr, 1.0f) +
                             field(kLrPolicy, "sometimes"));
  EXPECT_EQ(statusOf([&] { unknown.at(0, state); }, &message), BREW_BAD_INPUT);
  EXPECT_EQ(message, "solver: unknown lr_policy 'sometimes'");
  const LearningRate fixed(field(kBaseLr, 1.0f) + field(kLrPolicy, "fixed"));
  EXPECT_EQ(statusOf([&] { fixed.at(-1, state); }), BREW_USAGE);
  state.struct_size = 0;
  EXPECT_EQ(statusOf([&] { fixed.at(0, state); }), BREW_USAGE);
}
