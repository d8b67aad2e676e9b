//===- LibrariesTest.cpp - Tests of the simulated libraries ---------------===//
//
// Compares cuBLASLt and the vendor table with straightforward loops.
//
//===----------------------------------------------------------------------===//
#include "DriverFixture.h"
#include "runtime/cuda/VendorTable.h"

#include <cmath>
#include <cstring>
#include <ostream>

using namespace brew::runtime::cuda;
using namespace brew::test;

extern "C" {
struct AlgorithmResult {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
int cublasLtCreate(void **);
int cublasLtDestroy(void *);
int cublasLtMatmulDescCreate(void **, int, int);
int cublasLtMatmulDescDestroy(void *);
int cublasLtMatmulDescSetAttribute(void *, int, const void *, std::size_t);
int cublasLtMatrixLayoutCreate(void **, int, std::uint64_t, std::uint64_t,
                               std::int64_t);
int cublasLtMatrixLayoutDestroy(void *);
int cublasLtMatmulPreferenceCreate(void **);
int cublasLtMatmulPreferenceDestroy(void *);
int cublasLtMatmulPreferenceSetAttribute(void *, int, const void *,
                                         std::size_t);
int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *,
                                   void *, void *, int, AlgorithmResult *,
                                   int *);
int cublasLtMatmul(void *, void *, const void *, const void *, void *,
                   const void *, void *, const void *, const void *, void *,
                   void *, void *, const void *, void *, std::size_t, void *);
}

namespace {

/// Returns pseudorandom integers from -4 to 4, whose sums are exact in any
/// order.
std::vector<float> smallIntegers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 9 - 4);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

struct Problem {
  bool transposeA, transposeB;
  /// cublasLtEpilogue_t: bit 1 is ReLU, bit 2 the bias; 256 and 512 compute the
  /// gradient of the bias from A and B.
  std::int32_t epilogue;
  float beta;
  bool isBf16; ///< operands and result
};

/// Prints a case when its test fails.
std::ostream &operator<<(std::ostream &out, const Problem &problem) {
  return out << (problem.transposeA ? "A^T" : "A")
             << (problem.transposeB ? " B^T" : " B") << " epilogue "
             << problem.epilogue << " beta " << problem.beta
             << (problem.isBf16 ? " bf16" : "");
}

class CudasimProduct : public DriverTest,
                       public testing::WithParamInterface<Problem> {};

float fromBfloat(unsigned short bits) {
  unsigned wide = static_cast<unsigned>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
unsigned short toBfloat(float value) { // exact for small integers
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<unsigned short>(bits >> 16);
}

TEST_P(CudasimProduct, IsTheSumOfProducts) {
  const Problem problem = GetParam();
  constexpr int m = 19, n = 11, k = 37, gap = 3;
  const int aRows = problem.transposeA ? k : m, aColumns = m + k - aRows;
  const int bRows = problem.transposeB ? n : k, bColumns = n + k - bRows;
  const int aLeading = aRows + gap, bLeading = bRows + gap, dLeading = m + gap;
  auto a = smallIntegers(static_cast<std::size_t>(aLeading * aColumns), 1);
  auto b = smallIntegers(static_cast<std::size_t>(bLeading * bColumns), 2);
  auto d = smallIntegers(static_cast<std::size_t>(dLeading * n), 3);
  auto bias = smallIntegers(std::max(m, n), 4);
  auto uploadFloats = [&](const std::vector<float> &values) {
    if (!problem.isBf16)
      return upload(values);
    std::vector<unsigned short> packed;
    for (float value : values)
      packed.push_back(toBfloat(value));
    return upload(packed);
  };
  CUdeviceptr aMemory = uploadFloats(a), bMemory = uploadFloats(b),
              dMemory = uploadFloats(d), biasMemory = uploadFloats(bias);

  // 14 is CUDA_R_16BF, 0 CUDA_R_32F and 68 CUBLAS_COMPUTE_32F. Attributes 3, 4,
  // 7 and 8 are the transpositions of A and B, the epilogue and the bias
  // pointer, preference 1 is the size of the workspace.
  const int type = problem.isBf16 ? 14 : 0;
  void *handle, *operation, *aLayout, *bLayout, *dLayout, *preference;
  ASSERT_EQ(cublasLtCreate(&handle), 0);
  ASSERT_EQ(cublasLtMatmulDescCreate(&operation, 68, 0), 0);
  std::int32_t flag = problem.transposeA;
  cublasLtMatmulDescSetAttribute(operation, 3, &flag, 4);
  flag = problem.transposeB;
  cublasLtMatmulDescSetAttribute(operation, 4, &flag, 4);
  cublasLtMatmulDescSetAttribute(operation, 7, &problem.epilogue, 4);
  cublasLtMatmulDescSetAttribute(operation, 8, &biasMemory, 8);
  cublasLtMatrixLayoutCreate(&aLayout, type, aRows, aColumns, aLeading);
  cublasLtMatrixLayoutCreate(&bLayout, type, bRows, bColumns, bLeading);
  cublasLtMatrixLayoutCreate(&dLayout, type, m, n, dLeading);
  cublasLtMatmulPreferenceCreate(&preference);
  std::uint64_t limit = 1 << 20;
  cublasLtMatmulPreferenceSetAttribute(preference, 1, &limit, 8);
  AlgorithmResult results[4];
  int count = 0;
  ASSERT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, operation, aLayout, bLayout,
                                           dLayout, dLayout, preference, 4,
                                           results, &count),
            0);
  ASSERT_GE(count, 1);
  CUdeviceptr workspace = allocate(results[0].workspace);
  float alpha = 2;
  ASSERT_EQ(cublasLtMatmul(handle, operation, &alpha, at<void>(aMemory),
                           aLayout, at<void>(bMemory), bLayout, &problem.beta,
                           at<void>(dMemory), dLayout, at<void>(dMemory),
                           dLayout, results, at<void>(workspace),
                           results[0].workspace, stream),
            0);

  auto downloadFloats = [&](CUdeviceptr address, std::size_t elements) {
    if (!problem.isBf16)
      return download<float>(address, elements);
    std::vector<float> values;
    for (unsigned short bits : download<unsigned short>(address, elements))
      values.push_back(fromBfloat(bits));
    return values;
  };
  // The tolerance is the largest rounding error of bf16.
  auto expectNear = [&](float actual, float expected) {
    EXPECT_NEAR(actual, expected,
                problem.isBf16 ? std::fabs(expected) / 256 : 0);
  };
  auto elementOfA = [&](int i, int p) {
    return problem.transposeA ? a[p + i * aLeading] : a[i + p * aLeading];
  };
  auto elementOfB = [&](int p, int j) {
    return problem.transposeB ? b[j + p * bLeading] : b[p + j * bLeading];
  };
  std::vector<float> actual = downloadFloats(dMemory, d.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      float expected = problem.beta * d[i + j * dLeading];
      for (int p = 0; p < k; ++p)
        expected += alpha * elementOfA(i, p) * elementOfB(p, j);
      if (problem.epilogue & 4)
        expected += bias[i];
      if (problem.epilogue & 2)
        expected = std::max(expected, 0.0f);
      expectNear(actual[i + j * dLeading], expected);
    }
  for (int j = 0; j < n; ++j)
    for (int i = m; i < dLeading; ++i)
      EXPECT_EQ(actual[i + j * dLeading], d[i + j * dLeading])
          << "padding of a column changed";
  std::vector<float> actualBias = downloadFloats(biasMemory, bias.size());
  for (int i = 0; i < static_cast<int>(bias.size()); ++i) {
    float expected = bias[i];
    if (problem.epilogue == 256 && i < m) {
      expected = 0;
      for (int p = 0; p < k; ++p)
        expected += elementOfA(i, p);
    } else if (problem.epilogue == 512 && i < n) {
      expected = 0;
      for (int p = 0; p < k; ++p)
        expected += elementOfB(p, i);
    }
    expectNear(actualBias[i], expected);
  }
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(aLayout);
  cublasLtMatrixLayoutDestroy(bLayout);
  cublasLtMatrixLayoutDestroy(dLayout);
  cublasLtMatmulDescDestroy(operation);
  cublasLtDestroy(handle);
}

INSTANTIATE_TEST_SUITE_P(All, CudasimProduct,
                         testing::Values(Problem{false, false, 1, 0, false},
                                         Problem{true, false, 4, 0, false},
                                         Problem{false, true, 6, 1, false},
                                         Problem{true, true, 2, 0.5f, false},
                                         Problem{false, false, 256, 0, false},
                                         Problem{true, true, 512, 1, false},
                                         Problem{true, false, 6, 1, true},
                                         Problem{false, true, 512, 0, true}));

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

struct Window {
  int groups, kernel, stride, pad, dilation;
  bool channelsLast, accumulate, relu;
  int extra = 0; ///< padding after a dimension minus padding before it
};

std::ostream &operator<<(std::ostream &out, const Window &window) {
  return out << window.kernel << "x" << window.kernel << " stride "
             << window.stride << " pad " << window.pad << " and "
             << window.pad + window.extra << " dilation " << window.dilation
             << " groups " << window.groups
             << (window.channelsLast ? " NHWC" : "")
             << (window.accumulate ? " accumulate" : "")
             << (window.relu ? " relu" : "");
}

class CudasimConvolution : public DriverTest,
                           public testing::WithParamInterface<Window> {};

BrewVendorTensor tensor(std::initializer_list<std::int64_t> dims,
                        bool channelsLast) {
  BrewVendorTensor result = {};
  result.type = BREW_VENDOR_F32;
  result.rank = static_cast<std::int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), result.dims);
  const int order[2][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}};
  std::int64_t stride = 1;
  for (int i = 0; i < result.rank; ++i) {
    int dim = result.rank == 4 ? order[channelsLast][i] : result.rank - 1 - i;
    result.strides[dim] = stride;
    stride *= result.dims[dim];
  }
  return result;
}

std::size_t offsetOf(const BrewVendorTensor &t, int a, int b, int c, int d) {
  return static_cast<std::size_t>(a * t.strides[0] + b * t.strides[1] +
                                  c * t.strides[2] + d * t.strides[3]);
}

TEST_P(CudasimConvolution, IsTheSumOfProducts) {
  const Window window = GetParam();
  constexpr int N = 2, C = 4, K = 6, H = 9, W = 7;
  const int extent = window.dilation * (window.kernel - 1) + 1;
  const int pads = 2 * window.pad + window.extra;
  const int P = (H + pads - extent) / window.stride + 1;
  const int Q = (W + pads - extent) / window.stride + 1;
  const int group = C / window.groups;

  BrewVendorConvolution call = {};
  call.math = BREW_VENDOR_STRICT;
  call.x = tensor({N, C, H, W}, window.channelsLast);
  call.w =
      tensor({K, group, window.kernel, window.kernel}, window.channelsLast);
  call.y = tensor({N, K, P, Q}, window.channelsLast);
  call.b = tensor({K}, false);
  for (int i = 0; i < call.x.rank - 2; ++i) {
    call.pad[i] = window.pad;
    call.pad_end[i] = window.pad + window.extra;
    call.stride[i] = window.stride;
    call.dilation[i] = window.dilation;
  }
  call.groups = window.groups;
  call.accumulate = window.accumulate;

  auto x = smallIntegers(N * C * H * W, 1);
  auto w = smallIntegers(K * group * window.kernel * window.kernel, 2);
  auto y = smallIntegers(N * K * P * Q, 3);
  auto b = smallIntegers(K, 4);
  // Calls `visit` for each product, with the offsets of its elements in x, w
  // and y.
  auto forEach = [&](auto &&visit) {
    for (int n = 0; n < N; ++n)
      for (int k = 0; k < K; ++k)
        for (int p = 0; p < P; ++p)
          for (int q = 0; q < Q; ++q)
            for (int c = 0; c < group; ++c)
              for (int r = 0; r < window.kernel; ++r)
                for (int s = 0; s < window.kernel; ++s) {
                  int h = p * window.stride - window.pad + r * window.dilation;
                  int v = q * window.stride - window.pad + s * window.dilation;
                  if (h < 0 || h >= H || v < 0 || v >= W)
                    continue;
                  int channel = k / (K / window.groups) * group + c;
                  visit(offsetOf(call.x, n, channel, h, v),
                        offsetOf(call.w, k, c, r, s),
                        offsetOf(call.y, n, k, p, q));
                }
  };

  BrewVendorContext *context = nullptr;
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  ASSERT_EQ(brewVendorTable.open(&context, message), 0) << message;
  for (int direction : {1, 2, 3}) {
    SCOPED_TRACE(direction);
    call.direction = direction;
    call.has_bias = direction != BREW_VENDOR_BACKWARD_DATA;
    call.relu = direction == BREW_VENDOR_FORWARD && window.relu;
    call.negative_slope = 0.5f;
    std::vector<float> expected[] = {x, w, y, b};
    std::vector<float> &written = expected[direction == 1   ? 2
                                           : direction == 2 ? 0
                                                            : 1];
    if (!window.accumulate)
      std::fill(written.begin(), written.end(), 0.0f);
    if (direction == 3 && !window.accumulate)
      std::fill(expected[3].begin(), expected[3].end(), 0.0f);
    forEach([&](std::size_t i, std::size_t j, std::size_t o) {
      if (direction == 1)
        written[o] += x[i] * w[j];
      else if (direction == 2)
        written[i] += y[o] * w[j];
      else
        written[j] += x[i] * y[o];
    });
    for (int n = 0; n < N; ++n)
      for (int k = 0; k < K; ++k)
        for (int p = 0; p < P; ++p)
          for (int q = 0; q < Q; ++q) {
            std::size_t o = offsetOf(call.y, n, k, p, q);
            if (direction == 3)
              expected[3][k] += y[o];
            if (direction != 1)
              continue;
            written[o] += b[k];
            if (call.relu && written[o] < 0)
              written[o] *= 0.5f;
          }

    CUdeviceptr memory[] = {upload(x), upload(w), upload(y), upload(b)};
    BrewVendorCall *vendorCall = nullptr;
    ASSERT_EQ(brewVendorTable.create_convolution(context, &call, 1 << 20,
                                                 &vendorCall, message),
              0)
        << message;
    const int candidate = 1;
    std::uint64_t bytes = brewVendorTable.workspace(vendorCall, candidate);
    ASSERT_NE(bytes, UINT64_MAX);
    CUdeviceptr workspace = allocate(bytes);
    ASSERT_EQ(brewVendorTable.run(vendorCall, candidate, at<void>(memory[0]),
                                  at<void>(memory[1]),
                                  call.has_bias ? at<void>(memory[3]) : nullptr,
                                  at<void>(memory[2]), at<void>(workspace),
                                  stream, message),
              0)
        << message;
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(download<float>(memory[i], expected[i].size()), expected[i])
          << i;
    brewVendorTable.destroy(vendorCall);
  }
  brewVendorTable.close(context);
}

INSTANTIATE_TEST_SUITE_P(
    All, CudasimConvolution,
    testing::Values(Window{1, 3, 1, 1, 1, false, false, false},
                    Window{1, 3, 2, 1, 1, true, false, true},
                    Window{2, 2, 1, 0, 2, false, true, false},
                    Window{2, 3, 2, 2, 2, true, true, true},
                    Window{2, 1, 3, 0, 1, false, false, true},
                    Window{1, 3, 2, 0, 1, false, true, true, 1},
                    Window{2, 2, 1, 2, 2, true, false, false, -2}));

using CudasimTable = DriverTest;

// The dimensions are depth, height and width. The window has extent 2 along the
// depth: each result is the sum of a plane and twice the second plane after it.
TEST_F(CudasimTable, ConvolutionsOverThreeDimensions) {
  BrewVendorConvolution call = {};
  call.direction = BREW_VENDOR_FORWARD;
  call.math = BREW_VENDOR_STRICT;
  call.x = tensor({1, 1, 4, 2, 3}, false);
  call.w = tensor({1, 1, 2, 1, 1}, false);
  call.y = tensor({1, 1, 4, 2, 3}, false);
  for (int i = 0; i < 3; ++i)
    call.stride[i] = call.dilation[i] = 1;
  call.pad[0] = call.pad_end[0] = 1;
  call.dilation[0] = 2;
  call.groups = 1;
  const std::vector<float> x = smallIntegers(24, 1);
  std::vector<float> expected(24);
  for (int d = 0; d < 4; ++d)
    for (int i = 0; i < 6; ++i)
      expected[d * 6 + i] = (d > 0 ? x[(d - 1) * 6 + i] : 0) +
                            (d < 3 ? 2 * x[(d + 1) * 6 + i] : 0);
  BrewVendorContext *context = nullptr;
  BrewVendorCall *vendorCall = nullptr;
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  ASSERT_EQ(brewVendorTable.open(&context, message), 0);
  ASSERT_EQ(brewVendorTable.create_convolution(context, &call, 0, &vendorCall,
                                               message),
            0)
      << message;
  CUdeviceptr in = upload(x), filter = upload(std::vector<float>{1, 2}),
              out = upload(std::vector<float>(24));
  ASSERT_EQ(brewVendorTable.run(vendorCall, 2, at<void>(in), at<void>(filter),
                                nullptr, at<void>(out), nullptr, stream,
                                message),
            0)
      << message;
  EXPECT_EQ(download<float>(out, 24), expected);
  brewVendorTable.destroy(vendorCall);
  brewVendorTable.close(context);
}

TEST_F(CudasimTable, InconsistentConvolutionsAreRejected) {
  BrewVendorConvolution call = {};
  call.direction = BREW_VENDOR_FORWARD;
  call.math = BREW_VENDOR_STRICT;
  call.x = tensor({1, 2, 5, 5}, false);
  call.w = tensor({3, 2, 3, 3}, false);
  call.y = tensor({1, 3, 5, 5}, false);
  for (int i = 0; i < 2; ++i)
    call.stride[i] = call.dilation[i] = 1;
  call.groups = 1;
  BrewVendorContext *context = nullptr;
  BrewVendorCall *vendorCall = nullptr;
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  ASSERT_EQ(brewVendorTable.open(&context, message), 0);
  EXPECT_NE(brewVendorTable.create_convolution(context, &call, 0, &vendorCall,
                                               message),
            0);
  EXPECT_STREQ(message, "the output's extent does not follow from the window");
  call.pad[0] = call.pad_end[0] = call.pad[1] = 1;
  EXPECT_NE(brewVendorTable.create_convolution(context, &call, 0, &vendorCall,
                                               message),
            0);
  call.pad_end[1] = 1;
  ASSERT_EQ(brewVendorTable.create_convolution(context, &call, 0, &vendorCall,
                                               message),
            0);
  ASSERT_EQ(brewVendorTable.candidates(vendorCall), 3);
  EXPECT_EQ(brewVendorTable.workspace(vendorCall, 0), UINT64_MAX);
  EXPECT_EQ(brewVendorTable.workspace(vendorCall, 1), UINT64_MAX)
      << "over limit";
  EXPECT_EQ(brewVendorTable.workspace(vendorCall, 2), 0u);
  EXPECT_NE(brewVendorTable.run(vendorCall, 0, nullptr, nullptr, nullptr,
                                nullptr, nullptr, stream, message),
            0);
  EXPECT_STREQ(message, "the candidate cannot be used");
  brewVendorTable.destroy(vendorCall);
  brewVendorTable.close(context);
}

} // namespace
