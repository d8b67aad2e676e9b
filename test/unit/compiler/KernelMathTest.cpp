//===- KernelMathTest.cpp - Accuracy of math in generated code ------------===//
//
// The references are libm's double-precision functions.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace brew::test {
namespace {

constexpr std::size_t count = 4099; // not a multiple of any vector length

/// Applies operation `op` of MLIR's math dialect to each element.
template <typename T>
Buffer<T> applyMath(const std::string &op, Buffer<T> &input) {
  std::string type = sizeof(T) == 4 ? "f32" : "f64";
  Kernels kernels(
      elementwise("f", type, count, "%r = math." + op + " %v : " + type));
  Buffer<T> output(count);
  kernels.run("f", {input.data(), output.data()}, 0, count);
  return output;
}

/// Returns the largest relative error over [low, high], ignoring absolute
/// errors up to `floor`.
template <typename T>
double worstError(const std::string &op, double (*reference)(double),
                  double low, double high, double floor = 0) {
  Buffer<T> input(count);
  for (std::size_t i = 0; i < count; ++i)
    input[i] = static_cast<T>(low + (high - low) * i / (count - 1));
  Buffer<T> output = applyMath<T>(op, input);
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double expected = reference(input[i]);
    double error = std::fabs(output[i] - expected);
    if (error > floor)
      worst = std::max(worst, error / std::fabs(expected));
  }
  return worst;
}

// An ulp of f32 is at most 1.2e-7 of the value. The bounds are about two to
// four ulps.
TEST(KernelMath, SinglePrecisionPolynomials) {
  EXPECT_LT(worstError<float>("exp", std::exp, -87, 88), 2e-7);
  EXPECT_LT(worstError<float>("log", std::log, 1e-30, 1e30), 2e-7);
  EXPECT_LT(worstError<float>("log", std::log, 0.25, 4, 1e-8), 2e-7);
  EXPECT_LT(worstError<float>("log1p", std::log1p, -0.9, 10), 3e-7);
  EXPECT_LT(worstError<float>("expm1", std::expm1, -10, 10), 3e-7);
  EXPECT_LT(worstError<float>("log2", std::log2, 1e-10, 1e10), 3e-7);
  EXPECT_LT(worstError<float>("tanh", std::tanh, -12, 12), 5e-7);
  EXPECT_LT(worstError<float>("erf", std::erf, -6, 6), 5e-7);
}

TEST(KernelMath, SinglePrecisionLibrary) {
  EXPECT_LT(worstError<float>("sqrt", std::sqrt, 0, 100), 1e-7);
  EXPECT_LT(worstError<float>("sin", std::sin, -100, 100, 1e-7), 2e-7);
  EXPECT_LT(worstError<float>("atan", std::atan, -10, 10), 2e-7);
}

// Finite differences in f64 need the accuracy of libm. The bounds are two ulps
// of at most 2.2e-16.
TEST(KernelMath, DoublePrecision) {
  EXPECT_LT(worstError<double>("exp", std::exp, -700, 700), 4.5e-16);
  EXPECT_LT(worstError<double>("log", std::log, 1e-300, 1e300), 4.5e-16);
  EXPECT_LT(worstError<double>("log1p", std::log1p, -1e-9, 1e-9), 4.5e-16);
  EXPECT_LT(worstError<double>("expm1", std::expm1, -1e-9, 1e-9), 4.5e-16);
  EXPECT_LT(worstError<double>("tanh", std::tanh, -20, 20), 4.5e-16);
  EXPECT_LT(worstError<double>("erf", std::erf, -6, 6), 4.5e-16);
}

TEST(KernelMath, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  Buffer<float> input(count);
  input[0] = -infinity;
  input[1] = -200;
  input[2] = 200;
  input[3] = infinity;
  input[4] = NAN;
  input[5] = 0;
  input[6] = -1;
  Buffer<float> exp = applyMath<float>("exp", input);
  EXPECT_EQ(exp[0], 0.0f);
  EXPECT_LT(exp[1], 1.2e-38f);
  EXPECT_GE(exp[1], 0.0f);
  EXPECT_EQ(exp[2], infinity);
  EXPECT_EQ(exp[3], infinity);
  EXPECT_TRUE(std::isnan(exp[4]));
  EXPECT_EQ(exp[5], 1.0f);
  Buffer<float> log = applyMath<float>("log", input);
  EXPECT_TRUE(std::isnan(log[0]));
  EXPECT_EQ(log[3], infinity);
  EXPECT_TRUE(std::isnan(log[4]));
  EXPECT_EQ(log[5], -infinity);
  EXPECT_TRUE(std::isnan(log[6]));
  Buffer<float> tanh = applyMath<float>("tanh", input);
  // The rational approximation may differ from 1 by one ulp.
  EXPECT_NEAR(tanh[1], -1.0f, 1.2e-7f);
  EXPECT_NEAR(tanh[3], 1.0f, 1.2e-7f);
}

} // namespace
} // namespace brew::test
