//===- ValuesTest.cpp - Results of correct kernels ------------------------===//
#include "Kernel.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace brew::test;

namespace {

/// 16-byte aligned memory of `count` elements.
template <class T> struct Buffer {
  explicit Buffer(std::size_t count) : storage(count * sizeof(T) / 16 + 2) {}
  T *data() { return reinterpret_cast<T *>(storage.data()); }
  T &operator[](std::size_t i) { return data()[i]; }
  struct alignas(16) Unit {
    unsigned char bytes[16];
  };
  std::vector<Unit> storage;
};

/// Expects that NVRTC compiles the kernel, if NVRTC is installed.
void expectNvrtcCompiles(const Kernel &kernel) {
  std::string log = compileWithNvrtc(kernel.text(), "sm_90");
  if (log != "no NVRTC")
    EXPECT_EQ(log, "");
}

TEST(CudasimValues, ElementwiseWithAPartialBlock) {
  Kernel kernel("relu", R"(
BREW_KERNEL(relu, 128)(BREW_IN(float, x, 1000), BREW_OUT(float, y, 1000)) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000)
    y[i] = x[i] > 0.0f ? x[i] : 0.25f * x[i];
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<float> x(1000), y(1000);
  for (int i = 0; i < 1000; ++i)
    x[i] = static_cast<float>(i - 500);
  kernel.launch(8, 128, {x.data(), y.data()});
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(y[i], i < 500 ? 0.25f * x[i] : x[i]) << i;
}

TEST(CudasimValues, VectorsAndInPlaceUpdates) {
  Kernel kernel("update", R"(
BREW_KERNEL(update, 32)(BREW_INOUT(float, w, 256), BREW_IN(float, g, 256)) {
  using float4_ = BREW_VECTOR(float, 4);
  int i = 4 * (blockIdx.x * 32 + threadIdx.x);
  float4_ a = BREW_LOAD(float4_, w, i);
  float4_ b = BREW_LOAD(float4_, g, i);
  for (int k = 0; k < 4; ++k)
    a[k] = a[k] - 0.5f * b[k];
  BREW_STORE(float4_, w, i, a);
  w[i] += 1.0f;
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<float> w(256), g(256);
  for (int i = 0; i < 256; ++i) {
    w[i] = static_cast<float>(i);
    g[i] = 2.0f;
  }
  kernel.launch(2, 32, {w.data(), g.data()});
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(w[i], static_cast<float>(i % 4 ? i - 1 : i)) << i;
}

TEST(CudasimValues, BlockReductionThroughShufflesAndSharedMemory) {
  Kernel kernel("sum", R"(
BREW_KERNEL(sum, 256)(BREW_IN(double, x, 3072), BREW_OUT(double, y, 3)) {
  BREW_SHARED(double, part, 8);
  double s = 0;
  for (int i = threadIdx.x; i < 1024; i += 256)
    s += x[blockIdx.x * 1024 + i];
  for (int delta = 16; delta > 0; delta /= 2)
    s += BREW_SHUFFLE_DOWN(s, delta);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  BREW_SYNC();
  if (threadIdx.x == 0) {
    s = 0;
    for (int i = 0; i < 8; ++i)
      s += part[i];
    y[blockIdx.x] = s;
  }
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<double> x(3072), y(3);
  std::iota(x.data(), x.data() + 3072, 0.0);
  kernel.launch(3, 256, {x.data(), y.data()});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(y[i], 1024.0 * (1024 * i) + 1023.0 * 512);
}

TEST(CudasimValues, SoftmaxReusesSharedMemoryBetweenBarriers) {
  Kernel kernel("softmax", R"(
BREW_KERNEL(softmax, 64)(BREW_IN(float, x, 400), BREW_OUT(float, y, 400)) {
  BREW_SHARED(float, part, 64);
  float m = -3.0e38f;
  for (int i = threadIdx.x; i < 100; i += 64)
    m = fmaxf(m, x[blockIdx.x * 100 + i]);
  part[threadIdx.x] = m;
  BREW_SYNC();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    BREW_SYNC();
  }
  m = part[0];
  BREW_SYNC();
  float s = 0.0f;
  for (int i = threadIdx.x; i < 100; i += 64)
    s += expf(x[blockIdx.x * 100 + i] - m);
  for (int mask = 16; mask > 0; mask /= 2)
    s += BREW_SHUFFLE_XOR(s, mask);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  BREW_SYNC();
  s = part[0] + part[1];
  for (int i = threadIdx.x; i < 100; i += 64)
    y[blockIdx.x * 100 + i] = expf(x[blockIdx.x * 100 + i] - m) / s;
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<float> x(400), y(400);
  for (int i = 0; i < 400; ++i)
    x[i] = std::sin(static_cast<float>(i));
  for (int repeat = 0; repeat < 2; ++repeat)
    kernel.launch(4, 64, {x.data(), y.data()});
  for (int row = 0; row < 4; ++row) {
    double sum = 0;
    for (int i = 0; i < 100; ++i)
      sum += std::exp(x[row * 100 + i]);
    for (int i = 0; i < 100; ++i)
      ASSERT_NEAR(y[row * 100 + i], std::exp(x[row * 100 + i]) / sum, 1e-7);
  }
}

TEST(CudasimValues, WarpBarrierOrdersALaneAfterAnother) {
  Kernel kernel("rotate", R"(
BREW_KERNEL(rotate, 64)(BREW_IN(int, x, 64), BREW_OUT(int, y, 64)) {
  BREW_SHARED(int, s, 64);
  int lane = threadIdx.x % 32, first = threadIdx.x - lane;
  s[threadIdx.x] = x[threadIdx.x];
  BREW_SYNC_WARP();
  y[threadIdx.x] = s[first + (lane + 1) % 32];
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<int> x(64), y(64);
  std::iota(x.data(), x.data() + 64, 0);
  kernel.launch(1, 64, {x.data(), y.data()});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i / 32 * 32 + (i + 1) % 32);
}

TEST(CudasimValues, BarrierOrdersGlobalMemoryWithinABlock) {
  Kernel kernel("neighbour", R"(
BREW_KERNEL(neighbour, 64)(BREW_INOUT(int, x, 128)) {
  int first = blockIdx.x * 64;
  x[first + threadIdx.x] = threadIdx.x;
  BREW_SYNC();
  int next = x[first + (threadIdx.x + 1) % 64];
  BREW_SYNC();
  x[first + threadIdx.x] = next;
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<int> x(128);
  kernel.launch(2, 64, {x.data()});
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(x[i], (i + 1) % 64);
}

/// Every block reads values that other blocks wrote in the previous stage, and
/// some blocks take two turns. The stages run in one launch or in a launch
/// each.
TEST(CudasimValues, StagesReadResultsOfThePreviousStage) {
  Kernel kernel("stages", R"(
BREW_BARRIER(barrier);
BREW_KERNEL(stages, 32)(BREW_IN(int, x, 160), BREW_INOUT(int, mid, 160),
                        BREW_OUT(int, y, 96), BREW_STAGES(stages)) {
  BREW_SHARED(int, s, 32);
  BREW_STAGE(stages, 0) for (unsigned turn = blockIdx.x; turn < 5u; turn += gridDim.x) {
    s[threadIdx.x] = x[turn * 32 + threadIdx.x];
    BREW_SYNC();
    mid[turn * 32 + threadIdx.x] = s[31 - threadIdx.x];
    BREW_SYNC();
  }
  BREW_STAGE_BARRIER(stages, 1, barrier);
  BREW_STAGE(stages, 1) for (unsigned turn = blockIdx.x; turn < 3u; turn += gridDim.x)
    y[turn * 32 + threadIdx.x] = mid[159 - (turn * 32 + threadIdx.x)] + 1;
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<int> x(160), mid(160), y(96);
  for (unsigned long long firstStages : {3ull, 1ull}) {
    std::iota(x.data(), x.data() + 160, firstStages);
    kernel.setCooperative(firstStages == 3);
    auto stages = [](unsigned long long mask) {
      return reinterpret_cast<void *>(mask);
    };
    kernel.launch(3, 32, {x.data(), mid.data(), y.data(), stages(firstStages)});
    if (firstStages == 1)
      kernel.launch(5, 32, {x.data(), mid.data(), y.data(), stages(2)});
    for (int i = 0; i < 96; ++i) {
      const int source = 159 - i;
      ASSERT_EQ(y[i], x[source / 32 * 32 + 31 - source % 32] + 1) << i;
    }
  }
  kernel.setCooperative(false);
}

TEST(CudasimValues, TheLastBlockReadsOtherBlocksResultsInEveryLaunch) {
  Kernel kernel("last", R"(
BREW_COUNTERS(arrived, 2);
BREW_KERNEL(last, 32)(BREW_IN(int, x, 320), BREW_INOUT(int, part, 320),
                      BREW_OUT(int, y, 64)) {
  int i = blockIdx.x * 32 + threadIdx.x;
  part[i] = x[i] + 1;
  if (BREW_LAST_BLOCK(arrived[blockIdx.x % 2], 5)) {
    int sum = 0;
    for (int block = blockIdx.x % 2; block < 10; block += 2)
      sum += BREW_LOAD_L2(part, block * 32 + threadIdx.x);
    y[blockIdx.x % 2 * 32 + threadIdx.x] = sum;
  }
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<int> x(320), part(320), y(64);
  for (int launch = 0; launch < 3; ++launch) {
    std::iota(x.data(), x.data() + 320, launch);
    kernel.launch(10, 32, {x.data(), part.data(), y.data()});
    for (int i = 0; i < 64; ++i)
      // The sum is over the blocks i / 32, i / 32 + 2, ... i / 32 + 8.
      ASSERT_EQ(y[i], 5 * (i + launch + 1) + (2 + 4 + 6 + 8) * 32) << i;
  }
}

/// The kernel has more barriers than the simulator's stamps can distinguish.
TEST(CudasimValues, ManyBarriersOrderThreadsAndBlocks) {
  Kernel kernel("barriers", R"(
BREW_COUNTERS(arrived, 1);
BREW_KERNEL(barriers, 64)(BREW_INOUT(float, x, 128), BREW_INOUT(float, y, 128),
                          BREW_OUT(float, z, 1)) {
  const int first = blockIdx.x * 64;
  x[first + threadIdx.x] = 1.0f;
  for (int i = 0; i < 1024; ++i) {
    if (i == 424)
      y[first + threadIdx.x] = 2.0f;
    BREW_SYNC();
  }
  x[first + 63 - threadIdx.x] += 1.0f;
  if (BREW_LAST_BLOCK(arrived[0], 2) && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < 128; ++i)
      sum += BREW_LOAD_L2(x, i) + BREW_LOAD_L2(y, i);
    z[0] = sum;
  }
}
)");
  expectNvrtcCompiles(kernel);
  Buffer<float> x(128), y(128), z(1);
  kernel.launch(2, 64, {x.data(), y.data(), z.data()});
  EXPECT_EQ(z[0], 512.0f);
}

TEST(CudasimValues, SmallFloatsRoundToNearestEven) {
  Kernel kernel("convert", R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
BREW_KERNEL(convert, 32)(BREW_IN(float, x, 12), BREW_OUT(__half, h, 12),
                         BREW_OUT(__nv_bfloat16, b, 12),
                         BREW_OUT(float, back, 24)) {
  int i = threadIdx.x;
  if (i < 12) {
    h[i] = __float2half(x[i]);
    b[i] = __float2bfloat16(x[i]);
    back[i] = __half2float(h[i]);
    back[12 + i] = __bfloat162float(b[i]);
  }
}
)");
  expectNvrtcCompiles(kernel);
  struct Case {
    float value;
    unsigned short half, bfloat;
  };
  const Case cases[12] = {
      {0.0f, 0x0000, 0x0000},
      {-1.0f, 0xbc00, 0xbf80},
      {65504.0f, 0x7bff, 0x4780},
      {65519.0f, 0x7bff, 0x4780},
      {65520.0f, 0x7c00, 0x4780},
      {INFINITY, 0x7c00, 0x7f80},
      {1.0f + 0x1p-11f, 0x3c00, 0x3f80},
      {1.0f + 3 * 0x1p-11f, 0x3c02, 0x3f80},
      {1.0f + 3 * 0x1p-8f, 0x3c0c, 0x3f82},
      {0x1p-24f, 0x0001, 0x3380},
      {0x1p-25f, 0x0000, 0x3300},
      {-3 * 0x1p-25f, 0x8002, 0xb3c0},
  };
  Buffer<float> x(12), back(24);
  Buffer<unsigned short> h(12), b(12);
  for (int i = 0; i < 12; ++i)
    x[i] = cases[i].value;
  kernel.launch(1, 32, {x.data(), h.data(), b.data(), back.data()});
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(h[i], cases[i].half) << cases[i].value;
    EXPECT_EQ(b[i], cases[i].bfloat) << cases[i].value;
    float wide;
    unsigned bits = static_cast<unsigned>(b[i]) << 16;
    std::memcpy(&wide, &bits, 4);
    EXPECT_EQ(back[12 + i], wide);
  }
  EXPECT_EQ(back[2], 65504.0f);
  EXPECT_EQ(back[9], 0x1p-24f);
}

/// The kernel has more arguments than templates may be nested, and stack frames
/// larger than a page.
TEST(CudasimValues, ManyArguments) {
  constexpr int kArguments = 1100, kThreads = 64;
  std::string parameters, statements;
  for (int i = 0; i < kArguments; ++i) {
    const std::string name = "y" + std::to_string(i);
    parameters += (i ? ", " : "") + ("BREW_OUT(float, " + name + ", 64)");
    statements += name + "[threadIdx.x] = 1.0f + threadIdx.x;\n";
  }
  for (const char *barrier : {"BREW_SYNC();\n", ""}) {
    Kernel kernel("k", "BREW_KERNEL(k, 64)(" + parameters + ") {\n" + barrier +
                           statements + "}\n");
    Buffer<float> y(kArguments * kThreads);
    std::vector<void *> arguments;
    for (int i = 0; i < kArguments; ++i)
      arguments.push_back(y.data() + i * kThreads);
    kernel.launch(1, kThreads, arguments);
    for (int i = 0; i < kArguments * kThreads; ++i)
      ASSERT_EQ(y[i], static_cast<float>(1 + i % kThreads)) << i;
  }
}

TEST(CudasimValues, LaunchesPreserveTheFaultHandler) {
  Kernel kernel("k", "BREW_KERNEL(k, 32)(BREW_OUT(float, y, 32)) {\n"
                     "  y[threadIdx.x] = 1.0f;\n}\n");
  struct sigaction before = {}, after = {};
  sigaction(SIGSEGV, nullptr, &before);
  Buffer<float> y(32);
  kernel.launch(1, 32, {y.data()});
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
}

} // namespace
