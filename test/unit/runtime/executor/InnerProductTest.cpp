//===- InnerProductTest.cpp - Matrix product calls against a naive loop ---===//
#include "CandidateRunner.h"
#include "PlanBuilder.h"
#include "Reference.h"
#include "runtime/executor/Executor.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <ostream>

using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

struct Shape {
  const char *name;
  Dims x;
  Dims xStrides; // empty: dense
  std::uint32_t axis;
  std::int64_t columns;
  bool transpose;
  std::vector<int> wOrder; // memory order of w's dimensions; empty: dense
  Dims yStrides;
};

struct Case {
  Shape shape;
  Direction direction;
  const char *epilogue;
  DataType type = F32;
};

std::string nameOf(const Case &c) {
  std::string direction = c.direction == FORWARD         ? "Forward"
                          : c.direction == BACKWARD_DATA ? "Data"
                                                         : "Weights";
  std::string epilogue = c.epilogue;
  for (char &letter : epilogue)
    if (letter == '-')
      letter = '_';
  return std::string(c.shape.name) + "_" + direction +
         (epilogue.empty() ? "" : "_") + epilogue;
}
void PrintTo(const Case &c, std::ostream *out) { *out << nameOf(c); }

class InnerProduct : public testing::TestWithParam<Case> {};

TEST_P(InnerProduct, MatchesTheReference) {
  const Case &test = GetParam();
  if (!supportsCallsWith(test.type))
    GTEST_SKIP() << "this processor has no products of bf16";
  const Shape &shape = test.shape;
  std::string epilogue = test.epilogue;
  bool accumulates = epilogue.find("sum") == 0;
  bool hasRelu = epilogue.find("relu") != std::string::npos;

  Dims inner(shape.x.begin() + shape.axis, shape.x.end());
  Dims rows(shape.x.begin(), shape.x.begin() + shape.axis);
  Dims wDims = inner, yDims = rows;
  wDims.insert(shape.transpose ? wDims.end() : wDims.begin(), shape.columns);
  yDims.push_back(shape.columns);
  Tensor x(shape.x, 1), w(wDims, 2), b({shape.columns}, 3), y(yDims, 4);

  PlanBuilder builder;
  // Gradients of parameters are not rounded.
  const DataType wType = test.direction == BACKWARD_WEIGHTS ? F32 : test.type;
  auto xIndex = builder.buffer("x", shape.x, shape.xStrides, test.type);
  auto wIndex = builder.buffer(
      "w", wDims,
      shape.wOrder.empty() ? Dims() : stridesFor(wDims, shape.wOrder), wType);
  auto bIndex = builder.buffer("b", b.dims, {}, wType);
  auto yIndex = builder.buffer("y", yDims, shape.yStrides, test.type);
  Step &step = *builder.program("main").add_steps();
  step.add_layers("ip");
  InnerProductCall &call = *step.mutable_inner_product();
  call.set_direction(test.direction);
  call.set_axis(shape.axis);
  call.set_transpose(shape.transpose);
  call.mutable_epilogue()->set_accumulate(accumulates);
  call.mutable_epilogue()->set_relu(hasRelu);
  // cuBLASLt's ReLU has no slope, so the compiler does not request one.
  const float slope = std::getenv("BREW_TEST_CUDASIM") ? 0.0f : 0.5f;
  call.mutable_epilogue()->set_negative_slope(hasRelu ? slope : 0.0f);
  const bool hasBias = test.direction != BACKWARD_DATA;
  addCallOperands(step, xIndex, wIndex, yIndex,
                  hasBias ? std::optional(bIndex) : std::nullopt);

  Executor executor(builder.build(), {2});
  std::string implementation = executor.implementation(0, 0);
  EXPECT_EQ(implementation.find("ref"), std::string::npos) << implementation;
  struct Operand {
    std::uint32_t buffer;
    Tensor &tensor;
  } operands[] = {{xIndex, x}, {wIndex, w}, {bIndex, b}, {yIndex, y}};
  for (Operand &operand : operands)
    operand.tensor.store(executor, operand.buffer);
  Tensor before[] = {x, w, b, y};
  executor.run(0);

  // All operands are row-major matrices: dimensions merge without copies.
  std::size_t m = 1, k = 1, n = static_cast<std::size_t>(shape.columns);
  for (std::int64_t dim : rows)
    m *= static_cast<std::size_t>(dim);
  for (std::int64_t dim : inner)
    k *= static_cast<std::size_t>(dim);
  Tensor *result = test.direction == FORWARD         ? &y
                   : test.direction == BACKWARD_DATA ? &x
                                                     : &w;
  std::fill(result->values.begin(), result->values.end(), 0.0);
  if (test.direction == BACKWARD_WEIGHTS)
    std::fill(b.values.begin(), b.values.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double &yv = y.values[i * n + j];
      for (std::size_t l = 0; l < k; ++l) {
        double &xv = x.values[i * k + l];
        double &wv = w.values[shape.transpose ? l * n + j : j * k + l];
        if (test.direction == FORWARD)
          yv += xv * wv;
        else if (test.direction == BACKWARD_DATA)
          xv += yv * wv;
        else
          wv += yv * xv;
      }
      if (test.direction == FORWARD)
        yv += b.values[j];
      else if (test.direction == BACKWARD_WEIGHTS)
        b.values[j] += yv;
    }
  if (accumulates) {
    result->add(test.direction == FORWARD         ? before[3]
                : test.direction == BACKWARD_DATA ? before[0]
                                                  : before[1]);
    if (test.direction == BACKWARD_WEIGHTS)
      b.add(before[2]);
  }
  if (hasRelu)
    for (double &value : y.values)
      value = value > 0 ? value : value * slope;
  // If the library cannot add a bias, the bias is written first and is rounded
  // once more.
  const int roundings = std::getenv("CUDASIM_NO_BIAS") ? 2 : 1;
  for (Operand &operand : operands)
    operand.tensor.expectNear(executor, operand.buffer, roundings);

  // All candidates of tuning match the reference, too.
  if (std::getenv("BREW_TEST_CUDASIM"))
    return;
  CandidateRunner runner(executor);
  const std::vector<CallCandidate> candidates = innerProductCandidates(
      runner.context, call, runner.bound(xIndex), runner.bound(wIndex),
      hasBias ? runner.bound(bIndex) : BoundBuffer(), runner.bound(yIndex));
  ASSERT_FALSE(candidates.empty());
  for (const CallCandidate &candidate : candidates) {
    SCOPED_TRACE(candidate.name);
    for (std::size_t i = 0; i < 4; ++i)
      before[i].store(executor, operands[i].buffer);
    if (!runner.run(candidate))
      continue;
    for (Operand &operand : operands)
      operand.tensor.expectNear(executor, operand.buffer, roundings);
  }
}

const Shape kShapes[] = {
    {"plain", {6, 10}, {}, 1, 7, false, {}, {}},
    {"transposed", {6, 10}, {}, 1, 7, true, {}, {}},
    {"oneRow", {1, 10}, {}, 1, 7, false, {}, {}},
    {"oneColumn", {6, 10}, {}, 1, 1, false, {}, {}},
    {"oneColumnTransposed", {6, 10}, {}, 1, 1, true, {}, {}},
    {"oneInner", {6, 1}, {}, 1, 7, false, {}, {}},
    {"oneElement", {1, 1}, {}, 1, 1, false, {}, {}},
    {"axis0", {3, 4}, {}, 0, 5, false, {}, {}},
    {"axis2", {3, 4, 5, 2}, {}, 2, 6, false, {}, {}},
    {"axis2transposed", {3, 4, 5, 2}, {}, 2, 6, true, {}, {}},
    {"axisIsRank", {3, 4}, {}, 2, 6, false, {}, {}},
    {"nchw", {4, 5, 3, 2}, {}, 1, 7, false, {}, {}},
    // x channels last: w's inner dimensions have the same order...
    {"nhwc", {4, 5, 3, 2}, {30, 1, 10, 5}, 1, 7, false, {0, 2, 3, 1}, {}},
    // ... with N innermost ...
    {"nhwcInnerN", {4, 5, 3, 2}, {30, 1, 10, 5}, 1, 7, false, {2, 3, 1, 0}, {}},
    // ... or another order, so that w is reordered.
    {"nhwcMixed", {4, 5, 3, 2}, {30, 1, 10, 5}, 1, 7, false, {}, {}},
    {"nhwcTransposed",
     {4, 5, 3, 2},
     {30, 1, 10, 5},
     1,
     7,
     true,
     {1, 2, 0, 3},
     {}},
    {"nhwcAxis2", {4, 5, 3, 2}, {30, 1, 10, 5}, 2, 7, false, {}, {}},
    {"nhwcAxis3", {4, 5, 3, 2}, {30, 1, 10, 5}, 3, 7, false, {}, {}},
    // Views: rows of x that are apart in memory, and a y in a wider matrix.
    {"rowView", {6, 10}, {16, 1}, 1, 7, false, {}, {}},
    {"resultView", {6, 10}, {}, 1, 7, false, {}, {12, 1}},
    {"columnMajor", {6, 10}, {1, 6}, 1, 7, false, {}, {1, 6}},
    {"channelSlice", {4, 5, 3, 2}, {60, 1, 20, 10}, 1, 7, false, {}, {}},
    // Enough rows for oneDNN's matrix product.
    {"manyRows", {40, 30}, {}, 1, 24, false, {}, {}},
    {"manyRowsTransposed", {40, 30}, {}, 1, 24, true, {}, {}},
    {"manyRowsView", {40, 30}, {32, 1}, 1, 24, false, {}, {28, 1}},
    {"manyRowsInnerN", {40, 30}, {}, 1, 24, false, {1, 0}, {}},
    {"manyRowsOneColumn", {40, 30}, {}, 1, 1, false, {}, {}},
    {"manyRowsOneInner", {40, 1}, {}, 1, 24, true, {}, {}},
    {"large",
     {64, 50, 4, 4},
     {800, 1, 200, 50},
     1,
     100,
     false,
     {0, 2, 3, 1},
     {}},
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Shape &shape : kShapes) {
    for (const char *epilogue : {"", "sum", "relu", "sum-relu"})
      result.push_back({shape, FORWARD, epilogue});
    for (Direction direction : {BACKWARD_DATA, BACKWARD_WEIGHTS})
      for (const char *epilogue : {"", "sum"})
        result.push_back({shape, direction, epilogue});
  }
  return result;
}

std::vector<Case> bf16Cases() {
  std::vector<Case> result;
  for (const Shape &shape : kShapes) {
    for (const char *epilogue : {"", "relu"})
      result.push_back({shape, FORWARD, epilogue, BF16});
    for (Direction direction : {BACKWARD_DATA, BACKWARD_WEIGHTS})
      result.push_back({shape, direction, "", BF16});
  }
  return result;
}

/// A program with several steps that multiply by the same weights, like the
/// steps of a recurrent layer.
struct StepsWithSharedWeights {
  static constexpr std::int64_t kSize = 256;
  std::uint32_t x, weights, otherWeights;
  std::vector<std::uint32_t> results;
  std::shared_ptr<const PlanFile> plan;

  /// If `changesWeights`, `otherWeights` are copied over `weights` before the
  /// last step.
  explicit StepsWithSharedWeights(int count, const char *name = "deploy",
                                  bool changesWeights = false) {
    PlanBuilder builder;
    weights = builder.buffer("w", {kSize, kSize}, {}, F32, PARAMETERS);
    otherWeights = builder.buffer("v", {kSize, kSize}, {}, F32, PARAMETERS);
    x = builder.buffer("x", {1, kSize});
    Program &program = builder.program(name);
    for (int i = 0; i < count; ++i) {
      if (changesWeights && i == count - 1)
        addCopy(program, otherWeights, weights);
      Step &step = *program.add_steps();
      step.add_layers("ip");
      InnerProductCall &call = *step.mutable_inner_product();
      call.set_direction(FORWARD);
      call.set_axis(1);
      results.push_back(builder.buffer("y" + std::to_string(i), {1, kSize}));
      addCallOperands(step, x, weights, results.back());
    }
    plan = builder.build();
  }
};

/// Returns the products of x with the rows of w.
Tensor product(const Tensor &x, const Tensor &w) {
  Tensor y({1, StepsWithSharedWeights::kSize}, 3);
  std::fill(y.values.begin(), y.values.end(), 0.0);
  for (std::size_t j = 0; j < y.values.size(); ++j)
    for (std::size_t k = 0; k < x.values.size(); ++k)
      y.values[j] += x.values[k] * w.values[j * x.values.size() + k];
  return y;
}

TEST(InnerProductWeights, ArePackedOnceForAllStepsThatReadThem) {
  if (std::getenv("BREW_TEST_CUDASIM"))
    GTEST_SKIP() << "libraries for GPUs do not pack weights";
  Executor oneStep(StepsWithSharedWeights(1).plan, {1});
  StepsWithSharedWeights steps(3);
  Executor threeSteps(steps.plan, {1});
  EXPECT_GE(oneStep.workspaceBytes(), StepsWithSharedWeights::kSize *
                                          StepsWithSharedWeights::kSize *
                                          sizeof(float));
  EXPECT_EQ(threeSteps.workspaceBytes(), oneStep.workspaceBytes());

  // All steps see weights that are written between runs.
  Tensor x({1, StepsWithSharedWeights::kSize}, 1),
      w({StepsWithSharedWeights::kSize, StepsWithSharedWeights::kSize}, 2);
  for (double factor : {1.0, 0.5}) {
    for (double &value : w.values)
      value *= factor;
    x.store(threeSteps, steps.x);
    w.store(threeSteps, steps.weights);
    threeSteps.packParameters();
    threeSteps.run(0);
    for (std::uint32_t result : steps.results)
      product(x, w).expectNear(threeSteps, result);
  }
}

TEST(InnerProductWeights, ArePackedOnceInEachRunOfOtherPrograms) {
  if (std::getenv("BREW_TEST_CUDASIM"))
    GTEST_SKIP() << "libraries for GPUs do not pack weights";
  constexpr std::uint64_t bytes = StepsWithSharedWeights::kSize *
                                  StepsWithSharedWeights::kSize * sizeof(float);
  Executor threeSteps(StepsWithSharedWeights(3, "main").plan, {1});
  StepsWithSharedWeights steps(4, "main");
  Executor fourSteps(steps.plan, {1});
  EXPECT_LT(threeSteps.workspaceBytes(), bytes);
  EXPECT_GE(fourSteps.workspaceBytes(), bytes);

  // Changes of weights need no notification, also for runs of some steps.
  Tensor x({1, StepsWithSharedWeights::kSize}, 1),
      w({StepsWithSharedWeights::kSize, StepsWithSharedWeights::kSize}, 2);
  x.store(fourSteps, steps.x);
  for (std::size_t first : {0, 0, 2, 3}) {
    for (double &value : w.values)
      value *= 0.5;
    w.store(fourSteps, steps.weights);
    fourSteps.run(0, first, 4);
    for (std::size_t i = first; i < 4; ++i)
      product(x, w).expectNear(fourSteps, steps.results[i]);
  }
}

TEST(InnerProductWeights, ThatChangeInARunAreNotShared) {
  if (std::getenv("BREW_TEST_CUDASIM"))
    GTEST_SKIP() << "libraries for GPUs do not pack weights";
  StepsWithSharedWeights steps(5, "main", /*changesWeights=*/true);
  Executor executor(steps.plan, {1});
  Tensor x({1, StepsWithSharedWeights::kSize}, 1),
      w({StepsWithSharedWeights::kSize, StepsWithSharedWeights::kSize}, 2),
      v({StepsWithSharedWeights::kSize, StepsWithSharedWeights::kSize}, 3);
  x.store(executor, steps.x);
  w.store(executor, steps.weights);
  v.store(executor, steps.otherWeights);
  executor.run(0);
  for (std::size_t i = 0; i < 4; ++i)
    product(x, w).expectNear(executor, steps.results[i]);
  product(x, v).expectNear(executor, steps.results[4]);
}

INSTANTIATE_TEST_SUITE_P(Cases, InnerProduct, testing::ValuesIn(cases()),
                         [](const auto &info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Bf16, InnerProduct, testing::ValuesIn(bf16Cases()),
                         [](const auto &info) { return nameOf(info.param); });

} // namespace
