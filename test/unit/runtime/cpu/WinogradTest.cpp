//===- WinogradTest.cpp - Winograd's algorithms against double precision --===//
#include "plan/Winograd.h"
#include "Reference.h"
#include "runtime/cpu/winograd/WinogradConvolution.h"

#include <gtest/gtest.h>
#include <ostream>

using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

/// The dimensions n, c, h and w of x, the number k of output channels, and the
/// padding.
struct Sizes {
  std::int64_t n, c, h, w, k, padH, padW;
};

struct TestCase {
  Sizes shape;
  Direction direction;
  std::int64_t tile;
  const char *epilogue = ""; // "", "sum", "relu", "sum-relu"
  bool isConstant = false;
  std::int64_t gap = 0; // channels of other blobs between pixels
  int threads = 2;
  bool channelsLastWeights = false;
};

void PrintTo(const TestCase &c, std::ostream *out) {
  const Sizes &s = c.shape;
  *out << Direction_Name(c.direction) << " " << s.n << "x" << s.c << "x" << s.h
       << "x" << s.w << " to " << s.k << " tile " << c.tile << " "
       << c.epilogue;
}

/// A tensor of random values, and its f32 copy in the memory layout of a plan.
struct PlanTensor {
  Tensor tensor;
  Buffer buffer;
  std::vector<float> memory;

  PlanTensor(const Dims &dims, unsigned seed, std::int64_t gap = -1)
      : tensor(dims, seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (double &value : tensor.values)
      value = normal(random);
    Dims strides = denseStrides(dims);
    if (gap >= 0) {
      const std::int64_t pixel = dims[1] + gap;
      strides = {dims[2] * dims[3] * pixel, 1, dims[3] * pixel, pixel};
    }
    buffer.set_type(F32);
    buffer.mutable_dims()->Assign(dims.begin(), dims.end());
    buffer.mutable_strides()->Assign(strides.begin(), strides.end());
    memory.resize(static_cast<std::size_t>(dims[0] * strides[0]));
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      at(i) = static_cast<float>(tensor.values[i]);
  }

  float &at(std::size_t i) {
    return memory[static_cast<std::size_t>(Tensor::position(buffer, i))];
  }
  BoundBuffer bound(bool isConstant = false) {
    return {&buffer, reinterpret_cast<std::byte *>(memory.data()), isConstant};
  }
  /// Returns the largest difference of an element, divided by the root mean
  /// square of `expected`.
  double errorOf(const Tensor &expected) {
    double largest = 0, squares = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      largest = std::max(largest, std::abs(at(i) - expected.values[i]));
      squares += expected.values[i] * expected.values[i];
    }
    return largest /
           std::sqrt(squares / static_cast<double>(expected.values.size()));
  }
};

/// Computes y, the gradient of x (in x) or the gradient of w (in w), depending
/// on the direction, in double precision.
void convolve(const TestCase &test, Tensor &x, Tensor &w, Tensor &y) {
  const Sizes &g = test.shape;
  Tensor &result = test.direction == FORWARD         ? y
                   : test.direction == BACKWARD_DATA ? x
                                                     : w;
  std::fill(result.values.begin(), result.values.end(), 0.0);
  for (std::int64_t n = 0; n < g.n; ++n)
    for (std::int64_t i = 0; i < y.dims[2]; ++i)
      for (std::int64_t j = 0; j < y.dims[3]; ++j)
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t s = 0; s < 3; ++s) {
            const std::int64_t h = i - g.padH + r, v = j - g.padW + s;
            if (h < 0 || h >= g.h || v < 0 || v >= g.w)
              continue;
            const std::int64_t in = g.h * g.w, out = y.dims[2] * y.dims[3];
            double *xv = &x.at({n, 0, h, v}), *yv = &y.at({n, 0, i, j}),
                   *wv = &w.at({0, 0, r, s});
            for (std::int64_t k = 0; k < g.k; ++k)
              for (std::int64_t c = 0; c < g.c; ++c) {
                double &xe = xv[c * in], &we = wv[(k * g.c + c) * 9],
                       &ye = yv[k * out];
                if (test.direction == FORWARD)
                  ye += xe * we;
                else if (test.direction == BACKWARD_DATA)
                  xe += ye * we;
                else
                  we += xe * ye;
              }
          }
}

class Winograd : public testing::TestWithParam<TestCase> {};

TEST_P(Winograd, IsCloseToDoublePrecision) {
  const TestCase &test = GetParam();
  if (!cpuHasFeature("avx2"))
    GTEST_SKIP() << "this processor has no AVX2";
  const Sizes &g = test.shape;
  const std::string epilogue = test.epilogue;
  const bool accumulates = epilogue.find("sum") == 0,
             hasRelu = epilogue.find("relu") != std::string::npos;
  PlanTensor x({g.n, g.c, g.h, g.w}, 1, test.gap),
      w({g.k, g.c, 3, 3}, 2, test.channelsLastWeights ? 0 : -1), b({g.k}, 3),
      y({g.n, g.k, g.h + 2 * g.padH - 2, g.w + 2 * g.padW - 2}, 4, test.gap);

  ConvolutionCall call;
  call.set_direction(test.direction);
  *call.mutable_window() =
      windowOf({.kernel = {3, 3}, .pad = {g.padH, g.padW}});
  call.mutable_epilogue()->set_accumulate(accumulates);
  call.mutable_epilogue()->set_relu(hasRelu);

  const Threads workers(test.threads);
  const Threads::Scope scope = workers.enter();
  DnnlContext context;
  context.threads = workers.count();
  context.workers = &workers;
  const bool hasBias = test.direction != BACKWARD_DATA;
  std::unique_ptr<CpuStep> winogradCall =
      makeWinograd(context, call, x.bound(), w.bound(test.isConstant),
                   hasBias ? b.bound() : BoundBuffer(), y.bound(), test.tile);
  ASSERT_TRUE(winogradCall);
  // oneDNN's products need little more than the compiler's estimate.
  namespace model = brew::plan::winograd;
  const std::uint64_t estimatedBytes = model::scratchBytes(
      model::convolutionSizeOf(call, x.buffer, y.buffer, test.isConstant,
                               context.threads),
      test.tile, hasBias);
  EXPECT_GE(winogradCall->scratchBytes(), estimatedBytes);
  EXPECT_LE(winogradCall->scratchBytes(), estimatedBytes + estimatedBytes / 16);
  const brew::runtime::Arena scratch(winogradCall->scratchBytes(), "scratch");
  winogradCall->bindScratch(scratch.data());
  winogradCall->pack();
  winogradCall->run(workers);

  PlanTensor &result = test.direction == FORWARD         ? y
                       : test.direction == BACKWARD_DATA ? x
                                                         : w;
  const Tensor before = result.tensor, biasBefore = b.tensor;
  convolve(test, x.tensor, w.tensor, y.tensor);
  const std::int64_t pixels = y.tensor.dims[2] * y.tensor.dims[3];
  auto channel = [&](std::size_t i) {
    return i / static_cast<std::size_t>(pixels) % static_cast<std::size_t>(g.k);
  };
  if (test.direction == BACKWARD_WEIGHTS) {
    std::fill(b.tensor.values.begin(), b.tensor.values.end(), 0.0);
    for (std::size_t i = 0; i < y.tensor.values.size(); ++i)
      b.tensor.values[channel(i)] += y.tensor.values[i];
    if (accumulates)
      b.tensor.add(biasBefore);
    EXPECT_LT(b.errorOf(b.tensor), 1e-5);
  } else if (test.direction == FORWARD) {
    for (std::size_t i = 0; i < y.tensor.values.size(); ++i)
      y.tensor.values[i] += b.tensor.values[channel(i)];
  }
  if (accumulates)
    result.tensor.add(before);
  if (hasRelu)
    for (double &value : result.tensor.values)
      value = std::max(value, 0.0);
  // A plain f32 sum of as many products has an error of 4e-6 to 1e-5.
  const double error = result.errorOf(result.tensor);
  EXPECT_LT(error, test.tile == 2 ? 1e-5 : 2e-5);
  RecordProperty("error", std::to_string(error));
  // Memory between the channels is unchanged.
  double gapSum = 0;
  for (const PlanTensor *each : {&x, &y})
    for (std::size_t i = 0; i < each->memory.size(); ++i)
      if (static_cast<std::int64_t>(i) % each->buffer.strides(3) >=
          each->buffer.dims(1))
        gapSum += std::abs(each->memory[i]);
  EXPECT_EQ(gapSum, 0.0);
}

std::vector<TestCase> testCases() {
  const Sizes even{2, 64, 12, 8, 48, 1, 1}, odd{1, 32, 13, 7, 64, 1, 1},
      wide{1, 16, 9, 10, 16, 2, 0}, deep{1, 256, 6, 6, 32, 1, 1},
      many{2, 16, 76, 76, 16, 1, 1}, heavy{1, 352, 5, 7, 208, 1, 1};
  std::vector<TestCase> result;
  for (std::int64_t tile : {2, 4}) {
    for (Direction direction : {FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS})
      for (const Sizes &shape : {even, odd, wide, deep}) {
        result.push_back({shape, direction, tile});
        if (shape.n > 1)
          result.push_back({shape, direction, tile, "sum"});
      }
    // Several blocks of tiles, the last one smaller.
    for (Direction direction : {FORWARD, BACKWARD_WEIGHTS})
      result.push_back({many, direction, tile, "", false, 0, 1});
    for (const char *epilogue : {"relu", "sum-relu"})
      result.push_back({odd, FORWARD, tile, epilogue, true, 16});
    // Chunks of the outputs, the last one smaller.
    for (Direction direction : {FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS})
      result.push_back({heavy, direction, tile, "sum", false, 16});
    result.push_back({heavy, FORWARD, tile, "relu"});
    for (Direction direction : {FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS})
      result.push_back({even, direction, tile, "sum", false, 0, 2, true});
  }
  return result;
}
INSTANTIATE_TEST_SUITE_P(Cases, Winograd, testing::ValuesIn(testCases()));

TEST(WinogradConditions, ExcludeOtherConvolutions) {
  auto isSupported = [](std::int64_t channels, std::int64_t stride,
                        std::int64_t gap) {
    PlanTensor x({1, channels, 8, 8}, 1, gap), w({16, channels, 3, 3}, 2),
        y({1, 16, (8 - 3) / stride + 1, (8 - 3) / stride + 1}, 3, 0);
    ConvolutionCall call;
    call.set_direction(FORWARD);
    *call.mutable_window() =
        windowOf({.kernel = {3, 3}, .stride = {stride, stride}});
    const Threads workers(1);
    DnnlContext context;
    context.workers = &workers;
    return makeWinograd(context, call, x.bound(), w.bound(), BoundBuffer(),
                        y.bound(), 4) != nullptr;
  };
  EXPECT_EQ(isSupported(16, 1, 0), cpuHasFeature("avx2"));
  EXPECT_FALSE(isSupported(8, 1, 0));
  EXPECT_FALSE(isSupported(16, 2, 0));
  EXPECT_FALSE(isSupported(16, 1, -1)); // contiguous pixels
}

TEST(WinogradModel, ChoosesTheFastestTile) {
  using brew::plan::winograd::fastestTile;
  // The third block of VGG-16 for a batch of 4.
  for (Direction direction : {FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS})
    EXPECT_EQ(fastestTile({direction, 4, 56, 56, 256, 256, false, 2}), 4);
  // The last convolutions of ResNet-50 and VGG-16 for one image: most time goes
  // to the weights.
  EXPECT_EQ(fastestTile({FORWARD, 1, 7, 7, 512, 512, true, 2}), 0);
  EXPECT_EQ(fastestTile({FORWARD, 1, 14, 14, 512, 512, true, 1}), 2);
  // A convolution with few channels.
  EXPECT_EQ(fastestTile({FORWARD, 1, 8, 8, 16, 16, false, 2}), 0);
}

TEST(WinogradModel, SplitsOutputsOfHeavyWeights) {
  using brew::plan::winograd::ConvolutionSize;
  using brew::plan::winograd::tileBlockOf;
  for (std::int64_t tile : {2, 4}) {
    const ConvolutionSize heavy{BACKWARD_WEIGHTS, 1, 5, 7, 352, 208, false, 2};
    EXPECT_EQ(tileBlockOf(heavy, tile).tiles, heavy.tiles(tile));
    EXPECT_LT(tileBlockOf(heavy, tile).outputs, 208);
    // Few weights, inputs larger than the caches, and constant weights.
    for (const ConvolutionSize &size :
         {ConvolutionSize{FORWARD, 8, 14, 14, 64, 64, false, 2},
          ConvolutionSize{FORWARD, 64, 56, 56, 512, 512, false, 2},
          ConvolutionSize{FORWARD, 1, 5, 7, 352, 208, true, 2}})
      EXPECT_EQ(tileBlockOf(size, tile).outputs, size.outputs);
  }
}

/// Returns the implementation that an executor chooses for a convolution.
std::string implementationOf(bool isExact) {
  PlanBuilder builder;
  const Dims dims{4, 256, 28, 28}, strides{256 * 784, 1, 256 * 28, 256};
  const auto x = builder.buffer("x", dims, strides),
             w = builder.buffer("w", {256, 256, 3, 3}),
             y = builder.buffer("y", dims, strides);
  Step &step = *builder.program("main").add_steps();
  step.add_layers("conv");
  ConvolutionCall &call = *step.mutable_convolution();
  call.set_direction(FORWARD);
  *call.mutable_window() = windowOf({.kernel = {3, 3}, .pad = {1, 1}});
  addCallOperands(step, x, w, y);
  builder.manifest.mutable_target()->set_exact_convolutions(isExact);
  return Executor(builder.build(), {2}).implementation(0, 0);
}

TEST(WinogradPlans, ExactConvolutionsUseOneDnn) {
  if (std::getenv("BREW_TEST_CUDASIM") || !cpuHasFeature("avx2"))
    GTEST_SKIP() << "not a processor with AVX2";
  EXPECT_EQ(implementationOf(false).find("Winograd 4x4, oneDNN "), 0u);
  EXPECT_EQ(implementationOf(true).find("oneDNN "), 0u);
}

} // namespace
