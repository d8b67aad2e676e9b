//===- ConvolutionTest.cpp - Convolution calls against a naive loop -------===//
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
  std::int64_t n, c, h, w, k, r, s;
  std::int64_t group = 1;
  std::int64_t strideH = 1, strideW = 1, padH = 0, padW = 0;
  std::int64_t dilationH = 1, dilationW = 1;
};

struct Case {
  Shape shape;
  /// "nchw", "nhwc", "slice" (a channel range of a larger nhwc buffer), or
  /// "thin" (nhwc with contiguous outputs of the weights, as the compiler
  /// stores few channels).
  const char *layout;
  Direction direction;
  const char *epilogue; // "", "sum", "relu", "leaky", "sum-relu"
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
  return std::string(c.shape.name) + "_" + c.layout + "_" + direction +
         (epilogue.empty() ? "" : "_") + epilogue;
}
void PrintTo(const Case &c, std::ostream *out) { *out << nameOf(c); }

class Convolution : public testing::TestWithParam<Case> {};

/// Computes y = x * w + b, dx, or dw and db, in double precision on row-major
/// data.
void computeReference(const Case &test, Tensor &x, Tensor &w, Tensor &b,
                      Tensor &y) {
  const Shape &g = test.shape;
  std::int64_t p = y.dims[2], q = y.dims[3];
  Tensor &result = test.direction == FORWARD         ? y
                   : test.direction == BACKWARD_DATA ? x
                                                     : w;
  std::fill(result.values.begin(), result.values.end(), 0.0);
  std::int64_t inPerGroup = g.c / g.group, outPerGroup = g.k / g.group;
  for (std::int64_t n = 0; n < g.n; ++n)
    for (std::int64_t k = 0; k < g.k; ++k)
      for (std::int64_t i = 0; i < p; ++i)
        for (std::int64_t j = 0; j < q; ++j)
          for (std::int64_t c = 0; c < inPerGroup; ++c)
            for (std::int64_t r = 0; r < g.r; ++r)
              for (std::int64_t s = 0; s < g.s; ++s) {
                std::int64_t h = i * g.strideH - g.padH + r * g.dilationH;
                std::int64_t v = j * g.strideW - g.padW + s * g.dilationW;
                if (h < 0 || h >= g.h || v < 0 || v >= g.w)
                  continue;
                double &xv = x.at({n, k / outPerGroup * inPerGroup + c, h, v});
                double &wv = w.at({k, c, r, s});
                double &yv = y.at({n, k, i, j});
                if (test.direction == FORWARD)
                  yv += xv * wv;
                else if (test.direction == BACKWARD_DATA)
                  xv += yv * wv;
                else
                  wv += yv * xv;
              }
  if (test.direction == BACKWARD_DATA)
    return;
  if (test.direction == BACKWARD_WEIGHTS)
    std::fill(b.values.begin(), b.values.end(), 0.0);
  for (std::int64_t n = 0; n < g.n; ++n)
    for (std::int64_t k = 0; k < g.k; ++k)
      for (std::int64_t i = 0; i < p; ++i)
        for (std::int64_t j = 0; j < q; ++j) {
          if (test.direction == FORWARD)
            y.at({n, k, i, j}) += b.at({k});
          else
            b.at({k}) += y.at({n, k, i, j});
        }
}

Dims layoutStrides(const Dims &dims, const std::string &layout) {
  if (layout == "nchw")
    return denseStrides(dims);
  std::int64_t channels = layout == "slice" ? dims[1] + 8 : dims[1];
  return {dims[2] * dims[3] * channels, 1, dims[3] * channels, channels};
}

TEST_P(Convolution, MatchesTheReference) {
  const Case &test = GetParam();
  if (!supportsCallsWith(test.type))
    GTEST_SKIP() << "this processor has no products of bf16";
  const Shape &g = test.shape;
  std::string epilogue = test.epilogue;
  bool accumulates = epilogue.find("sum") == 0;
  bool hasRelu = epilogue.find("relu") != std::string::npos;
  bool isLeaky = epilogue == "leaky";
  auto extent = [](std::int64_t in, std::int64_t kernel, std::int64_t stride,
                   std::int64_t pad, std::int64_t dilation) {
    return (in + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1;
  };
  Tensor x({g.n, g.c, g.h, g.w}, 1), w({g.k, g.c / g.group, g.r, g.s}, 2);
  Tensor b({g.k}, 3);
  Tensor y({g.n, g.k, extent(g.h, g.r, g.strideH, g.padH, g.dilationH),
            extent(g.w, g.s, g.strideW, g.padW, g.dilationW)},
           4);

  // The type of the weights' gradients depends on the library.
  const bool onGpu = std::getenv("BREW_TEST_CUDASIM") != nullptr;
  const DataType weightType =
      test.direction == BACKWARD_WEIGHTS && !onGpu ? F32 : test.type;
  PlanBuilder builder;
  auto xIndex = builder.buffer("x", x.dims, layoutStrides(x.dims, test.layout),
                               test.type);
  auto wIndex = builder.buffer("w", w.dims,
                               test.layout == std::string("thin")
                                   ? stridesFor(w.dims, {1, 2, 3, 0})
                                   : Dims(),
                               weightType);
  auto bIndex = builder.buffer("b", b.dims, {}, test.type);
  auto yIndex = builder.buffer("y", y.dims, layoutStrides(y.dims, test.layout),
                               test.type);
  // Calls never sum 16-bit gradients.
  const bool hasBias = test.direction == FORWARD ||
                       (test.direction == BACKWARD_WEIGHTS && test.type == F32);
  Step &step = *builder.program("main").add_steps();
  step.add_layers("conv");
  ConvolutionCall &call = *step.mutable_convolution();
  call.set_direction(test.direction);
  call.set_group(g.group);
  *call.mutable_window() = windowOf({.kernel = {g.r, g.s},
                                     .stride = {g.strideH, g.strideW},
                                     .pad = {g.padH, g.padW},
                                     .dilation = {g.dilationH, g.dilationW}});
  call.mutable_epilogue()->set_accumulate(accumulates);
  call.mutable_epilogue()->set_relu(hasRelu || isLeaky);
  if (isLeaky)
    call.mutable_epilogue()->set_negative_slope(0.25f);
  addCallOperands(step, xIndex, wIndex, yIndex,
                  hasBias ? std::optional(bIndex) : std::nullopt);

  Executor executor(builder.build(), {2});
  std::string implementation = executor.implementation(0, 0);
  EXPECT_EQ(implementation.find("ref"), std::string::npos) << implementation;
  RecordProperty("implementation", implementation);
  struct Operand {
    std::uint32_t buffer;
    Tensor &tensor;
  } operands[] = {{xIndex, x}, {wIndex, w}, {bIndex, b}, {yIndex, y}};
  for (Operand &operand : operands)
    operand.tensor.store(executor, operand.buffer);
  Tensor before[] = {x, w, b, y};
  executor.run(0);

  computeReference(test, x, w, b, y);
  if (accumulates) {
    Tensor &result = test.direction == FORWARD         ? y
                     : test.direction == BACKWARD_DATA ? x
                                                       : w;
    const Tensor &previous = test.direction == FORWARD         ? before[3]
                             : test.direction == BACKWARD_DATA ? before[0]
                                                               : before[1];
    result.add(previous);
    if (test.direction == BACKWARD_WEIGHTS)
      b.add(before[2]);
  }
  if (!hasBias)
    b = before[2];
  if (hasRelu || isLeaky)
    for (double &value : y.values)
      value = value > 0 ? value : value * (isLeaky ? 0.25 : 0.0);
  for (Operand &operand : operands)
    operand.tensor.expectNear(executor, operand.buffer);

  // All candidates of tuning match the reference, too.
  if (onGpu)
    return;
  CandidateRunner runner(executor);
  const std::vector<CallCandidate> candidates = convolutionCandidates(
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
      operand.tensor.expectNear(executor, operand.buffer);
  }
}

const Shape kShapes[] = {
    {"conv3x3", 2, 8, 9, 10, 16, 3, 3},
    {"oneChannel", 3, 1, 12, 12, 20, 5, 5},
    {"odd", 2, 20, 12, 12, 50, 5, 5},
    {"padStride", 2, 3, 11, 13, 7, 3, 3, 1, 2, 2, 1, 1},
    {"pointwise", 2, 6, 5, 5, 9, 1, 1},
    {"pointwiseWide", 2, 16, 9, 7, 32, 1, 1},
    {"rect", 2, 4, 9, 12, 6, 3, 5, 1, 1, 2, 0, 2},
    {"group2", 2, 6, 8, 8, 10, 3, 3, 2, 1, 1, 1, 1},
    {"group2wide", 2, 32, 8, 8, 32, 3, 3, 2, 1, 1, 1, 1},
    {"depthwise", 2, 5, 8, 8, 5, 3, 3, 5, 1, 1, 1, 1},
    {"depthwiseWide", 2, 16, 8, 8, 16, 3, 3, 16, 1, 1, 1, 1},
    {"depthwiseStrided", 2, 32, 16, 16, 32, 3, 3, 32, 2, 2, 1, 1},
    {"multiplier", 1, 3, 7, 7, 6, 3, 3, 3},
    {"dilated", 2, 4, 12, 12, 5, 3, 3, 1, 1, 1, 2, 2, 2, 2},
    {"dilatedRect", 1, 3, 15, 14, 4, 3, 2, 1, 2, 1, 1, 0, 3, 2},
    {"kernelCoversInput", 2, 4, 6, 6, 8, 6, 6},
    {"onePixel", 1, 1, 1, 1, 1, 1, 1},
};

bool isThin(const Shape &shape) { return shape.c <= 4 * shape.group; }

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Shape &shape : kShapes)
    for (const char *layout : {"nchw", "nhwc", "slice", "thin"}) {
      if (layout == std::string("thin") && !isThin(shape))
        continue;
      for (const char *epilogue : {"", "sum", "relu", "leaky", "sum-relu"})
        result.push_back({shape, layout, FORWARD, epilogue});
      for (Direction direction : {BACKWARD_DATA, BACKWARD_WEIGHTS})
        for (const char *epilogue : {"", "sum"})
          result.push_back({shape, layout, direction, epilogue});
    }
  return result;
}

std::vector<Case> bf16Cases() {
  std::vector<Case> result;
  for (const Shape &shape : kShapes) {
    for (const char *epilogue : {"", "relu"})
      result.push_back({shape, "nhwc", FORWARD, epilogue, BF16});
    result.push_back({shape, "nchw", FORWARD, "", BF16});
    result.push_back({shape, "slice", FORWARD, "relu", BF16});
    for (Direction direction : {BACKWARD_DATA, BACKWARD_WEIGHTS})
      result.push_back({shape, "nhwc", direction, "", BF16});
    if (isThin(shape))
      for (Direction direction : {FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS})
        result.push_back({shape, "thin", direction, "", BF16});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Cases, Convolution, testing::ValuesIn(cases()),
                         [](const auto &info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Bf16, Convolution, testing::ValuesIn(bf16Cases()),
                         [](const auto &info) { return nameOf(info.param); });

} // namespace
