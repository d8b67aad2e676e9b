//===- PcaTest.cpp - Principal components ---------------------------------===//

#include "extras/embedding/Pca.h"
#include "Clusters.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew::runtime;
using namespace brew::embedding;

namespace {

const Threads kTwoThreads(2);

/// Six rows, and the result of NumPy's eigh for their covariance.
const std::vector<float> kRows = {2, 0, 1, -1, 1,  3, 0, 2, 0, -1, 4,  1,
                                  3, 2, 2, 0,  -2, 1, 0, 5, 1, 1,  -3, 2};
const std::vector<double> kVariances = {8.06211737, 4.98606168, 1.61048261,
                                        0.07467166};
const std::vector<double> kDirections = {-0.42192841, 0.16208433,  -0.59962978,
                                         0.66041594,  -0.53971447, -0.35387606,
                                         0.67594941,  0.35577018};
const std::vector<double> kScores = {-2.50525058, -0.93989979, 0.98380841,
                                     -1.07045239, -2.30153557, 3.23279379,
                                     -2.54222418, -1.1556468,  3.90667279,
                                     2.32375368,  2.45852911,  -2.39054849};

} // namespace

TEST(Pca, AgreesWithRecordedEigenvectors) {
  const PrincipalComponents all =
      principalComponents(centred(kRows.data(), 6, 4), 4, 0, kTwoThreads);
  EXPECT_NEAR(all.variance, 14.733333, 1e-5);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(all.variances[i], kVariances[i], 1e-5);
  for (std::size_t i = 0; i < kDirections.size(); ++i)
    EXPECT_NEAR(all.directions.values[i], kDirections[i], 1e-5) << i;
  const PrincipalComponents firstTwo =
      principalComponents(centred(kRows.data(), 6, 4), 2, 1, kTwoThreads);
  for (std::size_t i = 0; i < kScores.size(); ++i)
    EXPECT_NEAR(firstTwo.scores.values[i], kScores[i], 2e-5) << i;
}

TEST(Pca, ManyColumnsHaveExactComponents) {
  // Each row is the sum of two orthogonal vectors of 2000 columns, whose
  // lengths are 3 and 1 and whose signs depend on the row.
  const std::int64_t columns = 2000, rows = 600;
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double scale = 1 / std::sqrt(double(columns));
      const double first = i % 2 ? 3 : -3, second = i % 4 < 2 ? 1 : -1;
      values[i * columns + j] =
          static_cast<float>(scale * (first + (j % 2 ? second : -second)));
    }
  const PrincipalComponents found = principalComponents(
      centred(values.data(), rows, columns), 2, 0, kTwoThreads);
  const double sampleFactor = double(rows) / (rows - 1); // unbiased variance
  EXPECT_NEAR(found.variances[0], 9 * sampleFactor, 1e-4);
  EXPECT_NEAR(found.variances[1], 1 * sampleFactor, 1e-4);
  for (std::int64_t i = 0; i < rows; ++i)
    EXPECT_NEAR(found.scores.row(i)[0], i % 2 ? 3 : -3, 1e-4);
}

TEST(Pca, OnlyExtremeRowsAreScaled) {
  const std::vector<float> plain = {1e8f, -1e8f, 3, 5}, small = {1e-8f, 0};
  EXPECT_EQ(centred(plain.data(), 2, 2).scale, 1);
  EXPECT_EQ(centred(small.data(), 2, 1).scale, 1);
  const std::vector<float> huge = {3e38f, -3e38f, 3e38f};
  const Matrix rows = centred(huge.data(), 3, 1);
  EXPECT_LT(rows.scale, 1e-38);
  EXPECT_GE(std::abs(rows.values[1]), 0.5f);
  EXPECT_LE(std::abs(rows.values[1]), 1.0f);
  EXPECT_FLOAT_EQ(rows.values[1], -2 * rows.values[0]);
}

TEST(Pca, EqualRowsHaveNoComponents) {
  const std::vector<float> values(40, 2.5f);
  const PrincipalComponents found =
      principalComponents(centred(values.data(), 10, 4), 2, 0, kTwoThreads);
  EXPECT_EQ(found.variance, 0);
  for (float score : found.scores.values)
    EXPECT_EQ(score, 0);
}

TEST(Pca, CollinearRowsHaveOneComponent) {
  std::vector<float> values;
  for (int i = 0; i < 9; ++i)
    values.insert(values.end(), {float(i), float(2 * i), float(-2 * i)});
  const PrincipalComponents found =
      principalComponents(centred(values.data(), 9, 3), 2, 0, kTwoThreads);
  EXPECT_NEAR(found.variances[0], 9 * 7.5, 1e-3);
  EXPECT_NEAR(found.variances[1], 0, 1e-4);
  EXPECT_NEAR(found.scores.row(8)[0], found.scores.row(0)[0] > 0 ? -12 : 12,
              1e-4);
  EXPECT_NEAR(found.scores.row(8)[1], 0, 1e-3);
}

TEST(Pca, SameBitsForAnyNumberOfThreads) {
  const Matrix rows = brew::test::clusters(3000, 40);
  const PrincipalComponents expected =
      principalComponents(rows, 5, 3, Threads(1));
  for (int threads : {2, 4}) {
    const PrincipalComponents found =
        principalComponents(rows, 5, 3, Threads(threads));
    EXPECT_EQ(expected.scores.values, found.scores.values);
    EXPECT_EQ(expected.variances, found.variances);
  }
}
