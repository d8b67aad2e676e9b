//===- GpuRowProductsTest.cpp - Products of rows on the simulator ---------===//

#include "extras/embedding/GpuRowProducts.h"
#include "extras/embedding/Pca.h"

#include "support/Error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace brew;
using namespace brew::runtime;
using namespace brew::embedding;

namespace {

/// Returns centred rows that are summed in three blocks of at most 4096 rows.
Matrix manyRows() {
  constexpr std::int64_t rows = 9001, columns = 7;
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(std::sin(double(i % 97) * (i % 13)) +
                                        double(i % columns)));
  return centred(values.data(), rows, columns);
}

/// Returns the libraries of the CUDA simulator.
cuda::LibraryPaths simulatorLibraries() {
  setenv("BREW_CUDASIM", CUDASIM_FOLDER, 1);
  plan::Target target;
  target.add_archs("sim");
  return cuda::chooseLibraryPaths(target, "test.plan");
}

} // namespace

TEST(GpuRowProducts, AgreeWithTheHost) {
  const Matrix rows = manyRows();
  const Threads threads(2);
  HostRowProducts host(rows, threads);
  GpuRowProducts gpu(simulatorLibraries(), 0, rows);
  for (std::int64_t count : {1, 3, 7}) {
    std::vector<float> directions;
    for (std::int64_t i = 0; i < rows.columns * count; ++i)
      directions.push_back(static_cast<float>(std::cos(double(i))));
    std::vector<float> scores, expectedScores;
    host.project(directions, count, expectedScores);
    gpu.project(directions, count, scores);
    ASSERT_EQ(scores.size(), expectedScores.size());
    // Tolerance: each score is a float sum of 7 products below 10.
    for (std::size_t i = 0; i < scores.size(); ++i)
      ASSERT_NEAR(scores[i], expectedScores[i], 2e-5) << i;
    std::vector<double> sums, expected;
    host.projectTransposed(expectedScores, count, expected);
    gpu.projectTransposed(expectedScores, count, sums);
    ASSERT_EQ(sums.size(), expected.size());
    // Tolerance: each sum has 9001 products of about 10; blocks of 4096
    // products are summed in floats.
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_NEAR(sums[i], expected[i], 0.1 + 1e-5 * std::abs(expected[i]))
          << i;
  }
}

TEST(GpuRowProducts, YieldTheSameComponents) {
  const Matrix rows = manyRows();
  GpuRowProducts gpu(simulatorLibraries(), 0, rows);
  const PrincipalComponents found = principalComponents(rows, 3, 0, gpu),
                            expected =
                                principalComponents(rows, 3, 0, Threads(1));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found.variances[i], expected.variances[i],
                1e-5 * expected.variances[0]);
  for (std::size_t i = 0; i < found.directions.values.size(); ++i)
    EXPECT_NEAR(found.directions.values[i], expected.directions.values[i],
                2e-3); // close variances make the directions inaccurate
}

TEST(GpuRowProducts, MissingGpuIsNamed) {
  const Matrix rows = manyRows();
  try {
    GpuRowProducts gpu(simulatorLibraries(), 63, rows);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_NE(std::string(error.what()).find("there is no GPU 63"),
              std::string::npos);
  }
}
