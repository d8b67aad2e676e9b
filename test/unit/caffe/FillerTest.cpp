//===- FillerTest.cpp - Values of Caffe's fillers -------------------------===//
#include "caffe/Filler.h"
#include "TestPlan.h"
#include "support/Error.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace brew;
using namespace brew::caffe;

namespace {

brew::caffe::Filler makeFiller(const std::string &text,
                               std::vector<std::int64_t> shape,
                               std::uint64_t seed = 1) {
  return brew::caffe::Filler(
      test::parse<caffe::FillerParameter>(text), std::move(shape),
      brew::caffe::RandomStream(seed, "test"), "layer 'l'");
}

std::vector<double> values(const brew::caffe::Filler &filler) {
  std::vector<double> result(static_cast<std::size_t>(filler.count()));
  filler.fill(0, filler.count(), result.data());
  return result;
}

struct Moments {
  double mean = 0, deviation = 0, minimum = 1e300, maximum = -1e300;

  explicit Moments(const std::vector<double> &list) {
    double squares = 0;
    for (double v : list) {
      mean += v / double(list.size());
      squares += v * v / double(list.size());
      minimum = std::min(minimum, v);
      maximum = std::max(maximum, v);
    }
    deviation = std::sqrt(squares - mean * mean);
  }
};

} // namespace

TEST(Filler, ConstantAndItsDefault) {
  for (double v : values(makeFiller("value: 1.5", {2, 3})))
    EXPECT_EQ(v, 1.5);
  EXPECT_TRUE(makeFiller("", {2}).isConstant());
  EXPECT_FALSE(makeFiller("type: 'uniform'", {2}).isConstant());
}

TEST(Filler, UniformStaysInItsRange) {
  Moments m(values(makeFiller("type: 'uniform' min: -2 max: 4", {100, 1000})));
  EXPECT_GE(m.minimum, -2);
  EXPECT_LE(m.maximum, 4);
  // The tolerances are about five standard errors over 1e5 values.
  EXPECT_NEAR(m.mean, 1, 0.028);
  EXPECT_NEAR(m.deviation, 6 / std::sqrt(12.0), 0.02);
}

TEST(Filler, GaussianHasMeanAndDeviation) {
  Moments m(
      values(makeFiller("type: 'gaussian' mean: 3 std: 0.5", {100, 1000})));
  // The tolerances are about five standard errors over 1e5 values.
  EXPECT_NEAR(m.mean, 3, 0.008);
  EXPECT_NEAR(m.deviation, 0.5, 0.006);
}

TEST(Filler, SparseGaussianKeepsTheRequestedInputs) {
  // Each of the shape[0] outputs has `sparse` nonzero inputs on average: a
  // share of sparse / shape[0] = 0.1.
  const auto list =
      values(makeFiller("type: 'gaussian' std: 1 sparse: 10", {100, 1000}));
  int nonZeroCount = 0;
  for (double v : list)
    nonZeroCount += v != 0;
  EXPECT_NEAR(nonZeroCount / double(list.size()), 0.1, 0.005);
  // The values of nonzero elements do not depend on the mask.
  std::vector<double> nonZero;
  for (double v : list)
    if (v != 0)
      nonZero.push_back(v);
  EXPECT_NEAR(Moments(nonZero).deviation, 1, 0.04);
}

TEST(Filler, UnitBallRowsSumToOne) {
  const auto list = values(makeFiller("type: 'positive_unitball'", {7, 5, 4}));
  for (int row = 0; row < 7; ++row) {
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
      EXPECT_GE(list[row * 20 + i], 0);
      sum += list[row * 20 + i];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Filler, XavierScalesWithTheRequestedFan) {
  // Shape 50 x 20 x 5 x 5: fan-in 500, fan-out 1250.
  const struct {
    const char *norm;
    double fan;
  } cases[] = {{"FAN_IN", 500}, {"FAN_OUT", 1250}, {"AVERAGE", 875}};
  for (const auto &c : cases) {
    Moments m(values(
        makeFiller(std::string("type: 'xavier' variance_norm: ") + c.norm,
                   {50, 20, 5, 5})));
    const double scale = std::sqrt(3 / c.fan);
    EXPECT_LE(m.maximum, scale);
    EXPECT_GE(m.minimum, -scale);
    // 25,000 values come close to the ends but cannot pass them.
    EXPECT_GT(m.maximum, scale * 0.999);
    EXPECT_NEAR(m.deviation, scale / std::sqrt(3.0), scale * 0.02) << c.norm;
  }
}

TEST(Filler, FanOutOfAVectorIsItsCount) {
  // Caffe: fan-in is count / shape[0] = 1, fan-out the count.
  Moments in(values(makeFiller("type: 'xavier'", {1000})));
  EXPECT_GT(in.maximum, std::sqrt(3.0) * 0.99);
  Moments out(
      values(makeFiller("type: 'xavier' variance_norm: FAN_OUT", {1000})));
  EXPECT_LE(out.maximum, std::sqrt(3.0 / 1000));
}

TEST(Filler, MsraHasAVarianceOfTwoOverTheFan) {
  const struct {
    const char *norm;
    double fan;
  } cases[] = {{"FAN_IN", 500}, {"FAN_OUT", 1250}, {"AVERAGE", 875}};
  for (const auto &c : cases) {
    Moments m(values(makeFiller(
        std::string("type: 'msra' variance_norm: ") + c.norm, {50, 20, 5, 5})));
    const double deviation = std::sqrt(2 / c.fan);
    EXPECT_NEAR(m.deviation, deviation, deviation * 0.03) << c.norm;
    EXPECT_NEAR(m.mean, 0, deviation * 0.04);
  }
}

TEST(Filler, BilinearInterpolates) {
  // Factor 2: the kernel is the outer product of (1, 3, 3, 1) / 4.
  const auto list = values(makeFiller("type: 'bilinear'", {2, 1, 4, 4}));
  const double weights[] = {0.25, 0.75, 0.75, 0.25};
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x)
        EXPECT_DOUBLE_EQ(list[c * 16 + y * 4 + x], weights[y] * weights[x]);
}

TEST(Filler, DiagonalFillsSquareMatrices) {
  const std::vector<double> expected = {2, 0.5, 0.5, 3};
  EXPECT_EQ(
      values(makeFiller("type: 'diagonal' value: 0.5 diagonal: 2 diagonal: 3",
                        {1, 1, 2, 2})),
      expected);
  EXPECT_EQ(values(makeFiller("type: 'diagonal' diagonal: -1", {2, 2})),
            (std::vector<double>{-1, 0, 0, -1}));
  EXPECT_THROW(makeFiller("type: 'diagonal' diagonal: 1", {2, 3}), brew::Error);
  EXPECT_THROW(makeFiller("type: 'diagonal' diagonal: 1 diagonal: 2", {3, 3}),
               brew::Error);
}

TEST(Filler, BitsDependOnSeedAndIndexOnly) {
  for (const char *type :
       {"uniform", "gaussian", "xavier", "msra", "positive_unitball"}) {
    const std::string text = std::string("type: '") + type + "'";
    const auto expected = values(makeFiller(text, {10, 100}));
    const brew::caffe::Filler filler = makeFiller(text, {10, 100});
    std::vector<double> inRanges(1000);
    for (int begin = 990; begin >= 0; begin -= 10) // the last range first
      filler.fill(begin, begin + 10, &inRanges[begin]);
    EXPECT_EQ(expected, inRanges) << type;
    EXPECT_NE(expected, values(makeFiller(text, {10, 100}, 2))) << type;
  }
}

TEST(Filler, RangesHaveTheBitsOfSingleElements) {
  for (const char *text :
       {"value: 2", "type: 'uniform' min: -1 max: 3",
        "type: 'gaussian' mean: 1 std: 0.1", "type: 'gaussian' sparse: 2",
        "type: 'positive_unitball'", "type: 'bilinear'"}) {
    brew::caffe::Filler filler = makeFiller(text, {10, 4, 7, 7});
    filler.begin(3);
    std::vector<float> single(static_cast<std::size_t>(filler.count()));
    for (std::int64_t i = 0; i < filler.count(); ++i)
      filler.fill(i, i + 1, &single[i]);
    for (std::int64_t from : {0, 1, 5, 13, 255, 256})
      for (std::int64_t count : {0, 1, 3, 8, 17, 255, 256, 257, 1025}) {
        std::vector<float> range(static_cast<std::size_t>(count));
        filler.fill(from, from + count, range.data());
        EXPECT_TRUE(
            std::equal(range.begin(), range.end(), single.begin() + from))
            << text << ", from " << from << ", " << count << " elements";
      }
  }
}

TEST(Filler, EveryFillDrawsFreshNumbers) {
  brew::caffe::Filler filler = makeFiller("type: 'uniform'", {100});
  const auto first = values(filler);
  filler.begin(1);
  const auto second = values(filler);
  EXPECT_NE(first, second);
  filler.begin(0);
  EXPECT_EQ(values(filler), first);
}

TEST(Filler, ErrorsNameTheCause) {
  using test::expectError;
  const auto bad = ExitStatus::BadInput;
  expectError(bad, "did you mean 'xavier'",
              [] { makeFiller("type: 'xaver'", {2}); });
  expectError(bad, "square", [] {
    makeFiller("type: 'bilinear'", {1, 1, 3, 4});
  });
  expectError(bad, "four dimensions", [] {
    makeFiller("type: 'bilinear'", {3, 3});
  });
  expectError(bad, "sparse", [] { makeFiller("sparse: 3", {3, 3}); });
  expectError(bad, "sparse", [] {
    makeFiller("type: 'gaussian' sparse: 4", {3, 3});
  });
  expectError(bad, "at least one dimension",
              [] { makeFiller("type: 'msra'", {}); });
  expectError(bad, "min above max",
              [] { makeFiller("type: 'uniform' min: 2 max: 1", {3}); });
}
