//===- EmbedApiTest.cpp - PCA, t-SNE and scatter plots in the C++ API -----===//

#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace brew::api;

namespace {

/// Returns rows of 3 columns in two groups that are 20 apart in column 0. Odd
/// rows form one group, even rows the other.
std::vector<float> twoGroups(int rows) {
  std::vector<float> values;
  for (int i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(std::sin(i * 1.3) + (i % 2 ? 20 : 0)));
    values.push_back(static_cast<float>(std::cos(i * 2.1)));
    values.push_back(static_cast<float>(std::sin(i * 0.7 + 1)));
  }
  return values;
}

/// Runs `body`, which must throw an Error of `status`. Returns its message.
std::string failure(const std::function<void()> &body, brew_status status) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

} // namespace

TEST(EmbedApi, SeparatesTwoGroups) {
  const std::vector<float> values = twoGroups(100);
  const FeatureRows rows{values.data(), 100, 3};
  const Pca found = pca(rows, 3);
  EXPECT_NEAR(found.variances[0] + found.variances[1] + found.variances[2],
              found.variance, 1e-3);
  EXPECT_EQ(found.scores.size(), 300u);
  // The groups differ only in column 0.
  EXPECT_GT(found.directions[0], 0.99);

  auto options = makeStruct<brew_tsne_options>();
  options.perplexity = 10;
  int reports = 0;
  const Tsne layout =
      tsne(rows, options, [&](const brew_tsne_progress *progress) {
        if (progress) {
          ++reports;
          EXPECT_EQ(progress->iterations, 750);
          EXPECT_TRUE(std::isfinite(progress->embedding[199]));
        }
      });
  // At the beginning and after every 50 of the 750 iterations.
  EXPECT_EQ(reports, 16);
  EXPECT_GT(layout.divergence, 0);
  // Every point is closer to the mean of its own group than to the other one.
  double mean[2][2] = {};
  for (int i = 0; i < 100; ++i)
    for (int k = 0; k < 2; ++k)
      mean[i % 2][k] += layout.embedding[2 * i + k] / 50;
  for (int i = 0; i < 100; ++i) {
    auto distanceTo = [&](int group) {
      return std::hypot(layout.embedding[2 * i] - mean[group][0],
                        layout.embedding[2 * i + 1] - mean[group][1]);
    };
    EXPECT_LT(distanceTo(i % 2), distanceTo(1 - i % 2));
  }
}

TEST(EmbedApi, AcceptsFeaturesOfAnyMagnitude) {
  const std::vector<float> plain = twoGroups(100);
  const Pca expected = pca({plain.data(), 100, 3}, 2);
  auto options = makeStruct<brew_tsne_options>();
  options.perplexity = 10;
  options.exaggerated_iterations = options.iterations = 20;
  for (double factor : {1e-30, 1e20, 1e35}) {
    std::vector<float> values;
    for (float value : plain)
      values.push_back(static_cast<float>(value * factor));
    const FeatureRows rows{values.data(), 100, 3};
    const Pca found = pca(rows, 2);
    EXPECT_NEAR(found.variance / factor / factor, expected.variance, 1e-3);
    for (std::size_t i = 0; i < 200; i += 2)
      EXPECT_NEAR(found.scores[i] / factor, expected.scores[i], 1e-3);
    for (float coordinate : tsne(rows, options).embedding)
      EXPECT_TRUE(std::isfinite(coordinate));
  }
  // One row is far from all others. The mean reduces its score by 1/100.
  std::vector<float> far = plain;
  far[30] = 1e20f;
  EXPECT_NEAR(pca({far.data(), 100, 3}, 2).scores[20] / 1e20, 0.99, 1e-5);
  for (float coordinate : tsne({far.data(), 100, 3}, options).embedding)
    EXPECT_TRUE(std::isfinite(coordinate));
  // The distance between two rows exceeds the range of floats.
  far[30] = 3e38f;
  far[60] = -3e38f;
  for (float coordinate : tsne({far.data(), 100, 3}, options).embedding)
    EXPECT_TRUE(std::isfinite(coordinate));
  for (std::size_t i = 0; i < far.size(); ++i)
    far[i] = i < 150 ? 3e38f : -3e38f;
  EXPECT_EQ(failure(
                [&] {
                  pca({far.data(), 100, 3});
                },
                BREW_BAD_INPUT),
            "the features are too large: their principal components do not fit "
            "in floats");
}

TEST(EmbedApi, PropagatesExceptionsOfTheProgressCallback) {
  const std::vector<float> values = twoGroups(100);
  struct Stop {};
  EXPECT_THROW(tsne({values.data(), 100, 3}, makeStruct<brew_tsne_options>(),
                    [](const brew_tsne_progress *) { throw Stop(); }),
               Stop);
}

TEST(EmbedApi, ErrorsNameTheInvalidInput) {
  std::vector<float> values = twoGroups(100);
  const FeatureRows rows{values.data(), 100, 3};
  const auto defaults = makeStruct<brew_tsne_options>();
  EXPECT_EQ(failure([&] { pca(rows, 4); }, BREW_USAGE),
            "the number of components must be 1 to 3");
  EXPECT_EQ(failure(
                [&] {
                  pca({values.data(), 1, 3});
                },
                BREW_BAD_INPUT),
            "principal components need at least 2 samples; there is 1");
  EXPECT_EQ(failure(
                [&] {
                  tsne({values.data(), 20, 3}, defaults);
                },
                BREW_BAD_INPUT),
            "there are 20 samples; perplexity 30 needs at least 91, so choose "
            "a perplexity of 6.33 or less");
  auto rejects = [&](auto change, const std::string &text) {
    auto options = defaults;
    change(options);
    EXPECT_EQ(failure([&] { tsne(rows, options); }, BREW_USAGE), text);
  };
  rejects([](auto &options) { options.perplexity = 0.5; },
          "the perplexity must be more than 1");
  rejects([](auto &options) { options.theta = 1.5; },
          "theta must be more than 0 and at most 1");
  rejects([](auto &options) { options.exaggeration = -1; },
          "the exaggeration must be at least 1");
  rejects([](auto &options) { options.learning_rate = -1; },
          "the learning rate must be more than 0");
  rejects([](auto &options) { options.iterations = 2000000; },
          "there are more than 1000000 iterations");
  values[31] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(failure([&] { tsne(rows, defaults); }, BREW_BAD_INPUT),
            "the features are not all finite: nan in row 10, column 1");
  EXPECT_EQ(
      brew_tsne(values.data(), 100, 3, nullptr, nullptr, nullptr, nullptr, 0),
      BREW_USAGE);
}

TEST(EmbedApi, RejectsInvalidPlots) {
  const std::vector<float> points = {0, 0, 1, 1};
  EXPECT_EQ(failure([&] { writeScatter("x.gif", points); }, BREW_USAGE),
            "x.gif: a scatter plot is written as .svg or .png");
  failure([&] { writeScatter("/nowhere/x.svg", points); }, BREW_UNAVAILABLE);
  ScatterOptions options;
  options.width = 10;
  failure([&] { writeScatter("x.svg", points, options); }, BREW_USAGE);
  options.width = 0;
  options.classes = {1};
  failure([&] { writeScatter("x.svg", points, options); }, BREW_USAGE);
  EXPECT_EQ(failure(
                [&] {
                  writeScatter("x.svg", {0, HUGE_VALF});
                },
                BREW_BAD_INPUT),
            "point 0 is not finite");
}
